"""Progress that goes wrong where a token meets something else: ports that break `progress`."""

import time
from collections.abc import Mapping
from typing import Any

from conditions import refused
from defects.meeting.shared import is_long, is_reply
from defects.record import defect
from defects.shared import names
from http_port import HttpPort
from port import PROGRESS_SECONDS
from running import Call
from speaking import Message
from steps import after, gives, only

LATER_SECONDS = 1.0


def tells_end_of_refused(port: Any, call: Call, result: Message) -> None:
    if call.token is not None and refused(call, result):
        call.progress += 1
        port.send(port.progress(call))


def counts_anew(port: Any, real: Any, *arguments: Any) -> Call:
    call = real(*arguments)
    if call.token is not None:
        for other in list(port.calls):
            other.progress = 0
    return call


def begins_again(port: Any, real: Any, call: Call, turn: str | None) -> None:
    has_to_wait = bool(port.turns.get(turn))
    real(call, turn)
    if has_to_wait and not call.is_cancelled:
        call.progress = 0
        port.report_progress(call)


def token_by_its_text(port: Any, real: Any, params: Mapping[str, Any]) -> Any:
    token = real(params)
    port.memory.setdefault("tokens", {})[str(token)] = token
    return token


def with_token_of_text(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    return {**message, "params": {**message["params"], "progressToken": port.memory["tokens"][str(call.token)]}}


def counts_from_turn(port: Any, real: Any, call: Call, turn: str | None) -> None:
    has_to_wait = bool(port.turns.get(turn))
    real(call, turn)
    if has_to_wait:
        call.progress = 0


def by_one_clock(port: Any, real: Any, call: Call) -> None:
    now = time.monotonic()
    if call.progress:
        if now < port.memory.get("next", 0.0):
            return
        port.memory["next"] = now + PROGRESS_SECONDS
    real(call)


def told_once(port: Any, real: Any, call: Call) -> None:
    if call.token != 0 or call.progress == 0:
        real(call)
    else:
        call.next_progress = time.monotonic() + LATER_SECONDS


def untold_beside_everything(port: Any, real: Any, call: Call) -> None:
    if not (is_reply(call) and not call.arguments.get("sessionId") and names("model", "cwd", "systemPrompt")(call)):
        real(call)


def same_token(one: Call, other: Call) -> bool:
    return type(one.token) is type(other.token) and one.token == other.token


def tells_first_of_token(port: Any, real: Any, call: Call) -> None:
    alike = (each for each in list(port.calls) if same_token(each, call))
    first = next(alike, call)
    # The one that has had the token first when a call begins counts, even when it ends before the other.
    if port.memory.setdefault(call, first) is call:
        real(call)


def token_unless_long(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Call:
    call = real(identity, params, stateless)
    if is_long(call) and call.tool == "chat-reply":
        call.token = None
    return call


defect("progress-after-refusal", "Tells a refused call after its answer that it is done.", "progress:end")(
    answer=after(tells_end_of_refused)
)
defect(
    "progress-begun-anew-by-another",
    "Counts the progress of all calls anew when one begins that asks for progress.",
    "progress:increase",
)(new_call=counts_anew)
defect("progress-begins-again-after-wait", "Counts progress anew when a reply has waited.", "progress:increase")(
    take_turn=begins_again
)
defect("look-alike-tokens-mixed", "Keeps tokens by their text.", "progress:increase")(
    token=token_by_its_text, progress=with_token_of_text
)
defect(
    "progress-anew-after-wait",
    "Counts progress from the beginning again when a reply that had to wait gets its turn.",
    "progress:increase",
)(take_turn=counts_from_turn)
defect(
    "one-clock-for-progress",
    "Tells only the first of several long calls with tokens how it goes on, since they share one clock.",
    "progress:interval",
)(report_progress=by_one_clock)
defect(
    "zero-token-told-once", "Tells progress to the token 0 when the call starts, and then no more.", "progress:interval"
)(report_progress=told_once)
defect(
    "progress-lost-in-latest-beside-everything",
    "Tells no progress of a reply to the latest session with all other arguments.",
    "progress:start",
)(report_progress=untold_beside_everything)
defect(
    "stateless-progress-lost-for-text-ids",
    "Tells no progress without a handshake when the id of the call is a string.",
    "progress:start",
)(report_progress=only(lambda call: not (call.stateless and isinstance(call.id, str))))
defect(
    "token-of-two-clients-told-to-one",
    "Tells no progress over HTTP to a token while the call of another client runs that has the same one.",
    "progress:start",
    "progress:interval",
)(HttpPort, report_progress=tells_first_of_token)
defect(
    "progress-lost-for-long-replies",
    "Tells no progress of a reply whose prompt goes to stdin.",
    "progress:start",
)(new_call=token_unless_long)
defect("empty-token-overlooked", "Takes an empty progress token for none.", "progress:start")(
    token=gives(lambda token: None if token == "" else token)
)
defect("digit-tokens-as-numbers", "Makes a number of a progress token in digits.", "progress:token")(
    token=gives(lambda token: int(token) if isinstance(token, str) and token.isdecimal() else token)
)
