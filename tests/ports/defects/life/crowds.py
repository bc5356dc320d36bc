"""Defects that need several calls at once: exits that meet, texts that are equal, and lines in which some give up."""

import threading
import time
from typing import Any

from defects.record import defect
from port import Port
from running import Call

PLACES = 8
MOMENT = 0.1


class Pooled(Port):
    """Runs eight calls at once. Who waits for a place has no process yet that a cancellation could end."""

    def __init__(self) -> None:
        super().__init__()
        self.places = threading.BoundedSemaphore(PLACES)
        self.waiting: set[Call] = set()

    def run_prompt(self, call: Call, plan: Any) -> Any:
        self.waiting.add(call)
        with self.places:
            self.waiting.discard(call)
            return super().run_prompt(call, plan)

    def cancel(self, call: Call) -> None:
        if call not in self.waiting:
            super().cancel(call)


def waits_for_any(port: Any, real: Any, call: Call, process: Any) -> int:
    """Takes the next exit for the one it waits for."""
    begun = time.monotonic()
    exit = real(call, process)
    now, (ended, other) = time.monotonic(), port.memory.get("ended", (0.0, 0))
    port.memory["ended"] = (now, exit)
    return other if begun < ended and now - ended < MOMENT else exit


def one_of_each_text(port: Any, real: Any, call: Call, plan: Any) -> Any:
    if plan.system is None:
        return real(call, plan)
    with port.memory.setdefault(plan.system, threading.Lock()):
        return real(call, plan)


def sweeps_line(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Removes the cancelled from the list that it goes through, and so passes over every second in a row."""
    with port.turn_changed:
        line = port.turns.get(turn or "", [])
        if line[:1] != [call]:
            return
        line.remove(call)
        for each in line:
            if each.is_cancelled:
                line.remove(each)
        port.turn_changed.notify_all()


defect(
    "cancelled-in-queue-begun",
    "Runs eight calls at once, and overlooks the cancellation of one that waits for a place.",
    "cancel:child",
    "cancel:unanswered",
)(Pooled)
defect(
    "exits-of-a-moment-mixed",
    "Gives two runs that end in the same moment the exit code of the first.",
    "result:success",
    "error:exit",
)(wait=waits_for_any)
defect(
    "equal-system-prompts-wait",
    "Serves one call after the other that have the same system prompt.",
    "concurrency:calls",
)(run_prompt=one_of_each_text)
defect(
    "two-cancelled-in-line",
    "Lets replies wait for ever behind two in a row that were cancelled while they waited.",
    "cancel:others",
    "concurrency:after-failure",
)(end_turn=sweeps_line)
