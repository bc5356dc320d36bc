"""Where gemini runs when the operator keeps calls below some directories."""

import asyncio
import os
import subprocess
from pathlib import Path

from client import PATIENCE, Place, answer, play, text

from gemini_mcp.call.outcome import Completed
from gemini_mcp.call.paths import held
from gemini_mcp.call.process import Command, Limits, run


def test_a_directory_that_is_swapped_for_a_link_leads_nowhere(place: Place) -> None:
    (root := place.cwd / "root").mkdir()
    (outside := place.root / "outside").mkdir()
    (inside := root / "inside").mkdir()
    server = place.start("--allow-cwd", "root")
    place.fake.load([play({"release": "go"}, answer("a"))])
    calls = [server.start("chat-reply", prompt="hello", sessionId="a", cwd=str(inside)) for _ in range(2)]
    place.fake.wait_for_calls(1, PATIENCE)
    inside.rename(root / "elsewhere")
    inside.symlink_to(outside)
    place.fake.release("go")
    first, second = (server.answer(call)["result"] for call in calls)
    assert text(first) == "a"
    assert f"`cwd` {str(inside)!r} lies outside" in text(second)
    assert [call.cwd for call in place.fake.calls()] == [str(inside)]


def test_a_directory_that_was_opened_is_the_one_that_is_used(tmp_path: Path) -> None:
    (inside := tmp_path / "allowed/inside").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    with held(str(inside), [str(tmp_path / "allowed")]) as directory:
        inside.rename(tmp_path / "allowed/elsewhere")
        inside.symlink_to(tmp_path / "outside")
        assert isinstance(directory, int)
        command = Command(("/bin/pwd", "-P"), directory, {})
        outcome = asyncio.run(run(command, Limits(PATIENCE, lambda: 0)))
    assert outcome == Completed(0, f"{tmp_path}/allowed/elsewhere\n".encode(), "")


def test_a_link_that_cannot_be_read_leads_nowhere(place: Place) -> None:
    server = place.start("--allow-cwd", str(place.cwd), "--allow-cwd", "/proc")
    with subprocess.Popen(["/bin/true"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        (link := place.cwd / "link").symlink_to(f"/proc/{ended.pid}/cwd")
        for path in (str(link), f"/proc/{ended.pid}/cwd"):
            assert f"`cwd` {path!r} does not exist." in text(server.chat(cwd=path))


def test_without_a_directory_a_call_runs_in_the_first_that_is_allowed(place: Place) -> None:
    for name in ("first", "second"):
        (place.cwd / name).mkdir()
    server = place.start("--allow-cwd", "first", "--allow-cwd", "second")
    place.fake.load([play(answer("a"))])
    assert text(server.chat()) == "a"
    assert place.fake.calls()[0].cwd == str(place.cwd / "first")
    (place.cwd / "first").rmdir()
    assert "does not exist" in text(server.chat())


def test_an_error_about_trust_names_the_directory(place: Place) -> None:
    (place.cwd / "below").mkdir()
    place.fake.load([play({"exit": 55})])
    assert f"does not trust '{place.cwd}/below' (exit code 55)" in text(place.start().chat(cwd="below"))


def test_a_server_whose_directory_is_gone_runs_calls_that_name_another(place: Place) -> None:
    place.fake.load([play(answer("a"))])
    server = place.start()
    place.cwd.rmdir()
    assert text(server.chat()).startswith("Error executing gemini: `cwd` '.' does not exist.")
    assert text(server.chat(cwd=str(place.root))) == "a"
