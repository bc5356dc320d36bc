"""Defects in who waits for whom, who is told what, and what is left when a call or the port ends in an odd moment."""

import signal
import time
from collections import OrderedDict
from typing import Any

from conditions import refused
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message, as_object

KNOWN_SESSIONS = 8


def behind_predecessor(port: Any, real: Any, call: Call, turn: str) -> None:
    """A chain of promises: each waits for the one before it to settle, however it settles."""
    line = port.turns[turn]
    previous = line[-2] if len(line) > 1 else None
    port.turn_changed.wait_for(lambda: previous not in line or call.is_cancelled)


def takes_permit(port: Any, real: Any, call: Call, turn: str) -> None:
    line = port.turns[turn]
    port.turn_changed.wait_for(lambda: line.index(call) < port.memory.get(turn, 1) or call.is_cancelled)
    port.memory[call] = not call.is_cancelled


def gives_permit_twice(port: Any, real: Any, call: Call, turn: str | None) -> None:
    if turn is not None and port.memory.pop(call, False) and call.is_cancelled:
        port.memory[turn] = port.memory.get(turn, 1) + 1
    real(call, turn)


def of_known_sessions(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    turn = real(tool, texts)
    if turn is None:
        return None
    with port.turn_changed:
        known = port.memory.setdefault("known", OrderedDict[str, str]())
        number = port.memory["number"] = port.memory.get("number", 0) + 1
        lock = known.setdefault(turn, f"{turn} {number}")
        known.move_to_end(turn)
        if len(known) > KNOWN_SESSIONS:
            known.popitem(last=False)
    return lock


def strictly(port: Any, real: Any, method: str, params: Any) -> None:
    if method != "notifications/cancelled" or set(as_object(params) or {}) <= {"requestId", "reason"}:
        real(method, params)


def tells_end(port: Any, real: Any, call: Call, result: Message) -> None:
    real(call, result)
    if refused(call, result) and call.token is not None:
        call.progress += 1
        port.send(port.progress(call))


def with_token_of_session(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Call:
    call = real(identity, params, stateless)
    session = call.arguments.get("sessionId")
    if call.tool == "chat-reply" and isinstance(session, str) and session:
        if call.token is None:
            call.token = port.memory.get(session)
        port.memory[session] = call.token
    return call


def open_to_hangup(port: Any, real: Any) -> None:
    if not port.ended_by_signal:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    real()


def counts_listing(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    port.memory[call] = "listing"
    try:
        return real(call, plan)
    finally:
        del port.memory[call]


def behind_listings(port: Any, real: Any, params: Any, stateless: bool) -> Message:
    while port.memory:
        time.sleep(0.05)
    return real(params, stateless)


defect(
    "turn-behind-predecessor-alone",
    "Lets a reply begin as soon as the one before it in the line is gone, also when that was cancelled as it waited.",
    "concurrency:same-session",
    "concurrency:latest",
)(await_turn=behind_predecessor)
defect(
    "turn-given-back-twice",
    "Lets one more reply run at the same time in a session in which a running reply has been cancelled.",
    "concurrency:same-session",
    "concurrency:latest",
)(await_turn=takes_permit, end_turn=gives_permit_twice)
defect(
    "turns-of-eight-sessions",
    "Forgets who runs in the session that was named longest ago once a ninth is named.",
    "concurrency:same-session",
    "concurrency:latest",
)(turn=of_known_sessions)
defect(
    "cancellation-with-extras-dropped",
    "Ignores a cancellation with anything beside the id and the reason, such as `_meta`.",
    "cancel:child",
)(notified=strictly)
defect(
    "progress-behind-refusal",
    "Tells progress once more behind the answer to a call for which nothing was started.",
    "progress:end",
)(answer=tells_end)
defect(
    "token-inherited-in-session",
    "Tells progress of a reply without a token to the token of the reply before it in the same session.",
    "progress:unasked",
    "progress:token",
)(new_call=with_token_of_session)
defect(
    "hangup-kills-farewell",
    "Dies of a SIGHUP that follows the end of stdin before it has killed a gemini that ignores SIGTERM.",
    "shutdown:stdin-end:ignored-term",
    "shutdown:sighup:group",
)(shut_down=open_to_hangup)
defect(
    "tools-behind-sessions",
    "Answers `tools/list` only when no list of sessions is being asked for.",
    "concurrency:list",
)(list_sessions=counts_listing, list_tools=behind_listings)
