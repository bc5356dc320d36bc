"""Progress that repeats itself, goes back or changes its token: ports that break `progress:increase`."""

from collections.abc import Mapping
from typing import Any

from defects.life.shared import tells
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message
from steps import before


def token_by_text(port: Any, real: Any, call: Call) -> Message:
    """Looks the token of all but the first notification up in a table whose keys are texts."""
    message = real(call)
    token = port.memory.setdefault(str(call.token), call.token)
    if call.progress > 1:
        message["params"]["progressToken"] = token
    return message


def token_forgotten(port: Any, real: Any, call: Call) -> None:
    real(call)
    port.memory.pop(str(call.token), None)


def leaves_token(port: Any, real: Any, call: Call) -> None:
    real(call)
    if call.is_cancelled and call.stateless and call.token is not None:
        port.memory["token"] = call.token


def inherits_token(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    call = real(identity, params, stateless)
    if stateless and call.token is None:
        call.token = port.memory.pop("token", None)
    return call


def told_again_at_list(port: Any, call: Call, plan: Plan) -> None:
    """Tells that it lists the sessions, with the progress of before."""
    with port.output:
        if call.token is not None and not call.is_cancelled:
            port.write(port.progress(call))


def token_as_number(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    if call.progress > 1 and isinstance(call.token, str) and call.token.isdecimal():
        message["params"]["progressToken"] = int(call.token)
    return message


def counts_anew(port: Any, call: Call, plan: Plan) -> None:
    call.progress = 0


def registers_token(port: Any, call: Call) -> None:
    if call.token is not None and not call.progress:
        port.memory[str(call.token)] = call.token


def registered_token(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    message["params"]["progressToken"] = port.memory[str(call.token)]
    return message


def half_of_the_way(port: Any, real: Any, call: Any) -> Any:
    message = real(call)
    params = {**message["params"], "progress": round(1 - 0.5**call.progress, 1), "total": 1}
    return {**message, "params": params}


defect(
    "later-progress-under-token-of-same-text",
    "Sends the later progress of a call with the token of another that runs and whose token has the same text.",
    "progress:increase",
    "progress:token",
)(progress=token_by_text, serve_call=token_forgotten)
defect(
    "token-of-cancelled-request-inherited",
    "Sends progress for a call of 2026-07-28 without a token under that of an earlier one that was cancelled.",
    "progress:increase",
    "progress:unasked",
    "stateless:cancelled",
)(cancel=leaves_token, new_call=inherits_token)
defect("list-told-with-progress-of-before", "Repeats its progress when it asks for a list.", "progress:increase")(
    list_sessions=before(told_again_at_list)
)
defect(
    "later-token-as-number",
    "Sends a token that is a text of digits as a number, from the second notification on.",
    "progress:increase",
)(progress=token_as_number)
defect(
    "progress-anew-in-list",
    "Counts the progress of a call from the beginning when it asks for the list of sessions.",
    "progress:increase",
)(list_sessions=before(counts_anew))
defect("progress-stands-still", "Tells the same progress each time.", "progress:increase")(
    progress=tells(lambda call: {"progress": 50, "total": 100})
)
defect("progress-falls", "Counts down.", "progress:increase")(
    progress=tells(lambda call: {"progress": 100 - call.progress})
)
defect(
    "twin-token-taken-over",
    'Knows a progress token by its text: a call with the token `7` goes on with `"7"` when a later call has that.',
    "progress:increase",
    "progress:token",
)(report_progress=before(registers_token), progress=registered_token)
defect(
    "progress-nears-its-end",
    "Tells progress that goes half of the way left each time, in tenths: 0.5, 0.8, 0.9, and then 0.9 again.",
    "progress:increase",
)(progress=half_of_the_way)
