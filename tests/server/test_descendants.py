"""What gemini starts in sessions of its own ends with its call and with its server, with real processes."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from client import COMMAND, Place, Server, text, wait_until

from gemini_mcp.call import processes

KEEP = '#!/bin/sh\necho $$ >>"$1"\nexec sleep 600\n'

ESCAPES = (
    'setsid {keep} "$0.started" &',
    '(setsid {keep} "$0.started" &)',
    '(setsid env -i {keep} "$0.started" &)',
    '(setsid sh -c \'trap "" TERM; exec {keep} "$1"\' - "$0.started" &)',
)
"""Ways out of gemini's group: a session, an orphan in one, an orphan without environment, one that ignores SIGTERM."""

HEADLESS = """
import ctypes, os, sys, threading, time
def live():
    with open(sys.argv[1], "a") as file:
        print(os.getpid(), file=file)
    time.sleep(600)
threading.Thread(target=live).start()
ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)
"""
"""A program whose first thread ends, so that /proc calls it a zombie, while another one goes on."""


class Escaping:
    """A place, and programs whose children escape."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._keep = _program(place.root / "keep", KEEP)
        self._programs: list[Path] = []

    def program(self, name: str, *after: str, escapes: tuple[str, ...] = ESCAPES) -> Path:
        """A gemini that lets children escape, then does what is said."""
        lines = [escape.format(keep=self._keep) for escape in escapes]
        ready = f'until [ "$(cat "$0.started" | wc -l)" = {len(escapes)} ]; do sleep 0.01; done; touch "$0.ready"'
        path = _program(self.place.root / name, "\n".join(("#!/bin/sh", ': >"$0.started"', *lines, ready, *after, "")))
        self._programs.append(path)
        return path

    def running(self, program: Path, server: Server) -> object:
        """The id of a call whose children have escaped."""
        call = server.start("chat", prompt="hello")
        wait_until(Path(f"{program}.ready").exists)
        return call

    def headless(self) -> str:
        """One more way out of the group: the first thread ends, the process does not."""
        code = self.place.root / "headless.py"
        code.write_text(HEADLESS, encoding="utf-8")
        return f'setsid {sys.executable} {code} "$0.started" &'

    def alive(self, program: Path) -> int:
        """How many of its children live."""
        found = map(processes.read, _started_by(program))
        return sum(process is not None and not process.is_zombie for process in found)

    def close(self) -> None:
        for pid in (pid for program in self._programs for pid in _started_by(program)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _program(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    path.chmod(0o755)
    return path


def _started_by(program: Path) -> list[int]:
    started = Path(f"{program}.started")
    return [int(pid) for pid in started.read_text(encoding="ascii").split()] if started.exists() else []


@pytest.fixture
def escaping(place: Place) -> Iterator[Escaping]:
    escaping = Escaping(place)
    yield escaping
    escaping.close()


HANG = "exec sleep 600"
BARE = tuple(escape for escape in ESCAPES if "env -i" in escape)
MARKED = tuple(escape for escape in ESCAPES if escape not in BARE)
ANSWER = """echo '{"response": "done"}'"""

ENDS: dict[str, Callable[[Server], object]] = {
    "stdin": Server.end,
    "TERM": lambda server: server.kill(signal.SIGTERM),
    "QUIT": lambda server: server.kill(signal.SIGQUIT),
}


def test_a_cancelled_call_ends_what_escaped(escaping: Escaping) -> None:
    program = escaping.program("hanging", HANG)
    server = escaping.place.start("--gemini", str(program), "--kill-grace", "0.2")
    server.cancel(escaping.running(program, server))
    wait_until(lambda: escaping.alive(program) == 0)
    assert server.ask("ping")["result"] == {}


def test_a_call_that_takes_too_long_ends_what_escaped(escaping: Escaping) -> None:
    program = escaping.program("hanging", HANG)
    server = escaping.place.start("--gemini", str(program), "--kill-grace", "0.2", "--timeout", "5")
    assert "did not finish" in text(server.answer(escaping.running(program, server))["result"])
    assert escaping.alive(program) == 0


def test_an_answer_leaves_nothing_that_escaped(escaping: Escaping) -> None:
    program = escaping.program("answering", ANSWER)
    server = escaping.place.start("--gemini", str(program))
    for _ in range(2):
        assert text(server.call("chat-reply", prompt="hello", sessionId="a")) == "done"
        assert escaping.alive(program) == 0
    children = [each for each in processes.table().values() if each.parent == server.process.pid]
    assert children == []


def test_a_process_whose_first_thread_has_ended_is_ended_too(escaping: Escaping) -> None:
    program = escaping.program("hanging", HANG, escapes=(escaping.headless(),))
    server = escaping.place.start("--gemini", str(program), "--kill-grace", "0.2")
    call = escaping.running(program, server)
    assert escaping.alive(program) == 1
    server.cancel(call)
    wait_until(lambda: escaping.alive(program) == 0)


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_the_end_of_the_server_ends_what_escaped(escaping: Escaping, end: Callable[[Server], object]) -> None:
    program = escaping.program("hanging", HANG)
    server = escaping.place.start("--gemini", str(program))
    escaping.running(program, server)
    assert end(server) == 0
    assert escaping.alive(program) == 0


def beside(escaping: Escaping, first: tuple[str, ...], second: tuple[str, ...]) -> tuple[Server, object, Path, Path]:
    """A call that hangs, begun before another that has answered by now: the first one's id, and both programs."""
    hanging = escaping.program("hanging", HANG, escapes=first)
    answering = escaping.program("answering", ANSWER, escapes=second)
    choice = f"case $1 in hello) exec {hanging};; *) exec {answering};; esac"
    either = _program(escaping.place.root / "either", f"#!/bin/sh\n{choice}\n")
    server = escaping.place.start("--gemini", str(either), "--kill-grace", "0.2")
    call = escaping.running(hanging, server)
    assert text(server.call("chat-reply", prompt="other", sessionId="a")) == "done"
    return server, call, hanging, answering


