"""Defects that show late: beside other calls, while a reply waits or a list runs, after a cancellation or a failure."""

import os
import sys
import threading
import time
from dataclasses import replace
from typing import IO, Any

from answering import Failure, Outcome
from conditions import is_refusal, keeps_turn, noted_alone
from defects.record import defect
from planning import Plan
from port import META
from running import LIST, Call, Cancelled
from speaking import Message
from steps import takes

SLOTS, UNSTARTED = 8, 16
REQUEST_CANCELLED = -32800
LOCK = threading.Lock()


def keeps_slot(port: Any, real: Any, call: Call) -> Message:
    slots = port.memory.setdefault("slots", threading.Semaphore(SLOTS))
    slots.acquire()
    result = None
    try:
        result = real(call)
        return result
    finally:
        if result is None or not is_refusal(result):
            slots.release()


def notes_list(port: Any, real: Any, call: Call, argv: tuple[str, ...], *others: Any) -> Any:
    process = real(call, argv, *others)
    if LIST in argv:
        port.memory[process.pid] = LIST
    return process


def notes_death(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    if outcome.exit < 0:
        port.memory[call] = outcome.exit
    return outcome


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
)(begin=notes_list, signal_group=noted_alone)
defect(
    "turn-kept-after-signal",
    "Keeps the turn of a reply whose gemini died by a signal, so that no later reply in that session is served.",
    "concurrency:after-failure",
)(run_prompt=notes_death, end_turn=keeps_turn)
defect(
    "cancelled-twice-answered",
    "Answers a call with an error when a second cancellation comes before its gemini has ended.",
    "cancel:unanswered",
)(cancel=answers_second)


def token_as_number(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    if call.progress > 1 and isinstance(call.token, str) and call.token.isdecimal():
        message["params"]["progressToken"] = int(call.token)
    return message


def line_forgotten(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Forgets the line with the cancelled call when nobody stands behind it."""
    with port.turn_changed:
        if call.is_cancelled and turn is not None and port.turns.get(turn, [])[1:] == [call]:
            del port.turns[turn]
    real(call, turn)


def slot_kept(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """Gives the slot of a gemini that does not start back to nobody."""
    while port.memory.get("lost", 0) >= UNSTARTED:
        if call.is_cancelled:
            raise Cancelled
        time.sleep(0.1)
    try:
        return real(call, plan)
    except Failure as failure:
        if failure.stderr is None:
            with LOCK:
                port.memory["lost"] = port.memory.get("lost", 0) + 1
        raise


def server_untold(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    finished = real(result, stateless)
    meta = finished.get("_meta", {})
    if stateless and "warnings" in meta and "sessionId" not in meta:
        del meta[f"{META}serverInfo"]
    return finished


def system_of_first(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """Knows the system prompts that are in use by the rest of their calls."""
    if plan.system is None:
        return real(call, plan)
    key = (plan.argv, plan.cwd, plan.stdin)
    with LOCK:
        first = port.memory.setdefault("systems", {}).setdefault(key, plan)
    try:
        return real(call, replace(plan, system=first.system))
    finally:
        with LOCK:
            if port.memory["systems"].get(key) is plan:
                del port.memory["systems"][key]


def discarded_aloud(port: Any, real: Any, call: Call, exit: int, out: IO[bytes], err: IO[bytes]) -> Outcome:
    """Logs what came for nobody."""
    if call.is_cancelled and not port.is_ending and exit == 0:
        out.seek(0)
        print("discarded:", out.read().decode("utf-8", "replace"), file=sys.stderr, flush=True)
    return real(call, exit, out, err)


defect(
    "later-token-as-number",
    "Sends a token that is a text of digits as a number, from the second notification on.",
    "progress:increase",
)(progress=token_as_number)
defect(
    "line-forgotten-with-cancelled",
    "Lets a reply run beside an earlier one of its session when one that waited between them was cancelled.",
    "concurrency:same-session",
)(end_turn=line_forgotten)
defect(
    "slot-of-unstarted-kept",
    "Answers no call any more after 16 in which gemini could not be started.",
    "concurrency:after-failure",
)(run_prompt=slot_kept)
defect(
    "server-untold-beside-warnings",
    "Names no server in a stateless result with warnings and without a session.",
    "stateless:server-info",
)(finished=server_untold)
defect(
    "system-of-equal-call",
    "Hands a call the system prompt of another one that runs and is equal in all other arguments.",
    "system:isolation",
)(run_prompt=system_of_first)
defect(
    "discarded-answer-logged",
    "Writes the answer of a cancelled gemini that ends with 0 to its stderr.",
    "stdio:stderr:private",
)(outcome=discarded_aloud)
