"""Calls or ids too many or too long to be cancelled rightly: ports that break `cancel`."""

import json
from collections import deque
from collections.abc import Callable
from typing import Any

from conditions import every, wanted
from defects.record import defect
from defects.size.shared import in_32_bits
from running import Call
from speaking import Message, as_object
from steps import Step, always, before

LATEST, MANY = 64, 100
LONG_ID = 64


def cancels_latest_four(port: Any, real: Any, call: Call) -> None:
    if call in port.calls[-4:]:
        real(call)


def finding_only(test: Callable[[Any], bool]) -> Step:
    """Of `cancel`: finds calls with such ids alone."""
    return lambda port, real, call: real(call) if test(call.id) else None


def is_short(identity: Any) -> bool:
    return not isinstance(identity, str) or len(identity) <= LONG_ID


def is_basic(identity: Any) -> bool:
    return not isinstance(identity, str) or max(identity, default="") <= "\uffff"


def cancels_rounded(port: Any, real: Any, method: str, params: Any) -> None:
    number = (as_object(params) or {}).get("requestId")
    if method != "notifications/cancelled" or not isinstance(number, int):
        real(method, params)
        return
    for call in list(port.calls):
        if isinstance(call.id, int) and float(call.id) == float(number):
            port.cancel(call)


def notes_requests(count: int) -> Step:
    """Of `requested`: keeps so many of the latest ids."""

    def note(port: Any, request: Message) -> None:
        port.memory.setdefault("requests", deque(maxlen=count)).append(json.dumps(request["id"]))

    return before(note)


def among_the_latest(port: Any, real: Any, method: str, params: Any) -> None:
    named = wanted(method, params)
    if named is None or json.dumps(named) in port.memory.get("requests", ()):
        real(method, params)


defect("third-cancel-ignored", "Ignores every third cancellation.", "cancel:child")(cancel=every(3, always(None)))
defect("fifth-latest-uncancellable", "Cancels only the four calls that came last.", "cancel:child")(
    cancel=cancels_latest_four
)
defect("large-ids-not-cancelled", "Finds no call whose id is a number beyond 32 bits.", "cancel:child")(
    cancel=finding_only(in_32_bits)
)
defect("long-ids-not-cancelled", "Finds no call whose id is a text of more than 64 characters.", "cancel:child")(
    cancel=finding_only(is_short)
)
defect(
    "wide-ids-not-cancelled",
    "Finds no call whose id holds a character beyond the basic plane.",
    "cancel:child",
)(cancel=finding_only(is_basic))
defect("large-ids-cancelled-alike", "Cancels every call whose id becomes the same double.", "cancel:others")(
    notified=cancels_rounded
)
defect(
    "cancellation-behind-64-requests",
    "Ignores the cancellation of a running call when 64 other requests have come behind it.",
    "cancel:child",
)(requested=notes_requests(LATEST), notified=among_the_latest)
defect(
    "hundred-requests-later-not-cancelled",
    "Keeps what cancels a request for the last 100 requests, pings too, and drops the oldest though it still runs.",
    "cancel:child",
)(requested=notes_requests(MANY), notified=among_the_latest)
