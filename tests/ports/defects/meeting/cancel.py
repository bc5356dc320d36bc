"""Cancellations that meet a list, a line, a twin or another end: ports that break `cancel`."""

import signal
import time
from collections.abc import Callable, Mapping
from typing import Any

from conditions import every, from_time
from defects.meeting.shared import is_long
from defects.record import defect
from defects.shared import only_asks, spares_group
from port import Port
from running import GRACE, Call
from speaking import as_object
from steps import Step, before, only


def uncancelled(test: Callable[[Call], bool]) -> Step:
    def cancel(port: Any, real: Any, call: Call) -> None:
        if not test(call):
            real(call)

    return cancel


def needs_reason(port: Any, real: Any, method: str, params: Any) -> None:
    if method != "notifications/cancelled" or "reason" in (as_object(params) or {}):
        real(method, params)


def notes_late(port: Any, *arguments: Any) -> None:
    port.memory["late"] = True


def only_leader(port: Any, real: Any, call: Call) -> None:
    if not call.arguments.get("systemPrompt") or port.is_ending:
        real(call)
        return
    process = call.process
    if process is not None:
        port.memory.setdefault("spared", set[int]()).add(process.pid)
        process.kill()


def kills_first_in_line(port: Any, real: Any, call: Call) -> None:
    """The clock of SIGKILL runs on when gemini has ended at SIGTERM, and hits whatever its session runs by then."""
    line, begun = next((line for line in list(port.turns.values()) if call in line), None), time.monotonic()
    real(call)
    if line is None or port.is_ending:
        return
    time.sleep(max(0.0, begun + GRACE - time.monotonic()))
    for other in line[:1]:
        if other is not call and other.process is not None:
            port.signal_group(other.process.pid, signal.SIGKILL)


def cancels_line(port: Any, real: Any, call: Call) -> None:
    """Who waits is cancelled by ending the call that it waits for."""
    for line in list(port.turns.values()):
        if call in line:
            Port.cancel(port, line[0])
    real(call)


def falsy_ids_alike(port: Any, real: Any, method: str, params: Any) -> None:
    wanted = (as_object(params) or {}).get("requestId")
    if method != "notifications/cancelled" or wanted is None or wanted:
        real(method, params)
        return
    for call in list(port.calls):
        if not call.id:
            port.cancel(call)


def cancels_all(port: Any, real: Any, call: Call) -> None:
    for each in list(port.calls):
        real(each)


def twice_cancelled(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    """Who is cancelled twice goes on."""
    if method == "notifications/cancelled":
        for call in list(port.calls):
            if call.is_cancelled and call.id == params.get("requestId"):
                call.is_cancelled = False
                return
    real(method, params)


defect(
    "named-replies-uncancellable-beside-token",
    "Does not cancel a reply by id that asks for progress.",
    "cancel:child",
)(cancel=only(lambda call: call.token is None or "sessionId" not in call.arguments))
defect(
    "long-prompts-in-directory-uncancellable",
    "Does not cancel a call with a directory whose prompt goes to stdin.",
    "cancel:child",
)(cancel=uncancelled(lambda call: is_long(call) and "cwd" in call.arguments))
defect(
    "stateless-uncancellable-beside-system-prompt",
    "Does not cancel a call of the stateless era that has a system prompt.",
    "cancel:child",
)(cancel=uncancelled(lambda call: call.stateless and "systemPrompt" in call.arguments))
defect("cancel-needs-reason", "Overlooks a cancellation without a reason.", "cancel:child")(notified=needs_reason)
defect("deaf-to-cancel-from-fortieth-call", "Cancels no call behind the fortieth.", "cancel:child")(
    new_call=from_time(40, before(notes_late)),
    cancel=lambda port, real, call: None if port.memory.get("late") else real(call),
)
defect(
    "group-spared-beside-system-prompt",
    "Ends gemini but not what it has started when a call with a system prompt is cancelled.",
    "cancel:group",
)(stop=only_leader, signal_group=spares_group)
defect(
    "cancel-only-asks-beside-token",
    "Sends SIGTERM to a cancelled call that asks for progress, and leaves it at that.",
    "cancel:ignored-term",
)(stop=only_asks(lambda port, call: call.token is not None and not port.is_ending))
defect(
    "next-in-line-killed-by-clock",
    "Sends SIGKILL half a second after a cancellation to whatever runs in the session of the cancelled reply by then.",
    "cancel:others",
)(stop=kills_first_in_line)
defect("cancel-ends-first-in-line", "Cancels the reply for which a cancelled one waits.", "cancel:others")(
    cancel=cancels_line
)
defect(
    "falsy-ids-are-one",
    "Cancels the call with the id 0 when the one with the empty id is cancelled, and the other way round.",
    "cancel:others",
)(notified=falsy_ids_alike)
defect("sixth-cancel-ends-all", "Ends all calls at every sixth cancellation.", "cancel:others")(
    cancel=every(6, cancels_all)
)
defect("second-cancel-takes-back", "Answers a call that is cancelled twice.", "cancel:unanswered")(
    notified=twice_cancelled
)
