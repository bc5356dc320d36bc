"""Ends that take too long, or that a signal leaves half done: ports that break `shutdown`."""

import os
import signal
import time
from types import FrameType
from typing import Any

from conditions import failed, marks, since
from defects.life.shared import leader_only, spared_at_signal
from defects.record import defect
from port import Stop
from steps import always, before

SLOW_SECONDS = 4.0


def slow_with_token(port: Any) -> None:
    """Tells progress of the end of each call."""
    if any(call.token is not None for call in port.calls):
        for call in port.calls:
            port.end(call)
        time.sleep(SLOW_SECONDS)


def ends_slowly(port: Any, real: Any) -> None:
    for call in list(port.calls):
        port.end(call)
    time.sleep(5)
    real()


def slow_beside_line(port: Any, real: Any) -> None:
    if any(len(line) > 1 for line in port.turns.values()):
        ends_slowly(port, real)
    else:
        real()


def notes_signal(port: Any, number: int, frame: Any) -> None:
    port.memory["signal"] = number


def was_hung_up(port: Any) -> bool:
    return port.memory.get("signal") == signal.SIGHUP


def impatient(port: Any, real: Any, number: int, frame: FrameType | None) -> None:
    if number != signal.SIGINT:
        real(number, frame)
    elif port.memory.get("interrupted"):
        os._exit(130)
    port.memory["interrupted"] = port.ended_by_signal = True
    if not port.is_ending:
        raise Stop


def default_for_sigint(port: Any, real: Any) -> tuple[signal.Signals, ...]:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return (signal.SIGTERM, signal.SIGHUP)


def one_after_the_other(port: Any, real: Any) -> None:
    if port.ended_by_signal:
        port.is_ending = True
        for call in port.calls:
            call.is_cancelled = True
        for call in list(port.calls):
            port.stop(call)
    real()


defect(
    "slow-to-end-beside-token",
    "Takes its time before it ends when a call runs that asks for progress.",
    "shutdown:prompt",
)(shut_down=before(slow_with_token))
defect("slow-to-end", "Takes its time before it ends.", "shutdown:prompt")(shut_down=ends_slowly)
defect(
    "slow-to-end-behind-failure",
    "Takes its time before it ends once a call has failed.",
    "shutdown:prompt",
)(execute=marks("has_failed", failed), shut_down=since("has_failed", ends_slowly))
defect(
    "slow-to-end-beside-line",
    "Takes its time before it ends when a reply waits for another.",
    "shutdown:prompt",
)(shut_down=slow_beside_line)
defect(
    "sigterm-stops-in-sequence",
    "Stops the calls one after the other at a signal, so that five that ignore SIGTERM take too long.",
    "shutdown:prompt",
)(shut_down=one_after_the_other)
defect(
    "hangup-ends-leader-only",
    "Ends gemini, but not what gemini started, on SIGHUP.",
    "shutdown:sighup:group",
)(on_signal=before(notes_signal), signal_group=leader_only(was_hung_up))
defect("hangup-spares-replies", "Leaves the gemini of a reply running on a signal.", "shutdown:sighup:group")(
    shut_down=spared_at_signal(lambda call: call.tool == "chat-reply")
)
defect("sighup-unhandled", "Dies of SIGHUP as it is, and leaves gemini running.", "shutdown:sighup:group")(
    signals=always((signal.SIGTERM, signal.SIGINT))
)
defect(
    "second-interrupt-exits-at-once",
    "Exits at once at a second SIGINT, and leaves a gemini that ignores SIGTERM.",
    "shutdown:sigint:group",
)(on_signal=impatient)
defect(
    "interrupt-spares-system-prompts",
    "Leaves the gemini of a call with a system prompt running on a signal.",
    "shutdown:sigint:group",
)(shut_down=spared_at_signal(lambda call: call.arguments.get("systemPrompt")))
defect("sigint-unhandled", "Dies of SIGINT as it is, and leaves gemini running.", "shutdown:sigint:group")(
    signals=default_for_sigint
)
