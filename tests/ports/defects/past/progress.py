"""Progress that goes by an earlier token, number or call: ports that break `progress`."""

import math
import threading
import time
from collections.abc import Mapping
from typing import Any

from conditions import failed, is_refusal, marks, since
from defects.past.shared import MOMENT
from defects.record import defect
from port import PROGRESS_SECONDS
from running import Call
from speaking import Message, RpcError
from steps import after, always, before, on

TOKENS = 32


def tell_start(port: Any, call: Call) -> None:
    with port.output:
        if not call.is_cancelled:
            port.write(port.progress(call))


def starts_late(port: Any, real: Any, call: Call) -> None:
    """A timer tells of the start; nobody stops it when the call has ended before."""
    with port.output:
        is_first = call.token is not None and call not in port.memory
        if is_first:
            port.memory[call] = "told"
            call.progress, call.next_progress = 1, time.monotonic() + PROGRESS_SECONDS
    if is_first:
        timer = threading.Timer(MOMENT, tell_start, (port, call))
        timer.daemon = True
        timer.start()
    elif time.monotonic() >= call.next_progress:
        real(call)


def stops_timers(port: Any, call: Call) -> None:
    port.memory.update(dict.fromkeys(port.calls, "stopped"))


def unless_stopped(port: Any, real: Any, call: Call) -> None:
    if call in port.memory:
        call.next_progress = math.inf
    else:
        real(call)


def one_timer(port: Any, real: Any, call: Call) -> None:
    """The timer of a call replaces that of the one before."""
    if call.token is not None and call.progress == 0:
        port.memory["timer"] = call
    if port.memory.get("timer", call) is call or call.token is None:
        real(call)
    else:
        call.next_progress = time.monotonic() + PROGRESS_SECONDS


def stops_timers_on_error(port: Any, message: Message) -> None:
    if "error" in message:
        for call in list(port.calls):
            call.next_progress = float("inf")


def clears_token_like_id(port: Any, real: Any, message: Message) -> None:
    """Keeps ids and tokens in one table, from which a response takes what bears its id."""
    real(message)
    if "method" not in message:
        for call in list(port.calls):
            if type(call.token) is type(message["id"]) and call.token == message["id"]:
                call.token = None


def loses_progress(port: Any, *arguments: Any) -> None:
    port.memory["lost"] = True


def spends_token(port: Any, real: Any, call: Call) -> None:
    if call.token not in port.memory.get("spent", ()):
        real(call)


