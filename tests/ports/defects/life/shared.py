"""What several modules of this room use: locks and places, files of gemini's output, whom a signal spares."""

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import IO, Any

from answering import Failure
from conditions import signals_one
from planning import Plan
from port import Port
from running import Call
from speaking import Message
from steps import Change, Step

PATIENCE = 2.0
LOCK = threading.Lock()
OUTPUT = 4
"""The place of the file for stdout among what a run is begun with."""
TICK = 0.02
PIECE = 64 * 1024


def leader_only(when: Callable[[Port], bool]) -> Step:
    """Signals gemini but not what gemini started, in this state of the port."""

    def signal_group(port: Any, real: Any, leader: int, number: signal.Signals) -> None:
        (signals_one if when(port) else real)(leader, number)

    return signal_group


def never_kills(when: Callable[[Port], bool]) -> Step:
    """Sends SIGTERM and leaves it at that, in this state of the port."""

    def signal_group(port: Any, real: Any, leader: int, number: signal.Signals) -> None:
        if number == signal.SIGTERM or not when(port):
            real(leader, number)

    return signal_group


def when_idle(port: Any, real: Any, *arguments: Any) -> Any:
    """Waits until no call runs."""
    for thread in port.threads:
        thread.join()
    return real(*arguments)


def spared_at_signal(test: Change) -> Step:
    """Of `shut_down`: leaves the gemini of such calls running."""

    def shut_down(port: Any, real: Any) -> None:
        port.calls = [call for call in port.calls if not (port.ended_by_signal and test(call))]
        real()

    return shut_down


def turns_of(key: Callable[[Call, str | None], str | None]) -> dict[str, Step]:
    """Of `take_turn` and `end_turn`: other lines than the right ones."""
    other: Step = lambda port, real, call, turn: real(call, key(call, turn))  # noqa: E731
    return {"take_turn": other, "end_turn": other}


def ends_siblings(test: Callable[[Call, Message], bool]) -> Step:
    """Of `execute`: a call that goes wrong takes those along that run beside it."""

    def execute(port: Any, real: Any, call: Call) -> Message:
        result = real(call)
        if test(call, result):
            for other in list(port.calls):
                if other is not call and other.process is not None:
                    port.memory.setdefault("taken", set()).add(id(other))
                    port.stop(other)
        return result

    return execute


def processes() -> Iterator[int]:
    return map(int, filter(str.isdecimal, os.listdir("/proc")))


def until_end_of_output(port: Any, call: Call, argv: Any, cwd: Any, env: Any, stdin: Any, timeout: float) -> Any:
    """The process, when it has closed its stdout, with what it has written there and the file of its stderr."""
    with port.input(stdin) as given:
        err = tempfile.TemporaryFile()  # noqa: SIM115
        process = port.begin(call, argv, cwd, env, given, subprocess.PIPE, err, timeout)
        assert process.stdout is not None
        return process, process.stdout.read(), err


def notes_file(place: int) -> Step:
    """Beside `begin`: remembers one of the files that gemini is given."""

    def note(port: Any, call: Call, *started: Any) -> None:
        port.memory[call] = started[place]

    return note


notes_output = notes_file(OUTPUT)


def size_of(file: IO[bytes]) -> int:
    """Of a file that is closed it is 0."""
    with suppress(OSError, ValueError):
        return os.fstat(file.fileno()).st_size
    return 0


def has_printed(port: Any, call: Call) -> bool:
    """Whether the file that is remembered holds something."""
    file = port.memory.get(call)
    return file is not None and size_of(file) > 0


def tells(change: Callable[[Call], Message]) -> Step:
    """Says something else of a call."""

    def progress(port: Any, real: Any, call: Call) -> Message:
        message = real(call)
        return {**message, "params": {**message["params"], **change(call)}}

    return progress


def gets_lock(lock: Any, call: Call) -> bool:
    """Whether the call has got it before it was cancelled."""
    while not lock.acquire(timeout=TICK):
        if call.is_cancelled:
            return False
    return True


def in_one_of(places: threading.Semaphore) -> Step:
    """Of `ask` and `list_sessions`: waits for a place first."""

    def step(port: Any, real: Any, call: Call, plan: Plan) -> Any:
        has_place = gets_lock(places, call)
        try:
            return real(call, plan)
        finally:
            if has_place:
                places.release()

    return step


def piped(real: Any, argv: tuple[str, ...], options: Mapping[str, Any]) -> tuple[Any, int]:
    """The process, and the end of the pipe from which it reads its stdin."""
    reading, writing = os.pipe()
    try:
        return real(argv, **{**options, "stdin": reading}), writing
    except Failure:
        os.close(writing)
        raise
    finally:
        os.close(reading)


def copied(reading: int, file: Any) -> None:
    with open(reading, "rb") as pipe, suppress(ValueError):
        while piece := pipe.read1(PIECE):
            file.write(piece)