def test_a_call_ends_nothing_of_another(escaping: Escaping) -> None:
    server, call, hanging, answering = beside(escaping, ESCAPES, MARKED)
    assert (escaping.alive(hanging), escaping.alive(answering)) == (len(ESCAPES), 0)
    server.cancel(call)
    wait_until(lambda: escaping.alive(hanging) == 0)


def test_what_may_come_from_either_of_two_calls_ends_with_the_last_of_them(escaping: Escaping) -> None:
    server, call, _, answering = beside(escaping, (), BARE)
    assert escaping.alive(answering) == len(BARE)
    server.cancel(call)
    wait_until(lambda: escaping.alive(answering) == 0)


@pytest.mark.parametrize(
    ("options", "is_reaped"), [((), True), ((), False), (("--transport", "http", "--port", "0"), True)]
)
def test_the_next_server_ends_what_a_killed_one_left_and_nothing_else(
    escaping: Escaping, options: tuple[str, ...], is_reaped: bool
) -> None:
    lost, kept = (escaping.program(name, HANG, escapes=ESCAPES) for name in ("lost", "kept"))
    killed, other = (escaping.place.start("--gemini", str(program)) for program in (lost, kept))
    escaping.running(lost, killed)
    escaping.running(kept, other)
    killed.process.send_signal(signal.SIGKILL)
    wait_until(lambda: (left := processes.read(killed.process.pid)) is not None and left.is_zombie)
    if is_reaped:
        killed.exit()
    assert escaping.alive(lost) == len(ESCAPES)
    escaping.place.launch(*options)
    wait_until(lambda: escaping.alive(lost) == 0)
    assert escaping.alive(kept) == len(ESCAPES)


def test_a_process_that_was_there_before_the_server_stays(place: Place) -> None:
    keeping = _program(place.root / "gemini", f"#!/bin/sh\n{ANSWER}\n")
    escaping = Escaping(place)
    before = escaping.program("before", 'exec "$@"', escapes=ESCAPES[:1])
    server = Server(place, (str(before), *COMMAND, "--gemini", str(keeping)), place.environ(), place.root / "log")
    place.servers.append(server)
    server.greet()
    assert text(server.call("chat-reply", prompt="hello", sessionId="a")) == "done"
    assert escaping.alive(before) == 1
    escaping.close()


def test_all_that_a_process_has_started_is_found_but_for_what_is_spared(escaping: Escaping) -> None:
    program = escaping.program("hanging", HANG, escapes=ESCAPES[:1])
    server = escaping.place.start("--gemini", str(program))
    escaping.running(program, server)
    below = processes.below(server.process.pid, ())
    leader = next(process.pid for process in below.values() if process.parent == server.process.pid)
    assert {leader, *_started_by(program)} <= below.keys()
    assert processes.below(server.process.pid, {leader}) == {}


def test_ps_and_proc_tell_the_same() -> None:
    table = processes.from_ps()
    mine = processes.read(os.getpid())
    assert mine is not None
    assert table[os.getpid()] == mine._replace(started=0)
