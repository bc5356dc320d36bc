"""Defects of calls that meet: others beside them, in one line with them, and arguments that come together."""

import os
import time
from collections.abc import Mapping
from concurrent.futures import Future
from threading import Semaphore
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import altering
from defects.record import defect
from planning import PROPERTIES, Plan
from port import PROGRESS_SECONDS
from running import Call
from speaking import Message, as_object
from steps import gives, notes


def frees_head(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Releases a lock that a call which only waited never had."""
    with port.turn_changed:
        line = port.turns.get(turn or "", [])
        if call in line[1:]:
            line.pop(0)
    real(call, turn)


def pins_latest(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    where = os.path.realpath(plan.cwd or ".")
    beside = [each for each in list(port.calls) if each.tool == "chat"]
    last = port.memory.get(where)
    is_moving = any(each.arguments.get("cwd") == call.arguments.get("cwd") for each in beside)
    is_pinned = plan.session == "latest" and last and is_moving
    answer = real(call, altering("-r", lambda _: last)(plan) if is_pinned else plan)
    port.memory[where] = answer.session or last
    return answer


def keeps_slot(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """Gives its slot back when gemini ends or fails, but not when the call is cancelled."""
    slots = port.memory.setdefault("slots", Semaphore(8))
    slots.acquire()
    try:
        outcome = real(call, plan)
    except Failure:
        slots.release()
        raise
    slots.release()
    return outcome


def tells_turn(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Says that the turn has come, also to a call that waits no longer because it is cancelled."""
    has_to_wait = turn in port.turns
    real(call, turn)
    if has_to_wait and call.token is not None:
        with port.output:
            call.progress += 1
            port.write(port.progress(call))


def notes_era(port: Any, real: Any, message: Any) -> None:
    params = as_object((as_object(message) or {}).get("params")) or {}
    port.memory["era"] = port.is_stateless(params)
    real(message)


def in_latest_era(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    return real(result, port.memory["era"])


def hides_latest(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Knows the prompt of the call that failed, and the system prompt of the latest."""
    return real(text, (*private[:1], *port.memory.get("system", ())))


def joins_long(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Does not send a long prompt twice at the same time."""
    if plan.stdin is None:
        return real(call, plan)
    own: Future[Answer] = Future()
    first = port.memory.setdefault(plan, own)
    if first is not own:
        return first.result()
    try:
        own.set_result(real(call, plan))
    except BaseException as error:
        own.set_exception(error)
    finally:
        port.memory.pop(plan)
    return own.result()


def skips_after_empty(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Removes empty ones from the list that it walks through, and so passes over the next."""
    texts = real(tool, arguments)
    was_removed = False
    for name in [name for name in arguments if name in PROPERTIES[tool]]:
        if was_removed:
            texts[name] = arguments[name]
        was_removed = name not in texts
    return texts


def by_one_clock(port: Any, real: Any, call: Call) -> None:
    now = time.monotonic()
    if call.progress:
        if now < port.memory.get("next", 0.0):
            return
        port.memory["next"] = now + PROGRESS_SECONDS
    real(call)


def ends_in_a_row(port: Any, real: Any, call: Call) -> None:
    if not port.is_ending:
        real(call)
        return
    for each in list(port.calls):
        each.is_cancelled = True
    with port.turn_changed:
        port.turn_changed.notify_all()
    port.stop(call)


def line_by_eight(turn: str | None) -> str | None:
    return turn if turn is None or turn.startswith("latest in ") else turn[:8]


defect(
    "session-line-by-eight-letters",
    "Lets replies wait for each other when the ids of their sessions begin with the same eight letters.",
    "concurrency:other-session",
)(turn=gives(line_by_eight))
defect(
    "cancelled-waiter-frees-head",
    "Starts the next reply of a session beside the one that runs when one that waits between them is cancelled.",
    "concurrency:same-session",
    "concurrency:latest",
)(end_turn=frees_head)
defect(
    "latest-pinned-beside-chat",
    "Resumes the session last reported in a directory, not `latest`, while a chat runs in that directory.",
    "command:chat-reply:latest",
)(ask=pins_latest)
defect(
    "cancelled-call-keeps-slot",
    "Runs eight gemini at once, and one less after each call that was cancelled.",
    "concurrency:calls",
    "cancel:others",
)(run_prompt=keeps_slot)
defect(
    "turn-told-to-cancelled-waiter",
    "Tells progress of a reply with a token that is cancelled while it waits for its turn.",
    "stateless:cancelled",
    "progress:token",
)(take_turn=tells_turn)
defect(
    "era-of-latest-message",
    "Shapes the result of a call by the era of the message that came last, which may be a bare notification.",
    "stateless:result-type",
    "stateless:server-info",
)(dispatch=notes_era, finished=in_latest_era)
defect(
    "system-prompt-of-latest-withheld",
    "Withholds from an error the system prompt of the call that began last, not that of the one that failed.",
    "error:prompt",
)(plan=notes("system", lambda plan: plan.private[1:]), redacted=hides_latest)
defect(
    "long-prompts-joined",
    "Answers a call from the run of an equal one that is under way when their prompt goes to stdin.",
    "prompt:long:whole",
    "command:once",
)(ask=joins_long)
defect(
    "second-of-two-empty-kept",
    "Takes an empty argument for one that is present when the argument before it was empty too.",
    "system:absent",
    "arguments:empty:cwd",
)(texts=skips_after_empty)
defect(
    "one-clock-for-progress",
    "Tells only the first of several long calls with tokens how it goes on, since they share one clock.",
    "progress:interval",
)(report_progress=by_one_clock)
defect(
    "calls-ended-in-a-row",
    "Gives every gemini its time to end after the one before, so that several stubborn ones delay the exit.",
    "shutdown:prompt",
)(end=ends_in_a_row)
