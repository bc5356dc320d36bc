"""What the fake gemini does: every kind of step, the choice of the play, and that nothing of it stays."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.fake.script import Play
from gemini_mcp_conformance.see.call import Call
from gemini_mcp_conformance.spec.script import ScriptError

SECONDS = 30
"""More than any of this takes."""


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[Fake]:
    with Fake.create(tmp_path) as fake:
        yield fake


def says(text: str, match: str | None = None) -> Play:
    return Play({"play": [{"stdout": text}]}, match)


def start(fake: Fake, *argv: str, cwd: Path | None = None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [fake.program, *argv],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def run(fake: Fake, *argv: str, cwd: Path | None = None) -> tuple[int, bytes, bytes]:
    process = start(fake, *argv, cwd=cwd)
    stdout, stderr = process.communicate(timeout=SECONDS)
    return process.returncode, stdout, stderr


def play(fake: Fake, *steps: Mapping[str, Any]) -> tuple[int, bytes, bytes]:
    fake.load([Play({"play": steps})])
    return run(fake)


def running(fake: Fake, *steps: Mapping[str, Any]) -> tuple[subprocess.Popen[bytes], Call]:
    """A call that has printed a dot and plays on."""
    fake.load([Play({"play": [*steps[:-1], {"stdout": "."}, steps[-1]]})])
    process = start(fake)
    assert process.stdout is not None
    assert process.stdout.read(1) == b"."
    return process, fake.calls()[-1]


def close(fake: Fake, *processes: subprocess.Popen[bytes]) -> None:
    fake.close()
    for process in processes:
        process.communicate(timeout=SECONDS)


def test_texts_go_to_their_stream_in_utf_8(fake: Fake) -> None:
    steps = [{"stdout": "a'%s\\n\\\n"}, {"stderr": "é😀"}, {"stdout": "b"}]
    assert play(fake, *steps) == (0, b"a'%s\\n\\\nb", "é😀".encode())


def test_bytes_go_to_their_stream(fake: Fake) -> None:
    assert play(fake, {"stdoutBase64": "AP+B"}, {"stderrBase64": "gIGI"}) == (0, b"\0\xff\x81", b"\x80\x81\x88")


def test_a_long_text_is_written_whole(fake: Fake) -> None:
    assert play(fake, {"stdout": {"repeat": "é'", "times": 50_000}}) == (0, "é'".encode() * 50_000, b"")


def test_ten_megabytes_are_written_whole(fake: Fake) -> None:
    exit_code, stdout, _ = play(fake, {"fill": {"stream": "stdout", "text": "ab", "bytes": 10_485_761}})
    assert (exit_code, len(stdout), stdout[-3:]) == (0, 10_485_761, b"aba")


def test_an_exit_code_is_the_exit_code(fake: Fake) -> None:
    assert play(fake, {"stdout": "x"}, {"exit": 244}, {"stdout": "never"}) == (244, b"x", b"")


@pytest.mark.parametrize("name", ["KILL", "TERM", "SEGV"])
def test_a_signal_is_a_death_by_it(fake: Fake, name: str) -> None:
    exit_code, stdout, _ = play(fake, {"stdout": "x"}, {"signal": name})
    assert (exit_code, stdout) == (-signal.Signals[f"SIG{name}"], b"x")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_hanging_call_dies_of_a_signal(fake: Fake, number: signal.Signals) -> None:
    process, call = running(fake, {"hang": True})
    assert fake.alive(call)
    process.send_signal(number)
    process.communicate(timeout=SECONDS)
    assert process.returncode == -number
    assert fake.wait_for_end(call, SECONDS).ended is None


@pytest.mark.parametrize("name", ["HUP", "INT", "PIPE", "TERM"])
def test_a_signal_that_its_parent_ignores_ends_it_all_the_same(fake: Fake, name: str) -> None:
    fake.load([Play({"play": [{"signal": name}]})])
    command = ("sh", "-c", 'trap "" "$0"; exec "$@"', name, fake.program, "a b\n", "\udcff")
    environment = {"PATH": os.environ["PATH"], "PWD": os.getcwd(), "LC_ALL": "C", "X": "é\n="}
    plain, ignoring = (subprocess.run(words, env=environment, timeout=SECONDS) for words in (command[4:], command))
    assert (plain.returncode, ignoring.returncode) == (-signal.Signals[f"SIG{name}"],) * 2
    one, other = fake.calls()
    assert (one.argv, one.environ) == (other.argv, other.environ)


def test_an_ignored_signal_does_not_end_it(fake: Fake) -> None:
    process, call = running(fake, {"ignore": ["TERM"]}, {"hang": True})
    os.killpg(process.pid, signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.2)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=SECONDS)
    assert not fake.alive(call)


@pytest.mark.parametrize("to_all", [False, True], ids=["to it alone", "to its group"])
def test_a_call_can_end_well_at_a_signal(fake: Fake, to_all: bool) -> None:
    fake.load([Play({"play": [{"until": "TERM"}, {"stdout": "Ended."}]})])
    process = start(fake)
    deadline = time.monotonic() + SECONDS
    # What it does between two looks is the first process that it starts once it has set its trap.
    while not fake.calls() or len(fake.living(fake.calls()[0])) < 2:
        assert time.monotonic() < deadline
    (os.killpg if to_all else os.kill)(process.pid, signal.SIGTERM)
    stdout, stderr = process.communicate(timeout=SECONDS)
    assert (process.returncode, stdout, stderr) == (0, b"Ended.", b"")
    assert fake.wait_for_end(fake.calls()[0], SECONDS).ended is not None


def test_a_child_lives_on_after_the_call(fake: Fake) -> None:
    exit_code, _, _ = play(fake, {"child": {"seconds": 60, "holds": "none"}}, {"exit": 0})
    (call,) = fake.calls()
    assert exit_code == 0
    assert fake.living(call) == frozenset(call.children)
    os.killpg(call.pgid, signal.SIGTERM)
    fake.wait_for_end(call, SECONDS)


@pytest.mark.parametrize(("held", "other"), [("stdout", "stderr"), ("stderr", "stdout")])
def test_a_child_can_hold_one_stream_open(fake: Fake, held: str, other: str) -> None:
    fake.load([Play({"play": [{"child": {"seconds": 60, "holds": held}}, {"exit": 0}]})])
    process = start(fake)
    process.wait(SECONDS)
    assert getattr(process, other).read() == b""
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=0.2)
    close(fake, process)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_stream_can_be_closed_before_the_end(fake: Fake, stream: str) -> None:
    fake.load([Play({"play": [{stream: "x"}, {"close": stream}, {"release": "go"}]})])
    process = start(fake)
    assert getattr(process, stream).read() == b"x"
    assert process.poll() is None
    fake.release("go")
    process.communicate(timeout=SECONDS)


def test_a_file_is_left_beside_the_one_that_was_given(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = tmp_path / "given/SYSTEM.md"
    given.parent.mkdir()
    given.write_text("Be kind.", encoding="utf-8")
    monkeypatch.setenv(next(iter(fake.watched.variables)), str(given))
    play(fake, {"leave": "left.tmp"})
    assert sorted(path.name for path in given.parent.iterdir()) == ["SYSTEM.md", "left.tmp"]


def test_nothing_is_left_where_no_file_was_given(fake: Fake, tmp_path: Path) -> None:
    play(fake, {"leave": "left.tmp"})
    assert not list(tmp_path.rglob("left.tmp"))


def test_a_child_can_ignore_signals(fake: Fake) -> None:
    play(fake, {"child": {"seconds": 60, "holds": "none", "ignore": ["TERM"]}})
    (call,) = fake.calls()
    os.killpg(call.pgid, signal.SIGTERM)
    with pytest.raises(TimeoutError):
        fake.wait_for_end(call, 0.2)


def test_a_zombie_is_not_alive(fake: Fake) -> None:
    process, call = running(fake, {"hang": True})
    os.kill(process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not fake.alive(call)
    process.communicate(timeout=SECONDS)


def test_a_call_that_waits_goes_on_when_released(fake: Fake) -> None:
    process, call = running(fake, {"release": "go"})
    assert fake.alive(call)
    fake.release("go")
    process.communicate(timeout=SECONDS)
    assert fake.calls()[-1].ended is not None


def test_a_call_that_has_been_released_does_not_wait_for_what_is_loaded_then(fake: Fake) -> None:
    plays = [Play({"play": [{"release": "go"}, {"stdout": "x"}]})]
    fake.load(plays)
    fake.release("go")
    fake.load(plays)
    assert run(fake)[1] == b"x"


def test_many_calls_are_released_at_once(fake: Fake) -> None:
    fake.load([Play({"play": [{"release": "go"}, {"stdout": "x"}]})])
    processes = [start(fake) for _ in range(8)]
    fake.wait_for_calls(8, SECONDS)
    fake.release("go")
    assert [process.communicate(timeout=SECONDS)[0] for process in processes] == [b"x"] * 8


def test_a_release_counts_for_the_calls_after_it(fake: Fake) -> None:
    fake.load([Play({"play": [{"release": "go"}]})])
    fake.release("go")
    assert run(fake)[0] == 0


def test_a_load_waits_again_when_releases_are_forgotten(fake: Fake) -> None:
    fake.load([Play({"play": [{"release": "go"}]})])
    fake.release("go")
    fake.forget_releases()
    process, call = running(fake, {"release": "go"})
    assert fake.alive(call)
    fake.release("go")
    process.communicate(timeout=SECONDS)


def test_calls_take_one_play_after_the_other_and_repeat_the_last(fake: Fake) -> None:
    fake.load([says("1"), says("2"), says("3")])
    assert [run(fake)[1] for _ in range(5)] == [b"1", b"2", b"3", b"3", b"3"]


def test_a_token_in_argv_chooses_its_play(fake: Fake) -> None:
    fake.load([says("A", "token-a'"), says("1"), says("B", "token-b"), says("2")])
    answers = [run(fake, prompt)[1] for prompt in ("x", "with token-b\nin it", "--prompt=token-a'", "y", "token-b")]
    assert answers == [b"1", b"B", b"A", b"2", b"B"]


@pytest.mark.parametrize("token", ["token-a", "a\nb\r\n\n"])
def test_a_token_in_stdin_chooses_its_play(fake: Fake, token: str) -> None:
    fake.load([says("A", token), says("1")])
    sent = f"long\n{token}".encode()
    done = subprocess.run([fake.program], input=sent, capture_output=True, timeout=SECONDS, check=True)
    assert done.stdout == b"A"


def test_a_call_without_a_play_says_so(fake: Fake) -> None:
    assert run(fake) == (70, b"", b"The fake gemini has no play for this call.\n")


def test_a_listing_comes_from_the_script_of_the_last_call(fake: Fake) -> None:
    scripts = [{"play": [], "listSessions": [{"stderr": text}, {"exit": 3}]} for text in ("first", "second")]
    fake.load([Play(script) for script in scripts])
    listings = [run(fake, "--list-sessions")]
    for _ in scripts:
        run(fake)
        run(fake, "--version")
        listings.append(run(fake, "--list-sessions", "-o", "json"))
    assert listings == [(3, b"", b"first"), (3, b"", b"first"), (3, b"", b"second")]
    assert [call.kind for call in fake.calls()] == ["list", "call", "list", "call", "list"]


def test_a_listing_is_that_of_the_last_call_in_its_directory(fake: Fake, tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("one", "two", "elsewhere")]
    for place in places[:2]:
        place.mkdir()
        fake.load([Play({"play": [], "listSessions": [{"stdout": place.name}]})], since=0)
        run(fake, cwd=place)
    places[2].mkdir()
    assert [run(fake, "--list-sessions", cwd=place)[1] for place in places] == [b"one", b"two", b"two"]


def test_a_listing_that_is_not_scripted_is_empty(fake: Fake) -> None:
    fake.load([says("x")])
    assert run(fake, "--list-sessions") == (0, b"No previous sessions found for this project.", b"")


def test_a_load_begins_anew(fake: Fake) -> None:
    fake.load([Play({"play": [], "listSessions": [{"stdout": "old"}]})])
    run(fake)
    fake.load([Play({"play": [{"stdout": "new"}], "listSessions": [{"stdout": "new list"}]}), says("2")])
    assert run(fake, "--list-sessions")[1] == b"new list"
    assert run(fake)[1] == b"new"


@pytest.mark.parametrize("step", [{}, {"stdot": "x"}, {"stdout": "x", "exit": 0}, {"signal": "a b"}])
def test_a_step_that_cannot_be_played_is_refused(fake: Fake, step: Mapping[str, Any]) -> None:
    with pytest.raises(ScriptError):
        fake.load([Play({"play": [step]})])


@pytest.mark.parametrize("step", [{"ignore": ["TERM"]}, {"child": {"seconds": 60, "holds": "none"}}])
def test_a_call_tells_that_it_is_hard_to_end_now(fake: Fake, step: Mapping[str, Any]) -> None:
    process, call = running(fake, step, {"hang": True})
    assert fake.call(call.number).is_prepared
    close(fake, process)


def test_a_call_that_is_easy_to_end_tells_nothing(fake: Fake) -> None:
    process, call = running(fake, {"hang": True})
    assert not fake.call(call.number).is_prepared
    close(fake, process)


def test_an_orphan_is_in_the_group_and_not_below_the_call(fake: Fake) -> None:
    process, call = running(fake, {"child": {"seconds": 60, "holds": "none", "orphan": True}}, {"hang": True})
    (child,) = fake.call(call.number).children
    assert (os.getpgid(child), parent(child) == process.pid) == (process.pid, False)
    close(fake, process)


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_a_flood_comes_before_stdin_is_read(fake: Fake) -> None:
    fake.load([Play({"play": [{"unread": "read"}, {"flood": 100_000}, {"stdout": "Read."}]})])
    with subprocess.Popen(
        [fake.program], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        assert len(process.stderr.read(100_000)) == 100_000
        assert fake.calls()[-1].stdin is None
        fake.release("read")
        process.communicate(b"Asked.", timeout=SECONDS)
    assert fake.calls()[-1].stdin == b"Asked."


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_stdin_under_another_number_is_noticed(fake: Fake, is_kept: bool) -> None:
    ends = os.pipe()
    (fake.root / "stdin").symlink_to(f"/proc/{os.getpid()}/fd/{ends[0]}")
    kept = ends[:1] if is_kept else ()
    subprocess.run([fake.program], stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, pass_fds=kept)
    assert fake.calls()[-1].stdin_saved == is_kept
    for end in ends:
        os.close(end)


def test_nothing_lives_after_close(fake: Fake) -> None:
    steps = [{"ignore": ["TERM", "INT", "HUP"]}, {"child": {"seconds": 60, "holds": "stdout", "ignore": ["TERM"]}}]
    process, call = running(fake, *steps, {"hang": True})
    waiting, _ = running(fake, {"wait": 60})
    fake.close()
    assert not fake.alive(call)
    for ended in (process, waiting):
        ended.communicate(timeout=SECONDS)


def test_a_child_that_left_the_group_is_still_found(fake: Fake) -> None:
    fake.load([Play({"play": [{"child": {"seconds": 60, "holds": "none"}}]})])
    subprocess.run([fake.program], stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=True)
    (call,) = fake.calls()
    assert call.pgid != call.pid
    assert fake.living(call) == frozenset(call.children)


def test_after_close_gemini_is_not_found(fake: Fake) -> None:
    fake.close()
    with pytest.raises(FileNotFoundError):
        start(fake)
