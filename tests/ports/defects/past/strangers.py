"""Defects in calls that pay for what somebody else's call, line or session has left behind."""

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import IO, Any

from answering import PREFIX, Answer, Failure, Outcome
from conditions import altering, is_named
from defects.record import defect
from http_port import HttpPort
from planning import Plan, Refusal
from running import Call, Cancelled
from speaking import PARSE_ERROR, Message
from steps import notes

BREAK_SECONDS = 60.0


def follows_new_name(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    new = port.memory.get(plan.session)
    if new is not None:
        plan = altering("-r", lambda _: new)(replace(plan, session=new))
    answer = real(call, plan)
    if is_named(plan) and answer.session not in (None, plan.session):
        port.memory[plan.session] = answer.session
    return answer


def refuses_what_was_gone(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    known = port.memory.get(plan.session)
    if known is not None:
        raise Failure(known, "")
    try:
        return real(call, plan)
    except Failure as failure:
        if is_named(plan) and "does not know this session" in failure.sentence:
            port.memory[plan.session] = failure.sentence
        raise


def breaks_circuit(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Spares the API after three errors about the quota in a row."""
    row, since = port.memory.get("row", (0, 0.0))
    if row >= 3 and time.monotonic() < since + BREAK_SECONDS:
        raise Failure("The quota of the Gemini API is used up. Wait a minute.", "")
    try:
        answer = real(call, plan)
    except Failure as failure:
        port.memory["row"] = (row + 1 if "quota" in failure.sentence else 0, time.monotonic())
        raise
    port.memory.pop("row", None)
    return answer


def keeps_turn_of_refused(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    session = call.arguments.get("sessionId")
    is_cwd = result.get("isError") and result["content"][0]["text"].startswith(f"{PREFIX}`cwd`")
    if call.tool == "chat-reply" and is_cwd and session:
        with port.turn_changed:
            port.turns.setdefault(session, []).insert(0, call)
    return result


def keeps_model_of_refused(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    try:
        return real(tool, texts)
    except Refusal:
        if "model" in texts:
            port.memory[tool] = texts["model"]
        raise


def takes_model_of_refused(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    left = port.memory.pop(tool, None)
    return real(tool, texts if left is None else {"model": left, **texts})


def keeps_stdin_of_cancelled(port: Any, real: Any, call: Call, *options: Any) -> Outcome:
    try:
        return real(call, *options)
    except Cancelled:
        _argv, _cwd, _env, stdin, _timeout = options
        port.memory["left"] = stdin or ""
        raise


def writes_over_left(port: Any, real: Any, text: str | None) -> IO[bytes]:
    """As into a file that is not made empty first."""
    return real(text if text is None else text + port.memory.pop("left", "")[len(text) :])


def link_read_once(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    cwd = real(tool, texts)
    return cwd and port.memory.setdefault(cwd, os.path.realpath(cwd))


def clears_token_like_id(port: Any, real: Any, message: Message) -> None:
    """Keeps ids and tokens in one table, from which a response takes what bears its id."""
    real(message)
    if "method" not in message:
        for call in list(port.calls):
            if type(call.token) is type(message["id"]) and call.token == message["id"]:
                call.token = None


def forgets_calls(port: Any, real: Any, identity: Any, code: int, message: str) -> None:
    if code == PARSE_ERROR:
        port.memory["forgotten"] = set(port.calls)
    real(identity, code, message)


def cancels_what_it_knows(port: Any, real: Any, call: Call) -> None:
    if call not in port.memory.get("forgotten", ()):
        real(call)


def in_era_of_latest(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    return real(result, stateless and port.memory["era"])


def remembers_four_ended(port: Any, real: Any, session: str | None) -> None:
    real(session)
    ended = port.memory.setdefault("ended", [])
    ended.extend([session] if session else [])
    if len(ended) > 4:
        port.sessions.add(ended.pop(0))


def disconnects_by_id(port: Any, real: Any, call: Call) -> None:
    for each in list(port.calls):
        if each.stateless and each.id == call.id:
            real(each)


defect(
    "renamed-session-followed",
    "Resumes the session that gemini named in an earlier reply in the place of the one that the call names.",
    "command:chat-reply:session-id",
)(ask=follows_new_name)
defect(
    "gone-session-gone-everywhere",
    "Answers a reply in a session that gemini once did not know with that error again, whatever the directory is.",
    "command:once",
    "command:chat-reply:session-id",
)(ask=refuses_what_was_gone)
defect(
    "circuit-broken-by-quota",
    "Runs no gemini for a minute after three calls in a row have failed because of the quota.",
    "concurrency:after-failure",
    "command:chat",
)(ask=breaks_circuit)
defect(
    "refused-directory-keeps-turn",
    "Lets a session's replies wait forever after one of them has been refused for its `cwd`.",
    "concurrency:after-failure",
    "command:chat-reply",
)(execute=keeps_turn_of_refused)
defect(
    "model-of-refused-lingers",
    "Passes the model of a call that was refused for its `cwd` when the next call of the tool names none.",
    "command:chat:no-model",
    "command:chat-reply:no-model",
)(cwd=keeps_model_of_refused, model_option=takes_model_of_refused)
defect(
    "rest-of-cancelled-stdin",
    "Ends a long prompt with the rest of a longer one if the call of that one was cancelled.",
    "prompt:long",
)(run=keeps_stdin_of_cancelled, input=writes_over_left)
defect(
    "link-read-once",
    "Runs gemini where a link led when a call first named it, though it leads elsewhere now.",
    "cwd:used",
)(cwd=link_read_once)
defect(
    "response-ends-token-like-its-id",
    "Reports no more progress of a running call once another request has been answered whose id equals its token.",
    "progress:interval",
)(write=clears_token_like_id)
defect(
    "broken-line-forgets-calls",
    "Does not cancel a call during which a line arrived that is no JSON.",
    "cancel:child",
    "rpc:alive:malformed",
)(send_error=forgets_calls, cancel=cancels_what_it_knows)
defect(
    "result-in-era-of-latest-request",
    "Answers a stateless call without `resultType` when a request of the older era came while it ran.",
    "stateless:result-type",
    "stateless:server-info",
)(is_stateless=notes("era"), finished=in_era_of_latest)
defect(
    "ended-session-back-after-four",
    "Serves a session again that has been ended once four others have been ended since.",
    "http:session:ended",
)(HttpPort, end_session=remembers_four_ended)
defect(
    "disconnect-by-request-id",
    "Cancels the stateless requests of all clients that have the id of the one whose connection has ended.",
    "cancel:others",
)(HttpPort, disconnected=disconnects_by_id)
