"""Progress that begins late or not at all: ports that break `progress:start`."""

import json
import time
from typing import Any

from defects.record import defect
from port import PROGRESS_SECONDS
from running import Call
from steps import always, for_tool, gives

THROTTLE = 0.25


def starts_once_for_token(port: Any, real: Any, call: Call) -> None:
    token = f"{type(call.token).__name__} {call.token}"
    if call.progress == 0 and token in port.memory.setdefault("tokens", set()):
        call.progress = 1
        call.next_progress = time.monotonic() + 5
        return
    port.memory.setdefault("tokens", set()).add(token)
    real(call)


def unheard_from_ninth(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Call:
    call = real(identity, params, stateless)
    if len(port.calls) >= 8:
        call.token = None
    return call


def throttled_together(port: Any, real: Any, call: Call) -> None:
    """One limit for all calls on how often progress is told."""
    now = time.monotonic()
    if call.token is None:
        real(call)
    elif now - port.memory.get("told", 0.0) >= THROTTLE:
        port.memory["told"] = now
        real(call)
    else:
        call.next_progress = now + PROGRESS_SECONDS


def unless_id(port: Any, real: Any, call: Call) -> None:
    """Ids and tokens are kept in one table."""
    if not any(other is not call and repr(other.id) == repr(call.token) for other in list(port.calls)):
        real(call)


def not_at_start(port: Any, real: Any, call: Call) -> None:
    if call.next_progress:
        real(call)
    else:
        call.next_progress = time.monotonic() + 5


def only_greater(port: Any, real: Any, call: Call) -> None:
    key = json.dumps(call.token)
    if call.progress + 1 <= port.memory.get(key, 0):
        call.progress += 1
        call.next_progress = time.monotonic() + 5
        return
    real(call)
    port.memory[key] = call.progress


defect(
    "used-token-starts-silent",
    "Tells no progress at the start of a call with a token that an earlier call had.",
    "progress:start",
)(report_progress=starts_once_for_token)
defect("ninth-token-unheard", "Tells no progress of calls beyond eight at once.", "progress:start")(
    new_call=unheard_from_ninth
)
defect(
    "progress-throttled-together",
    "Drops progress that comes within a quarter of a second of that of another call.",
    "progress:start",
)(report_progress=throttled_together)
defect(
    "progress-lost-to-id",
    "Tells no progress to a token while a call runs whose id is the same.",
    "progress:start",
    "progress:interval",
)(report_progress=unless_id)
defect("falsy-token-overlooked", "Takes the token 0 for none.", "progress:start")(
    token=gives(lambda token: token or None)
)
defect("no-progress-at-start", "Tells nothing when a call starts.", "progress:start")(report_progress=not_at_start)
defect("no-progress-in-replies", "Tells no progress of replies.", "progress:start")(
    report_progress=for_tool("chat-reply", always(None))
)
defect(
    "progress-of-reused-token-held-back",
    "Holds progress back until it is greater than any that an earlier call with the same token has told.",
    "progress:start",
    "progress:interval",
)(report_progress=only_greater)
