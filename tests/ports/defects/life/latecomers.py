"""Defects that show late: beside other calls, while a reply waits or a list runs, after a cancellation or a failure."""

import os
import signal
import threading
from contextlib import suppress
from typing import Any

from answering import Outcome
from conditions import is_refusal
from defects.record import defect
from planning import Plan
from running import LIST, Call
from speaking import Message
from steps import takes

SLOTS = 8
REQUEST_CANCELLED = -32800


def slots(port: Any) -> threading.Semaphore:
    return port.memory.setdefault("slots", threading.Semaphore(SLOTS))


def keeps_slot(port: Any, real: Any, call: Call) -> Message:
    slots(port).acquire()
    result = None
    try:
        result = real(call)
        return result
    finally:
        if result is None or not is_refusal(result):
            slots(port).release()


def notes_list(port: Any, real: Any, call: Call, argv: tuple[str, ...], *others: Any) -> Any:
    process = real(call, argv, *others)
    if LIST in argv:
        port.memory[process.pid] = LIST
    return process


def signals_list_alone(port: Any, real: Any, leader: int, number: signal.Signals) -> None:
    if leader not in port.memory:
        real(leader, number)
        return
    with suppress(ProcessLookupError):
        os.kill(leader, number)


def notes_death(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    if outcome.exit < 0:
        port.memory[call] = outcome.exit
    return outcome


def keeps_turn_of_dead(port: Any, real: Any, call: Call, turn: str | None) -> None:
    if call not in port.memory:
        real(call, turn)


def answers_second(port: Any, real: Any, call: Call) -> None:
    if call.is_cancelled:
        port.send_error(call.id, REQUEST_CANCELLED, "The request is cancelled already.")
    real(call)


defect(
    "latest-line-collapses-dots",
    "Takes `..` out of a path before it follows links, so replies to latest in `link/..` and its target overlap.",
    "concurrency:latest",
)(turn=takes(lambda texts: {**texts, "cwd": os.path.normpath(texts.get("cwd", "."))}))
defect(
    "slot-lost-by-refusal",
    "Loses one of its eight places with each call that it refuses; after eight of them no call is served.",
    "concurrency:after-failure",
)(execute=keeps_slot)
defect(
    "list-ended-alone",
    "Ends the process that lists the sessions without the rest of its group, when a call or the port is ended.",
    "cancel:group",
    "shutdown:stdin-end:group",
)(begin=notes_list, signal_group=signals_list_alone)
defect(
    "turn-kept-after-signal",
    "Keeps the turn of a reply whose gemini died by a signal, so that no later reply in that session is served.",
    "concurrency:after-failure",
)(run_prompt=notes_death, end_turn=keeps_turn_of_dead)
defect(
    "cancelled-twice-answered",
    "Answers a call with an error when a second cancellation comes before its gemini has ended.",
    "cancel:unanswered",
)(cancel=answers_second)