def notes_spent(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    if is_refusal(result) and call.token is not None:
        port.memory.setdefault("spent", set()).add(call.token)
    return result


def notes_agreement(port: Any, real: Any, params: Mapping[str, Any]) -> Message:
    result = real(params)
    port.memory["is_agreed"] = result["protocolVersion"] == params.get("protocolVersion")
    return result


def no_token_unless_agreed(port: Any, real: Any, params: Mapping[str, Any]) -> Any:
    return real(params) if port.memory.get("is_agreed", True) or port.is_stateless(params) else None


def used_token_passed_over(port: Any, real: Any, params: Any) -> Any:
    token = real(params)
    used = port.memory.setdefault("tokens", [])
    if token in used:
        return None
    used.append(token)
    return token


def notes_token(port: Any, call: Call) -> None:
    port.memory.setdefault("cancelled", set[Any]()).add((type(call.token), call.token))


def unless_cancelled_before(port: Any, real: Any, call: Call) -> None:
    if (type(call.token), call.token) not in port.memory.get("cancelled", ()):
        real(call)


def tells_few(port: Any, real: Any, call: Call) -> None:
    tokens = port.memory.setdefault("tokens", set[Any]())
    if len(tokens) < TOKENS or call.token in tokens:
        tokens.add(call.token)
        real(call)


def silent_behind_falsy(port: Any, real: Any, params: Mapping[str, Any]) -> Any:
    token = real(params)
    is_silent = port.memory.get("falsy", False)
    port.memory["falsy"] = token is not None and not token
    return None if is_silent else token


def keeps_token_of_list(port: Any, params: Mapping[str, Any], stateless: bool) -> None:
    port.memory["token"] = port.token(params)


def token_of_call_or_kept(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Call:
    call = real(identity, params, stateless)
    call.token = port.memory.pop("token", None) if call.token is None else call.token
    return call


def token_of_first(port: Any, real: Any, params: Any) -> Any:
    token = real(params)
    return None if token is None else port.memory.setdefault(str(token), token)


def token_left(port: Any, real: Any, params: Any) -> Any:
    token = port.memory["token"] = real(params) or port.memory.get("token")
    return token


def keeps_token_of_refusal(port: Any, call: Call, result: Message) -> None:
    if is_refusal(result):
        port.memory["token"] = call.token


def keeps_token_of_cancelled(port: Any, call: Call) -> None:
    port.memory["token"] = call.token


defect(
    "start-told-late",
    "Tells of the start of a call a moment later, even when the call has been answered by then.",
    "progress:end",
)(report_progress=starts_late)
defect(
    "timers-stopped-by-cancel",
    "Tells no more progress of the calls that run when one of them is cancelled.",
    "progress:interval",
)(cancel=before(stops_timers), report_progress=unless_stopped)
defect(
    "interval-of-newest-call",
    "Tells progress of the call alone that has come last, once all have begun.",
    "progress:interval",
)(report_progress=one_timer)
defect(
    "timers-stopped-by-error",
    "Tells no more progress of the calls that run when it sends a JSON-RPC error.",
    "progress:interval",
)(write=before(stops_timers_on_error))
defect(
    "response-ends-token-like-its-id",
    "Reports no more progress of a running call once another request has been answered whose id equals its token.",
    "progress:interval",
)(write=clears_token_like_id)
defect(
    "progress-lost-after-unknown-tool",
    "Tells no progress any more after a call of an unknown tool.",
    "progress:start",
)(
    new_call=on(RpcError, lambda port, error: loses_progress(port) or error),
    token=since("lost", always(None)),
)
defect("progress-lost-after-cancel", "Tells no progress any more after a cancellation.", "progress:start")(
    cancel=before(loses_progress), token=since("lost", always(None))
)
defect(
    "token-spent-by-refusal",
    "Tells no progress to a token whose call was refused before.",
    "progress:start",
)(report_progress=spends_token, execute=notes_spent)
defect(
    "progress-lost-behind-other-version",
    "Tells no progress to a client that had asked for another version than it was given.",
    "progress:start",
)(initialize=notes_agreement, token=no_token_unless_agreed)
defect("progress-lost-after-failure", "Tells no progress any more after a failure.", "progress:start")(
    execute=marks("is_silent", failed), report_progress=since("is_silent", always(None))
)
defect("used-token-passed-over", "Tells no progress to a token that was used before.", "progress:start")(
    token=used_token_passed_over
)
defect(
    "token-silent-after-cancel",
    "Tells no progress to a token whose call was cancelled before.",
    "progress:start",
)(cancel=before(notes_token), report_progress=unless_cancelled_before)
defect("tokens-used-up", "Tells progress to thirty-two tokens and no more.", "progress:start")(
    report_progress=tells_few
)
defect(
    "silent-behind-falsy-token",
    "Tells no progress of the call behind one whose token was 0 or empty.",
    "progress:start",
)(token=silent_behind_falsy)
defect("token-left-by-list-of-tools", "Tells progress of a call to the token of a list of tools.", "progress:token")(
    list_tools=before(keeps_token_of_list), new_call=token_of_call_or_kept
)
defect(
    "token-type-of-first",
    "Tells progress with the number or the text that an earlier call had for a token of the same letters.",
    "progress:token",
)(token=token_of_first)
defect("token-left", "Tells progress to a call without a token behind one that had it.", "progress:unasked")(
    token=token_left
)
defect("token-left-by-refusal", "Tells progress to the token of a refused call in the next one.", "progress:unasked")(
    answer=after(keeps_token_of_refusal), new_call=token_of_call_or_kept
)
defect("token-left-by-cancel", "Tells progress to the token of a cancelled call in the next one.", "progress:unasked")(
    cancel=before(keeps_token_of_cancelled), new_call=token_of_call_or_kept
)
