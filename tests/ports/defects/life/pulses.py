"""Defects in rhythm and order: when progress is due, when a signal is heard, and whose turn never comes."""

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

from answering import Failure
from defects.life.heartbeats import postpones
from defects.record import defect
from running import Call
from steps import after, before

PIECE = 1 << 16
FIRST_SECONDS = 6.0


def backs_off(port: Any, call: Call) -> None:
    call.next_progress = time.monotonic() + FIRST_SECONDS * 2 ** max(0, call.progress - 1)


def notes_unstarted(port: Any, real: Any, call: Call, *others: Any) -> Any:
    try:
        return real(call, *others)
    except Failure as failure:
        port.memory[call] = "could not be started" in failure.sentence
        raise


def keeps_turn_of_unstarted(port: Any, real: Any, call: Call, turn: str | None) -> None:
    if not port.memory.get(call):
        real(call, turn)


def lines_undisturbed(port: Any, real: Any) -> Iterator[bytes]:
    held: list[bytes] = []
    while piece := os.read(0, PIECE):
        held.append(piece)
        port.memory["is_within"] = not piece.endswith(b"\n")
        if b"\n" in piece:
            *lines, rest = b"".join(held).split(b"\n")
            held = [rest]
            yield from (line + b"\n" for line in lines)
        if not port.memory["is_within"] and "signal" in port.memory:
            signal.raise_signal(port.memory["signal"])


def keeps_signal(port: Any, real: Any, number: int, frame: Any) -> None:
    if port.memory.get("is_within"):
        port.memory["signal"] = number
    else:
        real(number, frame)


defect(
    "client-postpones-progress",
    "Waits with progress for five seconds behind whatever the client sends.",
    "progress:interval",
)(receive=before(postpones))
defect(
    "progress-backs-off",
    "Waits twice as long for each progress notification as for the one before.",
    "progress:interval",
)(report_progress=after(backs_off))
defect(
    "line-stuck-behind-unstarted",
    "Lets replies wait for ever behind one whose gemini could not be started.",
    "concurrency:after-failure",
)(begin=notes_unstarted, end_turn=keeps_turn_of_unstarted)
defect(
    "signal-waits-for-line",
    "Hears a signal in the middle of a line only when the rest of the line has come.",
    "shutdown:sigterm",
    "shutdown:sigterm:group",
)(lines=lines_undisturbed, on_signal=keeps_signal)
