"""Defects in when progress is told: what else the port says, what gemini says, and whose number a token is."""

import time
from typing import IO, Any

from defects.life.farewells import printed
from defects.record import defect
from port import PROGRESS_SECONDS
from running import Call
from speaking import Message
from steps import after

THROTTLE = 0.25


def throttled_together(port: Any, real: Any, call: Call) -> None:
    """One limit for all calls on how often progress is told."""
    now = time.monotonic()
    if call.token is None or now - port.memory.get("told", 0.0) >= THROTTLE:
        port.memory["told"] = now if call.token is not None else port.memory.get("told", 0.0)
        real(call)
    else:
        call.next_progress = now + PROGRESS_SECONDS


def postpones(port: Any, message: Message) -> None:
    """The client has just heard of the server."""
    for call in list(port.calls):
        call.next_progress = time.monotonic() + PROGRESS_SECONDS


def notes_stderr(port: Any, real: Any, call: Call, argv: Any, cwd: Any, env: Any, *others: Any) -> Any:
    port.memory[call] = others[2]
    return real(call, argv, cwd, env, *others)


def until_stderr(port: Any, real: Any, call: Call) -> None:
    file: IO[bytes] | None = port.memory.get(call)
    if file is None or not printed(file):
        real(call)
    else:
        call.next_progress = time.monotonic() + PROGRESS_SECONDS


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
)(begin=notes_stderr, report_progress=until_stderr)
defect(
    "progress-lost-to-id",
    "Tells no progress to a token while a call runs whose id is the same.",
    "progress:start",
    "progress:interval",
)(report_progress=unless_id)
