"""Defects in when progress is told: what else the port says, what gemini says, and whose number a token is."""

import time
from typing import Any

from defects.life.moments import ERRORS, has_printed, notes_file
from defects.record import defect
from port import PROGRESS_SECONDS
from running import Call
from steps import after, before

THROTTLE = 0.25


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


def postpones(port: Any, said: object) -> None:
    """Whoever has just heard or spoken knows that the server lives."""
    for call in list(port.calls):
        call.next_progress = time.monotonic() + PROGRESS_SECONDS


def until_stderr(port: Any, real: Any, call: Call) -> None:
    if has_printed(port, call):
        call.next_progress = time.monotonic() + PROGRESS_SECONDS
    else:
        real(call)


def unless_id(port: Any, real: Any, call: Call) -> None:
    """Ids and tokens are kept in one table."""
    if not any(other is not call and repr(other.id) == repr(call.token) for other in list(port.calls)):
        real(call)


defect(
    "progress-throttled-together",
    "Drops progress that comes within a quarter of a second of that of another call.",
    "progress:start",
)(report_progress=throttled_together)
defect(
    "progress-postponed-by-messages",
    "Waits with progress for five seconds behind whatever it has sent.",
    "progress:interval",
)(write=after(postpones))
defect(
    "progress-until-stderr",
    "Tells no progress any more once gemini has written to stderr.",
    "progress:interval",
)(begin=before(notes_file(ERRORS)), report_progress=until_stderr)
defect(
    "progress-lost-to-id",
    "Tells no progress to a token while a call runs whose id is the same.",
    "progress:start",
    "progress:interval",
)(report_progress=unless_id)
