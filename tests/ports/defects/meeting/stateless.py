"""Stateless calls that meet an outcome or an argument: ports that break `stateless`."""

from typing import Any

from defects.record import defect
from defects.shared import in_latest_era
from running import Call
from speaking import Message, as_object


def tells_turn(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Says that the turn has come, also to a call that waits no longer because it is cancelled."""
    has_to_wait = turn in port.turns
    real(call, turn)
    if has_to_wait and call.token is not None:
        with port.output:
            call.progress += 1
            port.write(port.progress(call))


def typeless_with_token(port: Any, real: Any, call: Call, result: Message) -> None:
    if call.stateless and call.token is not None and not result.get("isError"):
        call.stateless = False
    real(call, result)


def notes_era(port: Any, real: Any, message: Any) -> None:
    params = as_object((as_object(message) or {}).get("params")) or {}
    port.memory["era"] = port.is_stateless(params)
    real(message)


def nameless_reply(port: Any, real: Any, call: Call, result: Message) -> None:
    if call.stateless and call.tool == "chat-reply":
        with port.output:
            if not call.is_cancelled:
                call.is_answered = True
                port.write({"jsonrpc": "2.0", "id": call.id, "result": {**result, "resultType": "complete"}})
        return
    real(call, result)


defect(
    "turn-told-to-cancelled-waiter",
    "Tells progress of a reply with a token that is cancelled while it waits for its turn.",
    "stateless:cancelled",
    "progress:token",
)(take_turn=tells_turn)
defect(
    "typeless-beside-token",
    "Leaves the type out of the result of a call that asks for progress.",
    "stateless:result-type",
)(answer=typeless_with_token)
defect(
    "era-of-latest-message",
    "Shapes the result of a call by the era of the message that came last, which may be a bare notification.",
    "stateless:result-type",
    "stateless:server-info",
)(dispatch=notes_era, finished=in_latest_era)
defect(
    "era-of-latest-request",
    "Shapes the result of a call by the era of the request that came last, as of a ping without metadata.",
    "stateless:result-type",
    "stateless:server-info",
)(requested=notes_era, finished=in_latest_era)
defect("nameless-in-replies", "Leaves its name out of the result of a reply.", "stateless:server-info")(
    answer=nameless_reply
)
