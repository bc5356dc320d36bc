"""Calls beside each other, with real processes: who waits for whom, what waiting says, and what it all costs."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import anyio
import pytest
from client import PATIENCE, SESSION, Place, Server, answer, play, stderr_of, text

from gemini_mcp.call import progress
from gemini_mcp.call.progress import Progress
from gemini_mcp.spec.values import Json

MEGABYTE = 1 << 20


def released(name: str, said: str) -> tuple[Json, Json]:
    return {"release": name}, answer(said)


@pytest.mark.requirement("concurrency:ping", "concurrency:list", "concurrency:calls")
def test_the_server_answers_while_calls_run(server: Server) -> None:
    server.fake.load([play(*released("go", "done"))])
    ids = [server.start("chat", prompt=str(number)) for number in range(3)]
    server.fake.wait_for_calls(3, PATIENCE)
    assert server.ask("ping")["result"] == {}
    assert len(server.ask("tools/list")["result"]["tools"]) == 2
    server.fake.release("go")
    assert [text(server.answer(id)["result"]) for id in ids] == ["done"] * 3


def test_no_more_run_at_once_than_the_operator_allows_and_the_others_say_that_they_wait(place: Place) -> None:
    server = place.start("--max-concurrency", "1", "--timeout", "2")
    place.fake.load([play({"hang": True}), play(*released("go", "second"))])
    first = server.start("chat", prompt="first")
    place.fake.wait_for_calls(1, PATIENCE)
    second = server.start("chat", prompt="second", token="t")
    dropped = server.start("chat", prompt="dropped", token="d")
    server.ask("ping")
    server.cancel(dropped)
    assert "did not finish within 2 seconds" in text(server.answer(first)["result"])
    place.fake.wait_for_calls(2, PATIENCE)
    place.fake.release("go")
    # Its time began with its gemini: in the queue it has waited for all of it.
    assert text(server.answer(second)["result"]) == "second"
    assert [note["params"]["message"] for note in server.notices if note["params"]["progressToken"] == "t"] == [
        "Waiting for a running call to end",
        "gemini is running",
    ]
    assert [call.argv[0] for call in place.fake.calls()] == [b"first", b"second"]


@pytest.mark.requirement("concurrency:same-session", "concurrency:latest", "concurrency:other-session")
@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [
        ({"sessionId": "a"}, {"sessionId": "a"}, True),
        ({"sessionId": "a", "cwd": "x"}, {"sessionId": "a", "cwd": "y"}, True),
        ({"sessionId": "a"}, {"sessionId": "b"}, False),
        ({}, {}, True),
        ({}, {"sessionId": "latest", "cwd": "."}, True),
        ({"cwd": "x"}, {"cwd": "link-to-x"}, True),
        ({"cwd": "x"}, {"cwd": "y"}, False),
        ({"cwd": "x"}, {"sessionId": "a", "cwd": "x"}, True),
        ({"sessionId": "a", "cwd": "x"}, {"cwd": "x"}, True),
        ({"sessionId": "1", "cwd": "x"}, {"sessionId": "a", "cwd": "x"}, True),
        ({"sessionId": "1", "cwd": "x"}, {"sessionId": " 2 ", "cwd": "x"}, True),
        ({"sessionId": "1", "cwd": "x"}, {"sessionId": "a", "cwd": "y"}, False),
        ({"cwd": "x"}, {"sessionId": "a", "cwd": "y"}, False),
    ],
)
def test_replies_wait_for_each_other_only_where_they_may_continue_one_session(
    server: Server, tmp_path: Path, first: Json, second: Json, waits: bool
) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
    (tmp_path / "link-to-x").symlink_to("x")
    # Directories of this test alone: of those that others have used, the latest session may be known.
    for each in (first, second):
        if each.get("cwd", ".") != ".":
            each["cwd"] = str(tmp_path / each["cwd"])
    server.fake.load([play(*released("go", "1"), match="one"), play(*released("go", "2"), match="two")])
    ids = [server.start("chat-reply", prompt="one", token=1, **first)]
    server.fake.wait_for_calls(1, PATIENCE)
    ids.append(server.start("chat-reply", prompt="two", token=2, **second))
    while not (said := [note["params"]["message"] for note in server.notices if note["params"]["progressToken"] == 2]):
        server.notices.append(server.read())
    server.notices.clear()
    assert (said[0] == "Waiting for an earlier reply in this session") is waits
    if not waits:
        server.fake.wait_for_calls(2, PATIENCE)
    assert len(server.fake.calls()) == 2 - waits
    server.fake.release("go")
    assert [text(server.answer(id)["result"]) for id in ids] == ["1", "2"]
    server.notices.clear()


def overlap(server: Server, first: Json, second: Json) -> bool:
    """Whether the second of two replies runs while the first does. Both end."""
    before = len(server.fake.calls())
    go = f"go{before}"
    server.fake.load([play(*released(go, "1"), match="one"), play(*released(go, "2"), match="two")])
    ids = [server.start("chat-reply", prompt="one", **first)]
    server.fake.wait_for_calls(before + 1, PATIENCE)
    ids.append(server.start("chat-reply", prompt="two", token="second", **second))
    while not server.notices:
        server.notices.append(server.read())
    is_waiting = server.notices[0]["params"]["message"] == "Waiting for an earlier reply in this session"
    server.notices.clear()
    server.fake.release(go)
    assert [text(server.answer(id)["result"]) for id in ids] == ["1", "2"]
    server.notices.clear()
    return not is_waiting


def test_a_reply_to_the_latest_session_waits_for_that_session_alone_while_it_is_known(place: Place) -> None:
    server = place.start()
    server.fake.load([play(answer("a"))])
    server.chat()
    assert overlap(server, {}, {"sessionId": "other"})
    # The fake answers each reply from one session. Two at once leave open which is the latest now.
    assert not overlap(server, {}, {"sessionId": "other"})
    server.fake.load([play(answer("a"))])
    server.chat()
    assert not overlap(server, {}, {"sessionId": SESSION})
    assert not overlap(server, {"sessionId": SESSION}, {})


def test_a_reply_waits_for_every_reply_that_came_before_it_and_may_be_in_its_session(place: Place) -> None:
    server = place.start()
    server.fake.load([play(*released("go", "done"))])
    ids = [server.start("chat-reply", prompt=name, sessionId=name) for name in ("a", "b")]
    server.fake.wait_for_calls(2, PATIENCE)
    ids += [server.start("chat-reply", prompt="latest"), server.start("chat-reply", prompt="c", sessionId="c")]
    server.ask("ping")
    server.fake.release("go")
    assert [text(server.answer(id)["result"]) for id in ids] == ["done"] * 4
    assert [call.argv[2] for call in server.fake.calls()][2:] == [b"latest", b"c"]


@pytest.mark.requirement("progress:token", "progress:start", "progress:increase", "progress:end", "progress:unasked")
@pytest.mark.parametrize("token", ["", "text", 0, 7, 1 << 53])
def test_a_call_with_a_token_is_told_that_gemini_runs(server: Server, token: Json) -> None:
    server.notices.clear()
    server.fake.load([play(answer("a"))])
    id, silent = server.start("chat", token=token, prompt="told"), server.start("chat", prompt="not told")
    server.answer(id)
    server.answer(silent)
    told = [note["params"] for note in server.notices]
    assert [(params["progressToken"], params["message"]) for params in told] == [(token, "gemini is running")]
    assert server.ask("ping")["result"] == {}
    assert len(server.notices) == 1


@pytest.mark.requirement("progress:interval", "progress:increase")
async def test_progress_is_repeated_while_a_call_runs_and_only_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    assert progress.INTERVAL <= 10
    monkeypatch.setattr(progress, "INTERVAL", 0.0001)
    said: list[tuple[float, str | None]] = []
    enough = anyio.Event()

    async def report(figure: float, total: float | None, message: str | None) -> None:
        said.append((figure, message))
        if len(said) == 5:
            enough.set()

    running = Progress(report)
    with anyio.fail_after(PATIENCE):
        async with running.repeating():
            await running.say("a")
            await enough.wait()
    assert {message for _, message in said} == {"a"}
    assert all(before < after for (before, _), (after, _) in pairwise(said))


def peak(server: Server) -> int:
    """The most memory that the server has had, in bytes."""
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM:"))


@pytest.mark.requirement("result:large-stdout", "result:large-stderr", "result:stderr")
def test_ten_megabytes_on_either_stream_at_once_pass(server: Server) -> None:
    noise: Sequence[Json] = [{"fill": {"stream": "stderr", "text": "noise\n", "bytes": 10 * MEGABYTE}}]
    large = answer("é\n" * (5 * MEGABYTE))
    server.fake.load([play(*noise, large, *noise)])
    assert text(server.chat()) == "é\n" * (5 * MEGABYTE)


LARGE: Mapping[str, tuple[Sequence[Json], Callable[[Json], bool]]] = {
    "answer": (
        [answer("0123456789" * MEGABYTE)],
        lambda result: text(result) == "0123456789" * MEGABYTE,
    ),
    "stderr": (
        [{"fill": {"stream": "stderr", "text": "a b", "bytes": 10 * MEGABYTE}}, {"exit": 1}],
        lambda result: len(stderr_of(result)) == 8192,
    ),
}
"""What gemini writes, and whether a result shows the right part of it."""


@pytest.mark.requirement("result:large-stdout")
@pytest.mark.parametrize(("steps", "is_right"), LARGE.values(), ids=LARGE)
def test_ten_megabytes_cost_at_most_six_times_themselves(
    place: Place, steps: Sequence[Json], is_right: Callable[[Json], bool]
) -> None:
    server = place.start()
    place.fake.load([play(answer("a")), play(*steps)])
    server.chat()
    idle = peak(server)
    assert is_right(server.chat())
    assert peak(server) - idle <= 6 * 10 * MEGABYTE


def test_a_gemini_that_does_not_read_its_stdin_answers_all_the_same(server: Server) -> None:
    server.fake.program.with_name("deaf").write_text(
        f"#!/bin/sh\nprintf '%s' '{json.dumps({'response': 'deaf'})}'\n", encoding="utf-8"
    )
    server.fake.program.with_name("deaf").chmod(0o755)
    deaf = server.place.start("--gemini", str(server.fake.program.with_name("deaf")))
    assert text(deaf.call("chat-reply", prompt="x" * 4 * MEGABYTE, sessionId="a")) == "deaf"
