"""Defects that show when the client reads or writes slowly, or both ends speak in pieces."""

import os
import select
import time
from collections.abc import Iterator
from typing import Any

from defects.record import defect
from speaking import Message
from steps import Step

PIPE = 1 << 16
MOMENT = 0.02


def written(port: Any, message: Message) -> memoryview:
    return memoryview(port.encoded(message))


def waits_for_reader(seconds: float) -> bool:
    """Whether stdout takes something within this time."""
    return bool(select.select([], [1], [], seconds)[1])


def in_turns(port: Any, real: Any, message: Message) -> None:
    """Lets others write between the pieces of a long line."""
    line = written(port, message)
    for start in range(0, len(line), PIPE):
        if start:
            port.output.release()
            time.sleep(0.002)
            port.output.acquire()
        os.write(1, line[start : start + PIPE])


def patient_for(seconds: float) -> Step:
    """Gives the rest of a line up when nobody reads it for so long."""

    def write(port: Any, real: Any, message: Message) -> None:
        line = written(port, message)
        while line and waits_for_reader(seconds):
            line = line[os.write(1, line[:4096]) :]
        if line and waits_for_reader(60):
            os.write(1, b"\n")

    return write


def dropped_when_full(port: Any, real: Any, message: Message) -> None:
    if waits_for_reader(0):
        real(message)


def dies_of_slow_reader(port: Any, real: Any, message: Message) -> None:
    line = written(port, message)
    while line:
        if not waits_for_reader(3):
            os._exit(1)
        line = line[os.write(1, line[:4096]) :]


def lines_within(seconds: float) -> Step:
    """Forgets what has come of a line when the rest keeps it waiting."""

    def lines(port: Any, real: Any) -> Iterator[bytes]:
        begun = b""
        while True:
            if begun and not select.select([0], [], [], seconds)[0]:
                begun = b""
            if not (piece := os.read(0, PIPE)):
                return
            *whole, begun = (begun + piece).split(b"\n")
            yield from whole

    return lines


def one_line_each_read(port: Any, real: Any) -> Iterator[bytes]:
    """Leaves the second of two lines that came at once where it is until something more comes."""
    begun = b""
    while select.select([0], [], []):
        # So that lines which are written one after another come at once.
        time.sleep(MOMENT)
        if not (piece := os.read(0, PIPE)):
            return
        line, newline, rest = (begun + piece).partition(b"\n")
        begun = rest if newline else line
        if newline:
            yield line


def pieces_decoded_alone(port: Any, real: Any) -> Iterator[bytes]:
    begun = ""
    while piece := os.read(0, PIPE):
        *whole, begun = (begun + piece.decode("utf-8", "replace")).split("\n")
        yield from (line.encode() for line in whole)


defect(
    "long-lines-interleave",
    "Lets other messages in between the pieces of a line of more than 64 KiB.",
    "stdio:stdout",
    "stdio:framing",
)(write=in_turns)
defect(
    "writing-given-up-after-two-seconds",
    "Gives the rest of a line up when the client does not read for two seconds.",
    "stdio:stdout",
    "stdio:framing",
    "result:large-stdout",
)(write=patient_for(2))
defect(
    "dropped-when-pipe-is-full",
    "Drops a message that the client has no room for at once.",
    "concurrency:lost",
)(write=dropped_when_full)
defect(
    "dies-of-slow-reader",
    "Ends when the client does not read for three seconds.",
    "result:text",
    "result:large-stdout",
)(write=dies_of_slow_reader)
defect(
    "pause-ends-message",
    "Forgets the beginning of a message when its rest comes more than a second later.",
    "rpc:alive:chunks",
)(lines=lines_within(1.0))
defect(
    "short-pause-ends-message",
    "Forgets the beginning of a message when its rest comes 50 milliseconds later.",
    "rpc:alive:chunks",
)(lines=lines_within(0.05))
defect(
    "second-of-two-lines-waits",
    "Reads the second of two messages that come at once when a third one comes.",
    "lifecycle:ping",
    "concurrency:lost",
    "rpc:alive:chunks",
)(lines=one_line_each_read)
defect(
    "input-decoded-in-pieces",
    "Decodes each 64 KiB of its input by itself.",
    "prompt:verbatim:unicode",
    "prompt:long:whole",
)(lines=pieces_decoded_alone)
