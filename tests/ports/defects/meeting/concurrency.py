"""Calls side by side that have one thing more in common: ports that break `concurrency`."""

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from threading import Semaphore
from typing import Any

from answering import Failure, Outcome
from conditions import REVISION, failed, speaks
from defects.meeting.shared import shared
from defects.record import defect
from http_port import HttpPort
from planning import Plan
from running import Call, Cancelled
from speaking import Message
from steps import Change, Step, before, gives

models: dict[str, threading.Lock] = {}
tokens = threading.Lock()


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


def takes_for_retry(port: Any, real: Any, call: Call) -> Any:
    return shared(port, repr((call.id, call.tool, call.arguments)), partial(real, call))


def one_a_model(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    model = call.arguments.get("model")
    if not isinstance(model, str) or not model:
        return real(call, plan)
    with models.setdefault(model, threading.Lock()):
        return real(call, plan)


def one_token(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    if call.token is None:
        return real(call, plan)
    with tokens:
        return real(call, plan)


def behind_chats(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    """A `chat` that runs will have the latest session."""
    earlier = [each for each in list(port.calls) if each.tool == "chat" and each is not call]
    while plan.session == "latest" and not call.is_cancelled and any(each in port.calls for each in earlier):
        time.sleep(0.02)
    return real(call, plan)


def eight_slots(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    slots = port.memory.setdefault("slots", threading.Semaphore(8))
    slots.acquire()
    if call.is_cancelled:
        raise Cancelled
    try:
        return real(call, plan)
    finally:
        slots.release()


def apart_when_empty(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    is_apart = tool == "chat-reply" and arguments.get("sessionId") == ""
    return replace(plan, turn=f"{plan.turn}, by nothing") if is_apart else plan


def latest_by_written_path(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    is_said = tool == "chat-reply" and texts.get("sessionId") == "latest" and "cwd" in texts
    return f"latest in {texts['cwd']}" if is_said else real(tool, texts)


def line_by_eight(turn: str | None) -> str | None:
    return turn if turn is None or turn.startswith("latest in ") else turn[:8]


def wakes_one(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Wakes whoever has waited longest, in whatever line."""
    if turn is None:
        return
    with port.turn_changed:
        line = port.turns[turn]
        line.remove(call)
        if not line:
            del port.turns[turn]
        port.turn_changed.notify()


def by_first_block(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    session = texts.get("sessionId", "")
    is_long = tool == "chat-reply" and len(session) == 36
    return session.split("-")[0] if is_long else real(tool, texts)


def overlapping_in(revision: str) -> Step:
    return lambda port, real, tool, texts: None if speaks(port, revision) else real(tool, texts)


def notes_failed_session(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    if failed(call, result):
        port.memory.setdefault("failed", []).append(call.arguments.get("sessionId"))
    return result


def free_after_failure(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    return None if texts.get("sessionId", "") in port.memory.get("failed", ()) else real(tool, texts)


def frees_head(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Releases a lock that a call which only waited never had."""
    with port.turn_changed:
        line = port.turns.get(turn or "", [])
        if call in line[1:]:
            line.pop(0)
    real(call, turn)


def forgets_locks(most: int) -> Change | Step:
    """Only so many locks are kept; the one that was used longest ago goes, whoever holds it."""

    def forgets(port: Any, call: Call, turn: str | None) -> None:
        with port.turn_changed:
            used = port.memory.setdefault("used", dict[str, None]())
            used.pop(turn, None)
            if turn is not None:
                used[turn] = None
            if len(used) > most:
                oldest = next(iter(used))
                del used[oldest]
                port.turns.pop(oldest, None)

    return forgets


def takes_those_before_along(port: Any, real: Any, call: Call, turn: str | None) -> None:
    with port.turn_changed:
        line = port.turns.get(turn or "", [])
        if call.is_cancelled and call in line:
            del line[: line.index(call)]
    real(call, turn)


def turn_of_repository(port: Any, real: Any, tool: str, texts: Any) -> Any:
    turn = real(tool, texts)
    if tool != "chat-reply" or port.resumed(texts) != "latest":
        return turn
    place = os.path.realpath(texts.get("cwd", "."))
    while not os.path.exists(os.path.join(place, ".git")):
        if place == os.path.dirname(place):
            return turn
        place = os.path.dirname(place)
    return f"latest in {place}"


defect(
    "cancelled-call-keeps-slot",
    "Runs eight gemini at once, and one less after each call that was cancelled.",
    "concurrency:calls",
    "cancel:others",
)(run_prompt=keeps_slot)
defect("one-call-per-model", "Serves one call after the other that names the same model.", "concurrency:calls")(
    run_prompt=one_a_model
)
defect("one-call-with-progress", "Serves one call after the other that asks for progress.", "concurrency:calls")(
    run_prompt=one_token
)
defect(
    "latest-waits-for-chats",
    "Lets a reply to the latest session wait until no earlier `chat` runs.",
    "concurrency:calls",
)(run_prompt=behind_chats)
defect(
    "slot-lost-to-cancelled-waiter",
    "Runs eight gemini at once, and one less for each call that is cancelled before its gemini starts.",
    "concurrency:calls",
    "concurrency:lost",
)(run_prompt=eight_slots)
defect(
    "empty-session-in-line-of-its-own",
    "Lets replies overlap in the latest session when one has an empty id and the other has none.",
    "concurrency:latest",
)(plan=apart_when_empty)
defect(
    "said-latest-by-written-path",
    "Takes the directory as it is written, link or not, for the turn of a reply that says `latest` itself.",
    "concurrency:latest",
)(turn=latest_by_written_path)
defect("sessions-without-case", "Takes sessions that differ in case for one.", "concurrency:other-session")(
    turn=gives(lambda turn: turn and turn.lower())
)
defect(
    "session-line-by-eight-letters",
    "Lets replies wait for each other when the ids of their sessions begin with the same eight letters.",
    "concurrency:other-session",
)(turn=gives(line_by_eight))
defect(
    "turn-wakes-wrong-line",
    "Wakes the reply that has waited longest when a turn ends, so one session waits for the end of another's turn.",
    "concurrency:other-session",
)(end_turn=wakes_one)
defect(
    "turn-by-first-block-of-uuid",
    "Takes two sessions whose UUIDs begin with the same block for one, and lets their replies wait for each other.",
    "concurrency:other-session",
)(turn=by_first_block)
defect(
    "replies-overlap-in-2024-11-05",
    "Lets replies in the same session overlap for clients of 2024-11-05.",
    "concurrency:same-session",
)(initialize=REVISION, turn=overlapping_in("2024-11-05"))
defect(
    "session-free-after-failure",
    "Lets replies of a session run at once after one of them has failed.",
    "concurrency:same-session",
)(execute=notes_failed_session, turn=free_after_failure)
defect(
    "cancelled-waiter-frees-head",
    "Starts the next reply of a session beside the one that runs when one that waits between them is cancelled.",
    "concurrency:same-session",
    "concurrency:latest",
)(end_turn=frees_head)
defect("locks-forgotten", "Forgets the lock of a session when sixteen others were used.", "concurrency:same-session")(
    take_turn=before(forgets_locks(16))
)
defect(
    "locks-of-64-sessions",
    "Forgets the lock of a session when sixty-four others were used.",
    "concurrency:same-session",
)(take_turn=before(forgets_locks(64)))
defect(
    "cancelled-waiter-takes-running-along",
    "Lets the third reply of a session start beside the first when the second is cancelled while it waits.",
    "concurrency:same-session",
)(end_turn=takes_those_before_along)
defect(
    "latest-of-a-repository",
    "Lets replies to the latest sessions of two directories wait for each other that lie in one git repository.",
    "concurrency:other-session",
)(turn=turn_of_repository)
defect(
    "equal-call-of-another-client-shared",
    "Takes a call for one that is sent again while another client waits for the same one under the same id.",
    "concurrency:calls",
    "command:once",
)(HttpPort, execute=takes_for_retry)
