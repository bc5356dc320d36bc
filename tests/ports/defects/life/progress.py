"""Progress that goes on too long, comes unasked or names another token: ports that break `progress`."""

import time
from typing import Any
from unicodedata import normalize

from conditions import refused
from defects.life.shared import TICK, tells
from defects.record import defect
from running import Call
from speaking import Message, as_object
from steps import after, gives, notes


def done_after_failure(port: Any, real: Any, call: Call, result: Message) -> None:
    real(call, result)
    if result.get("isError") and call.token is not None and call.progress > 1 and not call.is_cancelled:
        call.progress += 1
        with port.output:
            port.write(port.progress(call))


def told_for_list(port: Any, request: Message) -> None:
    """Tells progress of any request that has a token, when it is done."""
    token = (as_object((as_object(request.get("params")) or {}).get("_meta")) or {}).get("progressToken")
    if request["method"] != "tools/call" and port.is_id(token):
        params = {"progressToken": token, "progress": 1}
        port.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def tells_end(port: Any, real: Any, call: Call, result: Message) -> None:
    real(call, result)
    if refused(call, result) and call.token is not None:
        call.progress += 1
        port.send(port.progress(call))


def tells_the_end(port: Any, real: Any, call: Call, result: Message) -> None:
    real(call, result)
    if call.token is not None and not call.is_cancelled:
        call.progress += 1
        port.send(port.progress(call))


def second_as_text(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    if call.progress > 1:
        message["params"]["progressToken"] = str(message["params"]["progressToken"])
    return message


def token_of_32_bits(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    if isinstance(call.token, int) and call.progress > 1:
        message["params"]["progressToken"] = (call.token + 2**31) % 2**32 - 2**31
    return message


def notes_token(port: Any, real: Any, params: Any) -> Any:
    token = real(params)
    if token is not None:
        port.memory["latest"] = token
    return token


def with_latest_token(port: Any, real: Any, call: Call) -> None:
    call.token = None if call.token is None else port.memory["latest"]
    real(call)


def under_newest_token(port: Any, real: Any, call: Call) -> Message:
    newest, message = port.memory.get("newest"), real(call)
    if call.progress == 1 or newest is None:
        return message
    return {**message, "params": {**message["params"], "progressToken": newest}}


def told_to_the_one_before(port: Any, real: Any, call: Call, turn: str | None) -> None:
    line = list(port.turns.get(turn or "", ()))
    real(call, turn)
    if not line or line[-1].token is None or call.token is None:
        return
    earlier, deadline = line[-1], time.monotonic() + 1
    while not earlier.is_answered and time.monotonic() < deadline:
        time.sleep(TICK)
    with port.output:
        earlier.progress += 1
        port.write(port.progress(earlier))


def with_token_of_session(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Call:
    call = real(identity, params, stateless)
    session = call.arguments.get("sessionId")
    if call.tool == "chat-reply" and isinstance(session, str) and session:
        if call.token is None:
            call.token = port.memory.get(session)
        port.memory[session] = call.token
    return call


def lists_and_keeps_token(port: Any, real: Any, params: Any, stateless: bool) -> Message:
    if stateless:
        token = params["_meta"].get("progressToken")
        port.memory["token"] = token if port.is_id(token) else None
    return real(params, stateless)


def token_or_kept(port: Any, real: Any, params: Any) -> Any:
    token = real(params)
    return port.memory.get("token") if token is None and port.is_stateless(params) else token


def composed_token(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    if call.progress > 1 and isinstance(call.token, str):
        message["params"]["progressToken"] = normalize("NFC", call.token)
    return message


defect(
    "done-told-after-late-failure",
    "Tells progress once more behind the error of a call that has lasted long enough for a second progress.",
    "progress:end",
)(answer=done_after_failure)
defect(
    "progress-of-list-late",
    "Tells progress of a list of tools after its answer.",
    "progress:end",
    "progress:token",
)(requested=after(told_for_list))
defect(
    "progress-behind-refusal",
    "Tells progress once more behind the answer to a call for which nothing was started.",
    "progress:end",
)(answer=tells_end)
defect("progress-after-answer", "Tells after the answer that it is done.", "progress:end")(answer=tells_the_end)
defect("second-progress-under-text", "Tells all progress but the first under the text of a token.", "progress:token")(
    progress=second_as_text
)
defect(
    "token-wraps-later",
    "Cuts a number as token to 32 bits in every progress notification of a call but the first.",
    "progress:token",
)(progress=token_of_32_bits)
defect("token-as-text", "Sends the token as a string.", "progress:token")(
    progress=tells(lambda call: {"progressToken": str(call.token)})
)
defect("token-is-id", "Sends the id of the request where the token should be.", "progress:token")(
    progress=tells(lambda call: {"progressToken": call.id})
)
defect("latest-token-for-all", "Keeps one token for all calls that run.", "progress:token")(
    token=notes_token, report_progress=with_latest_token
)
defect("progress-under-newest-token", "Tells later progress under the token of the newest call.", "progress:token")(
    new_call=notes("newest", lambda call: call.token), progress=under_newest_token
)
defect(
    "turn-told-to-the-one-before",
    "Tells a reply that its turn has come under the token of the one before.",
    "progress:token",
    "progress:end",
)(take_turn=told_to_the_one_before)
defect(
    "token-composed-from-second",
    "Composes the accents of a token from the second progress notification on.",
    "progress:token",
)(progress=composed_token)
defect(
    "token-inherited-in-session",
    "Tells progress of a reply without a token to the token of the reply before it in the same session.",
    "progress:unasked",
    "progress:token",
)(new_call=with_token_of_session)
defect(
    "token-of-tools-list",
    "Tells progress of a 2026-07-28 call without a token under the token of the last tools/list.",
    "progress:unasked",
    "progress:token",
)(list_tools=lists_and_keeps_token, token=token_or_kept)
defect("progress-unasked", "Tells progress to those who did not ask.", "progress:unasked")(
    token=gives(lambda token: "progress" if token is None else token)
)
