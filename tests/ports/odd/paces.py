"""Odd paces: of messages that come and go in pieces, and of processes that start and end."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import IO, Any

from odd.record import odd
from running import Call
from speaking import Message
from steps import Step, before, takes

STARTING = threading.Lock()
PAUSE = 0.05
LATE = 0.6
GRACE = 1.2


def pause(port: Any, *arguments: Any) -> None:
    time.sleep(PAUSE)


def write_whole(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def in_pieces(size: int) -> Step:
    """Writes a message by so many bytes at a time."""

    def write(port: Any, real: Any, message: Message) -> None:
        line = port.encoded(message)
        for start in range(0, len(line), size):
            write_whole(line[start : start + size])

    return write


def newline_apart(port: Any, real: Any, message: Message) -> None:
    line = port.encoded(message)
    write_whole(line[:-1])
    time.sleep(0.01)
    write_whole(b"\n")


def lines_by(size: int) -> Step:
    """Reads so many bytes at a time."""

    def lines(port: Any, real: Any) -> Iterator[bytes]:
        begun = bytearray()
        while piece := os.read(0, size):
            begun += piece
            if b"\n" in piece:
                *whole, rest = bytes(begun).split(b"\n")
                begun = bytearray(rest)
                yield from whole

    return lines


def started_alone(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    with STARTING:
        time.sleep(0.02)
        return real(argv, **options)


def polled(port: Any, real: Any, call: Call, process: Any) -> int:
    while process.poll() is None:
        time.sleep(0.02)
    return real(call, process)


def in_group(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """A process group of its own and no session of its own."""
    options.pop("start_new_session", None)
    return real(argv, process_group=0, **options)


def patiently(port: Any, real: Any, call: Call) -> None:
    with call.lock:
        process = call.process
    if process is not None:
        port.signal_group(process.pid, signal.SIGTERM)
        call.ended.wait(GRACE)
        port.signal_group(process.pid, signal.SIGKILL)


def through_pipe(port: Any, real: Any, text: str | None) -> IO[bytes]:
    """A pipe that is filled slowly, and is at its end at once where there is nothing to write."""
    reading, writing = os.pipe()
    threading.Thread(target=fill, args=(writing, (text or "").encode()), daemon=True).start()
    return open(reading, "rb")


def unblocked(port: Any, real: Any, text: str | None) -> IO[bytes]:
    stdin = through_pipe(port, real, text)
    os.set_blocking(stdin.fileno(), False)
    return stdin


def fill(writing: int, data: bytes) -> None:
    try:
        for start in range(0, len(data), 4096):
            os.write(writing, data[start : start + 4096])
    except BrokenPipeError:
        """gemini has ended before it has read everything."""
    finally:
        os.close(writing)


odd("slow-messages", "Takes 50 milliseconds to write a message, one after the other.")(write=before(pause))
odd("small-pieces", "Writes every message by 100 bytes at a time.")(write=in_pieces(100))
odd("newline-apart", "Writes the newline behind a message by itself, and later.")(write=newline_apart)
odd("reads-seven-bytes", "Reads seven bytes at a time.")(lines=lines_by(7))
odd("reads-all-at-once", "Reads a megabyte at a time, and many messages with it.")(lines=lines_by(1 << 20))
odd("starts-one-by-one", "Starts one gemini after the other, slowly, and lets them run side by side.")(
    spawn=started_alone
)
odd("cancels-late", "Reads a cancellation 0.6 seconds late, and what comes behind it later still.")(
    cancel=before(lambda port, call: time.sleep(LATE))
)
odd("polls-for-end", "Asks again and again whether gemini has ended.")(wait=polled)
odd("group-without-session", "Gives gemini a process group of its own, but no session.")(spawn=in_group)
odd("kills-at-once", "Ends gemini by SIGKILL without asking it first.")(
    signal_group=takes(lambda number: signal.SIGKILL)
)
odd("patient-when-ending", "Gives gemini more than a second to end by itself.")(stop=patiently)
odd("stdin-through-pipe", "Writes to gemini's stdin through a pipe, 4 KiB at a time.")(input=through_pipe)
odd("stdin-does-not-block", "Gives gemini a pipe as its stdin that does not block, which Node copes with.")(
    input=unblocked
)
