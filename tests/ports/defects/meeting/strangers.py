"""Defects where calls that know nothing of each other meet: in a line, in a list, in a file, or at the end."""

import os
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import IO, Any

from answering import Outcome
from defects.record import defect
from planning import Plan
from running import LISTING_TIMEOUT, Call, Cancelled
from speaking import as_object

BLOCK = 131_072
"""Bytes of 65,536 units of UTF-16."""


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


def takes_those_before_along(port: Any, real: Any, call: Call, turn: str | None) -> None:
    with port.turn_changed:
        line = port.turns.get(turn or "", [])
        if call.is_cancelled and call in line:
            del line[: line.index(call)]
    real(call, turn)


def by_first_block(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    session = texts.get("sessionId", "")
    is_long = tool == "chat-reply" and len(session) == 36
    return session.split("-")[0] if is_long else real(tool, texts)


def latest_by_written_path(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    is_said = tool == "chat-reply" and texts.get("sessionId") == "latest" and "cwd" in texts
    return f"latest in {texts['cwd']}" if is_said else real(tool, texts)


def in_line_of_any_session(port: Any, real: Any, call: Call, turn: str | None) -> None:
    session = call.arguments.get("sessionId")
    real(call, session if turn is None and isinstance(session, str) and session else turn)


def forgets_who_waits(port: Any, real: Any, call: Call) -> None:
    if not (port.is_ending and any(call in line[1:] for line in port.turns.values())):
        real(call)


def leaves_cancelled_alone(port: Any, real: Any) -> None:
    """Gives them just the time to end at SIGTERM."""
    if port.calls and all(call.is_cancelled for call in port.calls):
        time.sleep(0.1)
        os._exit(0)
    real()


def file_before_turn(port: Any, real: Any, call: Call, turn: str | None) -> None:
    real(call, turn)
    if call.is_cancelled and "systemPrompt" in call.arguments:
        # As if it had been written before the wait.
        port.write_system(call.arguments["systemPrompt"])


def one_file_for_equal_texts(port: Any, real: Any, text: str) -> str:
    path = port.memory.get(text)
    if path is None or not os.path.exists(path):
        path = port.memory[text] = real(text)
    return path


def joins_listing(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """Takes the list for which another call is waiting already."""
    running = port.memory.get("listing")
    if running is not None:
        return running.result()
    port.memory["listing"] = future = Future[Outcome | None]()
    listing = None
    try:
        listing = real(call, plan)
        return listing
    finally:
        del port.memory["listing"]
        future.set_result(listing)


def one_listing_at_a_time(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """Counts the wait for the other lists to the time that the list may take."""
    lock = port.memory.setdefault("lock", threading.Lock())
    if not lock.acquire(timeout=LISTING_TIMEOUT):
        return None
    try:
        return real(call, plan)
    finally:
        lock.release()


def eight_slots(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    slots = port.memory.setdefault("slots", threading.Semaphore(8))
    slots.acquire()
    if call.is_cancelled:
        raise Cancelled
    try:
        return real(call, plan)
    finally:
        slots.release()


def falsy_ids_alike(port: Any, real: Any, method: str, params: Any) -> None:
    wanted = (as_object(params) or {}).get("requestId")
    if method != "notifications/cancelled" or wanted is None or wanted:
        real(method, params)
        return
    for call in list(port.calls):
        if not call.id:
            port.cancel(call)


def counts_from_turn(port: Any, real: Any, call: Call, turn: str | None) -> None:
    has_to_wait = bool(port.turns.get(turn))
    real(call, turn)
    if has_to_wait:
        call.progress = 0


def in_blocks_of_units(port: Any, real: Any, text: str | None) -> IO[bytes]:
    if text is None:
        return real(text)
    units = text.encode("utf-16-le")
    return real("".join(units[at : at + BLOCK].decode("utf-16-le", "replace") for at in range(0, len(units), BLOCK)))


def removes_its_own_file(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    with suppress(FileNotFoundError):
        os.remove(path)
    with suppress(OSError):
        os.rmdir(os.path.dirname(path))


defect(
    "turn-wakes-wrong-line",
    "Wakes the reply that has waited longest when a turn ends, so one session waits for the end of another's turn.",
    "concurrency:other-session",
)(end_turn=wakes_one)
defect(
    "cancelled-waiter-takes-running-along",
    "Lets the third reply of a session start beside the first when the second is cancelled while it waits.",
    "concurrency:same-session",
)(end_turn=takes_those_before_along)
defect(
    "turn-by-first-block-of-uuid",
    "Takes two sessions whose UUIDs begin with the same block for one, and lets their replies wait for each other.",
    "concurrency:other-session",
)(turn=by_first_block)
defect(
    "said-latest-by-written-path",
    "Takes the directory as it is written, link or not, for the turn of a reply that says `latest` itself.",
    "concurrency:latest",
)(turn=latest_by_written_path)
defect(
    "chat-in-line-of-undeclared-session",
    "Lets a chat wait for the replies of the session that its undeclared `sessionId` names.",
    "arguments:unknown",
    "concurrency:calls",
)(take_turn=in_line_of_any_session, end_turn=in_line_of_any_session)
defect(
    "waiting-reply-begins-at-end",
    "Lets a reply that waits in its session start gemini when the end of the server has ended the one before it.",
    "shutdown:stdin-end:group",
    "shutdown:sigterm:group",
)(end=forgets_who_waits)
defect(
    "end-in-grace-of-cancellation",
    "Exits at once when all calls that are left have been cancelled, though a gemini may still ignore SIGTERM.",
    "shutdown:stdin-end:ignored-term",
    "cancel:ignored-term",
)(shut_down=leaves_cancelled_alone)
defect(
    "file-of-cancelled-waiter-stays",
    "Leaves the file for the system prompt of a reply that is cancelled while it waits for its turn.",
    "system:removed:cancel",
)(take_turn=file_before_turn)
defect(
    "equal-system-prompts-share-file",
    "Gives two concurrent calls with the same system prompt one file, which the first to end removes.",
    "system:life",
    "system:directory",
)(write_system=one_file_for_equal_texts)
defect(
    "listing-joined-across-directories",
    "Gives a call the list that another call asks for at the same time, though in another directory.",
    "fallback:list-sessions",
    "fallback:cwd",
)(list_sessions=joins_listing)
defect(
    "listing-times-out-in-line",
    "Asks for one list at a time, and gives up a list that has not begun within five seconds.",
    "fallback:list-sessions",
)(list_sessions=one_listing_at_a_time)
defect(
    "slot-lost-to-cancelled-waiter",
    "Runs eight gemini at once, and one less for each call that is cancelled before its gemini starts.",
    "concurrency:calls",
    "concurrency:lost",
)(run_prompt=eight_slots)
defect(
    "falsy-ids-are-one",
    "Cancels the call with the id 0 when the one with the empty id is cancelled, and the other way round.",
    "cancel:others",
)(notified=falsy_ids_alike)
defect(
    "progress-anew-after-wait",
    "Counts progress from the beginning again when a reply that had to wait gets its turn.",
    "progress:increase",
)(take_turn=counts_from_turn)
defect(
    "stdin-block-cuts-surrogate-pair",
    "Writes a long prompt in blocks of 65,536 UTF-16 units, and damages an emoji that lies across the end of one.",
    "prompt:long",
    "prompt:verbatim:unicode",
)(input=in_blocks_of_units)
defect(
    "directory-with-guest-stays",
    "Leaves the directory of the system prompt when gemini has put a file of its own into it.",
    "system:removed:success",
    "system:removed:failure",
)(remove_system=removes_its_own_file)
