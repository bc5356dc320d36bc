"""Notices of cancellation that are overlooked or misread: ports that break `cancel`."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from conditions import REVISION, cancels_alike, speaks
from defects.protocol.shared import INHERITED
from defects.record import defect
from defects.shared import spares_old
from http_port import HttpPort
from planning import ARGUMENT_LIMIT
from running import Call
from speaking import JSON, as_object
from steps import Step, only

STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"')


def first_of_that_id(port: Any, real: Any, method: str, params: Any) -> None:
    wanted = (as_object(params) or {}).get("requestId")
    same = [call for call in list(port.calls) if type(call.id) is type(wanted) and call.id == wanted]
    if method == "notifications/cancelled" and same:
        port.cancel(same[0])


def prompt_is_short(call: Call) -> bool:
    return len(call.arguments.get("prompt", "").encode("utf-8", "replace")) <= ARGUMENT_LIMIT


def deaf_to(test: Callable[[str], bool]) -> Step:
    """Of `notified`: overlooks a cancellation whose reason is like this."""

    def notified(port: Any, real: Any, method: str, params: Any) -> None:
        reason = (as_object(params) or {}).get("reason")
        if not (isinstance(reason, str) and test(reason)):
            real(method, params)

    return notified


def unheard_in_oldest(port: Any, real: Any, call: Call) -> None:
    if not speaks(port, "2024-11-05"):
        real(call)


def keeps_line(port: Any, real: Any, line: bytes) -> JSON:
    port.memory["line"] = line
    return real(line)


def spelling(line: bytes, value: JSON) -> bytes:
    """How the line spells a short text."""
    for spelt in STRINGS.findall(line) if isinstance(value, str) else ():
        with suppress(ValueError):
            if len(spelt) < 1000 and json.loads(spelt) == value:
                return spelt
    return b""


def keeps_spelling(port: Any, real: Any, identity: JSON, *others: Any) -> Call:
    call = real(identity, *others)
    port.memory[call] = spelling(port.memory["line"], identity)
    return call


def cancels_by_spelling(port: Any, real: Any, method: str, params: JSON) -> None:
    wanted = (as_object(params) or {}).get("requestId")
    spelt = spelling(port.memory["line"], wanted)
    if all(port.memory[call] == spelt for call in list(port.calls) if call.id == wanted):
        real(method, params)


def streams_uncancelled(port: Any, real: Any, call: Call) -> None:
    if call.token is None:
        real(call)


def unknown_is_not_found(port: Any, real: Any, method: str, params: Any) -> None:
    wanted = (as_object(params) or {}).get("requestId")
    is_known = method != "notifications/cancelled" or any(call.id == wanted for call in list(port.calls))
    real(method, params)
    if not is_known:
        port.current.post.reply(404)


def opens_id(port: Any, real: Any, identity: Any, *others: Any) -> Any:
    ids = port.memory.setdefault("ids", set())
    ids.add(identity)
    try:
        return real(identity, *others)
    finally:
        ids.discard(identity)


def finds_by_id(port: Any, real: Any, call: Call) -> None:
    if call.id in port.memory.get("ids", ()):
        real(call)


defect("stateless-uncancellable", "Ignores cancellations in this era.", "cancel:child")(
    cancel=only(lambda call: not call.stateless)
)
defect(
    "cancel-finds-first-client",
    "Looks for the call to cancel among the ids of all clients, and finds the first.",
    "cancel:child",
)(HttpPort, notified=first_of_that_id)
defect(
    "disconnection-unheard-on-stdin",
    "Lets gemini run on for a client that has closed its connection when the prompt is long.",
    "cancel:child",
    "http:stateless:disconnect",
)(HttpPort, disconnected=only(prompt_is_short))
defect(
    "disconnection-unheard-after-three-seconds",
    "Does not notice that a client closes its connection when gemini has run for three seconds.",
    "cancel:child",
    "http:stateless:disconnect",
)(HttpPort, disconnected=spares_old)
defect(
    "cancellation-of-two-lines-overlooked",
    "Overlooks a cancellation whose reason has several lines.",
    "cancel:child",
)(notified=deaf_to(lambda reason: "\n" in reason))
defect(
    "cancellation-beyond-ascii-overlooked",
    "Overlooks a cancellation whose reason is not ASCII.",
    "cancel:child",
)(notified=deaf_to(lambda reason: not reason.isascii()))
defect("cancellation-of-no-words-overlooked", "Overlooks a cancellation whose reason is empty.", "cancel:child")(
    notified=deaf_to(lambda reason: not reason)
)
defect(
    "inherited-ids-uncancellable",
    "Finds no call to cancel whose id is a name that every object has in JavaScript.",
    "cancel:child",
)(cancel=only(lambda call: call.id not in INHERITED))
defect("cancel-unheard-in-2024-11-05", "Ignores the cancellations of clients of 2024-11-05.", "cancel:child")(
    initialize=REVISION, cancel=unheard_in_oldest
)
defect(
    "ids-compared-as-written",
    "Cancels nothing when the notification spells the id with other escapes than the call did.",
    "cancel:child",
)(parse=keeps_line, new_call=keeps_spelling, notified=cancels_by_spelling)
defect("streams-uncancellable", "Does not cancel a call over HTTP that asks for progress.", "cancel:child")(
    HttpPort, cancel=streams_uncancelled
)
defect("ids-cancelled-without-case", "Cancels the calls whose ids differ in case alone.", "cancel:others")(
    notified=cancels_alike(lambda one, other: one.lower() == other.lower())
)
defect("ids-cancelled-by-beginning", "Cancels the calls whose ids begin with the one that is named.", "cancel:others")(
    notified=cancels_alike(lambda one, other: bool(other) and one.startswith(other))
)
defect("ids-cancelled-without-blanks", "Cancels the calls whose ids differ in blanks alone.", "cancel:others")(
    notified=cancels_alike(lambda one, other: one.strip() == other.strip())
)
defect(
    "ids-cancelled-by-hash",
    "Cancels the calls whose ids have the same characters in another order.",
    "cancel:others",
)(notified=cancels_alike(lambda one, other: sorted(one) == sorted(other)))
defect(
    "stateless-text-ids-uncancellable",
    "Does not cancel a call of the stateless era whose id is a text.",
    "cancel:others",
    "stateless:cancelled",
)(cancel=only(lambda call: not (call.stateless and isinstance(call.id, str))))
defect(
    "unknown-cancellation-not-found",
    "Answers the cancellation of an unknown call with status 404.",
    "cancel:unknown",
)(HttpPort, notified=unknown_is_not_found)
defect(
    "disconnect-lost-by-equal-id",
    "Cancels nothing when a client leaves whose id a request of another client has had, and that has ended.",
    "cancel:child",
    "http:stateless:disconnect",
)(HttpPort, begin_call=opens_id, disconnected=finds_by_id)
