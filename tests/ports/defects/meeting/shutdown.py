"""Ends that meet a list, a line, a stubborn gemini or another end: ports that break `shutdown`."""

import os
import time
from collections.abc import Iterator
from typing import Any

from defects.record import defect
from defects.shared import input_has_ended
from running import Call
from steps import before

MOMENT = 0.2


def ends_in_a_row(port: Any, real: Any, call: Call) -> None:
    if not port.is_ending:
        real(call)
        return
    for each in list(port.calls):
        each.is_cancelled = True
    with port.turn_changed:
        port.turn_changed.notify_all()
    port.stop(call)


def notes_served(port: Any, call: Call) -> None:
    port.memory["has served"] = True


def deaf_when_idle(port: Any, real: Any, number: int, frame: Any) -> None:
    # A call that has its answer is forgotten a moment later.
    is_idle = all(call.is_answered for call in port.calls)
    if not is_idle or not port.memory.get("has served"):
        real(number, frame)


def end_oldest(port: Any, real: Any, call: Call) -> None:
    if not port.ended_by_signal or call is port.calls[0]:
        real(call)


def waits_for_end_of_line(port: Any, real: Any) -> Iterator[bytes]:
    line = b"\n"
    for line in real():
        if line.endswith(b"\n"):
            yield line
    while not line.endswith(b"\n"):
        time.sleep(1)


def notes_begun(port: Any, line: bytes) -> None:
    port.memory["has begun"] = True


def waits_for_first(port: Any) -> None:
    while not port.memory.get("has begun"):
        time.sleep(1)


def spares_told(port: Any, real: Any, call: Call) -> None:
    if not (port.is_ending and call.token is not None and not port.ended_by_signal):
        real(call)


def spares_stateless(port: Any, real: Any, call: Call) -> None:
    if not (input_has_ended(port) and call.stateless):
        real(call)


def notes_arrival(port: Any, real: Any, *arguments: Any) -> Call:
    call = real(*arguments)
    port.memory[call] = time.monotonic()
    return call


def spares_newcomer(port: Any, real: Any, call: Call) -> None:
    if not (input_has_ended(port) and time.monotonic() - port.memory[call] < MOMENT):
        real(call)


def forgets_who_waits(port: Any, real: Any, call: Call) -> None:
    if not (port.is_ending and any(call in line[1:] for line in port.turns.values())):
        real(call)


def end_chats(port: Any, real: Any, call: Call) -> None:
    if port.ended_by_signal or not port.is_ending or call.tool == "chat":
        real(call)


def ends_uncancelled(port: Any, real: Any) -> None:
    """What was cancelled needs no end: it has got one already, but perhaps no SIGKILL yet."""
    running = [call for call in port.calls if not call.is_cancelled]
    for call in running:
        port.end(call)
    deadline = time.monotonic() + 1.5
    while set(running) & set(port.calls) and time.monotonic() < deadline:
        time.sleep(0.02)
    os._exit(0)


def leaves_cancelled_alone(port: Any, real: Any) -> None:
    """Gives them just the time to end at SIGTERM."""
    if port.calls and all(call.is_cancelled for call in port.calls):
        time.sleep(0.1)
        os._exit(0)
    real()


def tells_once_more(port: Any) -> None:
    for call in [each for each in port.calls if each.token is not None]:
        port.report_progress(call)


def spares_the_back(port: Any) -> None:
    with port.turn_changed:
        port.memory["spared"] = [call for line in port.turns.values() for call in line[2:]]


def unless_spared(port: Any, real: Any, call: Call) -> None:
    if call not in port.memory.get("spared", ()):
        real(call)


defect(
    "calls-ended-in-a-row",
    "Gives every gemini its time to end after the one before, so that several stubborn ones delay the exit.",
    "shutdown:prompt",
)(end=ends_in_a_row)
defect("deaf-to-signals-when-idle", "Ignores signals when all its calls have ended.", "shutdown:sigterm")(
    serve_call=before(notes_served), on_signal=deaf_when_idle
)
defect("signal-ends-oldest-alone", "Ends the oldest of several calls on a signal.", "shutdown:sigterm:group")(
    end=end_oldest
)
defect("unfinished-line-awaited", "Lives on when its input ends in the middle of a line.", "shutdown:stdin-end")(
    lines=waits_for_end_of_line
)
defect("end-before-beginning-overlooked", "Lives on when its input ends before a message.", "shutdown:stdin-end")(
    receive=before(notes_begun), input_ended=before(waits_for_first)
)
defect(
    "told-call-outlives-input",
    "Leaves the gemini of a call with a progress token running when its input ends.",
    "shutdown:stdin-end:group",
)(end=spares_told)
defect(
    "stateless-call-outlives-input",
    "Leaves the gemini of a call of the stateless era running when its input ends.",
    "shutdown:stdin-end:group",
    "shutdown:stdin-end:ignored-term",
)(end=spares_stateless)
defect(
    "last-call-outlives-input",
    "Leaves the gemini of a call running that came in the last moment before the end of its input.",
    "shutdown:stdin-end:group",
)(new_call=notes_arrival, end=spares_newcomer)
defect(
    "waiting-reply-begins-at-end",
    "Lets a reply that waits in its session start gemini when the end of the server has ended the one before it.",
    "shutdown:stdin-end:group",
    "shutdown:sigterm:group",
)(end=forgets_who_waits)
defect("end-spares-replies", "Leaves the gemini of a reply running when its input ends.", "shutdown:stdin-end:group")(
    end=end_chats
)
defect(
    "end-spares-cancelled",
    "Ends without waiting for what it has cancelled to be killed.",
    "shutdown:stdin-end:ignored-term",
)(shut_down=ends_uncancelled)
defect(
    "end-in-grace-of-cancellation",
    "Exits at once when all calls that are left have been cancelled, though a gemini may still ignore SIGTERM.",
    "shutdown:stdin-end:ignored-term",
    "cancel:ignored-term",
)(shut_down=leaves_cancelled_alone)
defect(
    "tells-of-progress-before-it-ends",
    "Tells the progress of every call once more before it ends any, and waits for its client to read that.",
    "shutdown:sigterm",
)(shut_down=before(tells_once_more))
defect(
    "third-in-line-runs-at-end",
    "Ends the first two replies of a line when the server ends, and the third begins.",
    "shutdown:stdin-end:group",
    "shutdown:sigterm:group",
)(shut_down=before(spares_the_back), end=unless_spared)
