"""What the fake gemini writes down about a call: byte for byte what a port gave it."""

from __future__ import annotations

import os
import pty
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.fake.script import Play
from gemini_mcp_conformance.see.call import Call

HELLO = Play({"play": [{"stdout": "hello\n"}]})
SHELLS = [(name, *rest) for name, *rest in (("dash",), ("bash", "--posix"), ("busybox", "sh")) if shutil.which(name)]
in_every_shell = pytest.mark.parametrize("shell", [(), *SHELLS], ids=["as it is", *(shell[0] for shell in SHELLS)])


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[Fake]:
    with Fake.create(tmp_path / "the fake") as fake:
        fake.load([HELLO])
        yield fake


def run(
    fake: Fake,
    *argv: str | bytes,
    by: Sequence[str] = (),
    stdin: int = subprocess.DEVNULL,
    data: bytes | None = None,
    env: Mapping[bytes, bytes] | Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> bytes:
    """What a call of the fake prints, its errors included; `data` is what a pipe on stdin holds."""
    done = subprocess.run(
        [*by, fake.program, *argv],
        stdin=None if data is not None else stdin,
        input=data,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=env,
        cwd=cwd,
        timeout=30,
        check=False,
    )
    return done.stdout


def only_call(fake: Fake) -> Call:
    (call,) = fake.calls()
    return call


@in_every_shell
def test_argv_is_kept_byte_for_byte(fake: Fake, shell: Sequence[str]) -> None:
    odd = (b"\\c %s \\n", b'it\'s "q" `x` $HOME *', b"\xff\x81\x88", "é😀".encode())
    argv = (b"", b"two\nlines\n", b"-n", *odd, b"--", b"")
    assert run(fake, *argv, by=shell) == b"hello\n"
    assert only_call(fake).argv == argv


def test_a_call_without_arguments_has_an_empty_argv(fake: Fake) -> None:
    run(fake)
    assert only_call(fake).argv == ()


def test_a_long_argument_is_kept_whole(fake: Fake) -> None:
    run(fake, "x" * 131_071)
    assert only_call(fake).argv == (b"x" * 131_071,)


def test_the_environment_is_kept_exactly(fake: Fake) -> None:
    given = {b"PATH": b"/nowhere", b"A": b"two\nlines=1", b"B": b"\xff", b"IFS": b"x", b"number": b"7", b"play": b"9"}
    run(fake, env=given)
    assert only_call(fake).environ == {os.fsdecode(name): os.fsdecode(value) for name, value in given.items()}


GIVEN = {"PATH": "/nowhere", "A": "two\nlines = 1\n", "EMPTY": "", "QUOTED": 'it\'s "$HOME" \\', "PWD": "/", "b-c": "d"}


@in_every_shell
def test_of_an_expected_environment_what_was_asked_for_and_the_watched_variables_are_known(
    fake: Fake, shell: Sequence[str]
) -> None:
    (watched,) = fake.watched.variables
    fake.expect(GIVEN)
    run(fake, by=shell and (shutil.which(shell[0]) or "", *shell[1:]), env={**GIVEN, watched: "a\nb", "MORE": "1"})
    assert only_call(fake).environ == {
        **{name: GIVEN[name] for name in ("PATH", "A", "EMPTY", "QUOTED")},
        watched: "a\nb",
    }


@pytest.mark.parametrize("change", [{"A": "two\nlines = 2\n"}, {"EMPTY": "."}, {"QUOTED": None}], ids=str)
def test_another_environment_than_the_expected_one_is_kept_exactly(
    fake: Fake, change: Mapping[str, str | None]
) -> None:
    fake.expect(GIVEN)
    given = {name: value for name, value in {**GIVEN, **change}.items() if value is not None}
    run(fake, env=given)
    assert only_call(fake).environ == given


@pytest.mark.parametrize("age", [0, 60])
@pytest.mark.parametrize("late", ["", "changed", None], ids=["kept", "changed", "removed"])
def test_a_file_that_a_variable_names_is_kept_from_the_start_and_from_the_end(
    fake: Fake, tmp_path: Path, age: int, late: str | None
) -> None:
    (watched,) = fake.watched.variables
    file = tmp_path / "file"
    file.write_text("as it was")
    begun = time.time() - age
    os.utime(file, (begun, begun))
    fake.load([Play({"play": [{"release": "go"}]})])
    process = subprocess.Popen([fake.program], stdin=subprocess.DEVNULL, env={**os.environ, watched: str(file)})
    fake.wait_for_calls(1, 30)
    if late is None:
        file.unlink()
    elif late:
        file.write_text(late)
    fake.release("go")
    assert process.wait(30) == 0
    given = only_call(fake).given[watched]
    assert (given.content, given.at_end) == (b"as it was", None if late is None else (late or "as it was").encode())


def test_an_empty_environment_stops_nothing(fake: Fake) -> None:
    assert (run(fake, env={}), only_call(fake).environ) == (b"hello\n", {})


def test_the_working_directory_is_kept(fake: Fake, tmp_path: Path) -> None:
    odd = tmp_path / "a b\nc\n"
    odd.mkdir()
    run(fake, cwd=odd)
    assert only_call(fake).cwd == str(odd)


def test_the_pid_and_the_group_are_kept(fake: Fake) -> None:
    process = subprocess.Popen([fake.program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
    process.communicate(timeout=30)
    assert (only_call(fake).pid, only_call(fake).pgid) == (process.pid, process.pid)


def test_start_and_end_are_kept(fake: Fake) -> None:
    fake.load([Play({"play": [{"wait": 0.1}]})])
    run(fake)
    call = only_call(fake)
    assert call.ended is not None
    assert 0.08e9 <= call.ended - call.started < 10e9


def test_a_null_stdin_is_known_and_not_read(fake: Fake) -> None:
    run(fake)
    call = only_call(fake)
    assert (call.stdin_kind, call.stdin, call.stdin_eof) == ("null", None, False)


def test_a_closed_stdin_is_known(fake: Fake) -> None:
    assert run(fake, by=("/bin/sh", "-c", 'exec "$0" x <&-')) == b"hello\n"
    assert only_call(fake).stdin_kind == "closed"


def test_a_terminal_is_known_and_not_read(fake: Fake) -> None:
    master, terminal = pty.openpty()
    try:
        run(fake, stdin=terminal)
    finally:
        os.close(master)
        os.close(terminal)
    assert (only_call(fake).stdin_kind, only_call(fake).stdin) == ("terminal", None)


def test_a_file_is_read_to_its_end(fake: Fake, tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(b"\0\xff\n")
    with (tmp_path / "input").open("rb") as file:
        run(fake, stdin=file.fileno())
    call = only_call(fake)
    assert (call.stdin_kind, call.stdin, call.stdin_eof) == ("file", b"\0\xff\n", True)


@in_every_shell
def test_a_pipe_is_read_to_its_end(fake: Fake, shell: Sequence[str]) -> None:
    data = b"\0\xff\n" * 100_000
    assert run(fake, by=shell, data=data) == b"hello\n"
    call = only_call(fake)
    assert (call.stdin_kind, call.stdin, call.stdin_eof) == ("pipe", data, True)


def test_a_pipe_that_ends_at_once_is_empty(fake: Fake) -> None:
    run(fake, data=b"")
    assert (only_call(fake).stdin, only_call(fake).stdin_eof) == (b"", True)


@in_every_shell
def test_a_silent_pipe_is_waited_for_half_a_second(fake: Fake, shell: Sequence[str]) -> None:
    reading, writing = os.pipe()
    before = time.monotonic()
    try:
        output = run(fake, stdin=reading, by=shell)
    finally:
        os.close(reading)
        os.close(writing)
    assert output == b"hello\n"
    assert 0.5 <= time.monotonic() - before < 5
    assert (only_call(fake).stdin, only_call(fake).stdin_eof) == (b"", False)


def test_once_a_byte_has_come_the_end_is_waited_for(fake: Fake) -> None:
    process = subprocess.Popen([fake.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b"a")
    process.stdin.flush()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.8)
    process.communicate(b"b", timeout=30)
    assert (only_call(fake).stdin, only_call(fake).stdin_eof) == (b"ab", True)


def test_a_socket_is_known_and_read(fake: Fake) -> None:
    ours, its = socket.socketpair()
    with ours, its:
        ours.sendall(b"data")
        ours.shutdown(socket.SHUT_WR)
        run(fake, stdin=its.fileno())
    assert (only_call(fake).stdin_kind, only_call(fake).stdin) == ("socket", b"data")


@in_every_shell
def test_the_system_file_is_kept_with_its_modes(fake: Fake, tmp_path: Path, shell: Sequence[str]) -> None:
    folder = tmp_path / "private place"
    folder.mkdir(mode=0o700)
    file = folder / "SYSTEM.md"
    file.write_bytes(b"\xff\0be brief\n\n")
    file.chmod(0o600)
    run(fake, by=shell, env={**os.environ, "GEMINI_SYSTEM_MD": str(file)})
    call = only_call(fake)
    assert (call.file.content, call.file.path) == (b"\xff\0be brief\n\n", str(file))
    assert (call.file.mode, call.file.directory_mode) == (0o600, 0o700)


@in_every_shell
@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"\n\n", b"short", b" a\\b \r\n\tc\n", b"a\0b", b"\xff\xfe\n", "서울\n".encode(), b"long\n" * 99],
    ids=repr,
)
def test_file_is_copied_byte_for_byte(fake: Fake, tmp_path: Path, shell: Sequence[str], content: bytes) -> None:
    file = tmp_path / "SYSTEM.md"
    file.write_bytes(content)
    run(fake, by=shell, env={**os.environ, "GEMINI_SYSTEM_MD": str(file)})
    assert only_call(fake).file.content == content


def test_a_system_file_that_is_missing_has_a_path_only(fake: Fake) -> None:
    assert run(fake, env={"GEMINI_SYSTEM_MD": "/nowhere/SYSTEM.md"}) == b"hello\n"
    call = only_call(fake)
    assert (call.file.content, call.file.path, call.file.mode) == (None, "/nowhere/SYSTEM.md", None)


def test_sixteen_calls_at_once_are_sixteen_entries(fake: Fake) -> None:
    with ThreadPoolExecutor(16) as pool:
        outputs = [done.result() for done in [pool.submit(run, fake, str(n)) for n in range(16)]]
    calls = fake.calls()
    assert outputs == [b"hello\n"] * 16
    assert [call.number for call in calls] == list(range(1, 17))
    assert {call.argv for call in calls} == {(str(n).encode(),) for n in range(16)}


def test_a_question_for_the_version_is_answered_and_not_counted(fake: Fake) -> None:
    assert run(fake, "--version") == b"0.61.0\n"
    assert fake.calls() == ()
    assert [call.kind for call in fake.starts()] == ["version"]


def test_a_call_is_in_the_journal_before_its_first_output(fake: Fake) -> None:
    fake.load([Play({"play": [{"stdout": "x"}, {"hang": True}]})])
    process = subprocess.Popen([fake.program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.read(1) == b"x"
    assert len(fake.calls()) == 1
    fake.close()
    process.communicate(timeout=30)


def test_a_reset_forgets_calls_and_plays(fake: Fake) -> None:
    run(fake)
    fake.reset()
    assert fake.calls() == ()
    fake.load([HELLO])
    run(fake)
    assert only_call(fake).number == 1
