"""Defects in ending: when the input ends, and on signals."""

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

from defects.life.cancelling import leader_only, never_kills
from defects.life.concurrency import when_idle
from defects.record import defect
from port import Port
from steps import always, before


def input_has_ended(port: Port) -> bool:
    return port.is_ending and not port.ended_by_signal


def overlooks_end(port: Any, real: Any) -> None:
    while True:
        signal.pause()


def notes_signal(port: Any, real: Any, number: int, frame: Any) -> None:
    port.ended_by_signal = True


def lines_until_signal(port: Any, real: Any) -> Iterator[bytes]:
    for line in real():
        if port.ended_by_signal:
            return
        yield line


def default_for_sigint(port: Any, real: Any) -> tuple[signal.Signals, ...]:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return (signal.SIGTERM, signal.SIGHUP)


def ends_slowly(port: Any, real: Any) -> None:
    for call in list(port.calls):
        port.end(call)
    time.sleep(5)
    real()


defect("end-of-input-overlooked", "Lives on after the end of its input.", "shutdown:stdin-end")(
    input_ended=overlooks_end
)
defect("end-waits-for-calls", "Waits for the calls that run when its input ends.", "shutdown:stdin-end:busy")(
    input_ended=when_idle
)
defect(
    "end-leaves-orphans",
    "Leaves gemini running when its input ends.",
    "shutdown:stdin-end:group",
    "system:removed:stdin-end",
)(input_ended=lambda port, real: os._exit(0))
defect(
    "end-ends-leader-only",
    "Ends gemini, but not what gemini started, when its input ends.",
    "shutdown:stdin-end:group",
)(signal_group=leader_only(input_has_ended))
defect("end-spares-lists", "Leaves a list of sessions running when its input ends.", "shutdown:stdin-end:group")(
    list_sessions=before(lambda port, call, plan: port.memory.update({call: "listing"})),
    stop=lambda port, real, call: None if input_has_ended(port) and call in port.memory else real(call),
)
defect(
    "end-only-asks",
    "Sends SIGTERM to gemini when its input ends, and leaves it at that.",
    "shutdown:stdin-end:ignored-term",
)(signal_group=never_kills(input_has_ended))
defect("sigterm-waits-for-line", "Notices SIGTERM when the next line comes.", "shutdown:sigterm")(
    on_signal=notes_signal, lines=lines_until_signal
)
defect("sigterm-ignored-while-busy", "Ignores SIGTERM while a call runs.", "shutdown:sigterm")(
    on_signal=lambda port, real, number, frame: None if port.calls else real(number, frame)
)
defect(
    "sigterm-unhandled",
    "Dies of SIGTERM as it is, and leaves gemini running.",
    "shutdown:sigterm:group",
    "system:removed:sigterm",
)(signals=always((signal.SIGINT, signal.SIGHUP)))
defect("signal-ends-leader-only", "Ends gemini, but not what gemini started, on a signal.", "shutdown:sigterm:group")(
    signal_group=leader_only(lambda port: port.ended_by_signal)
)
defect("sigint-unhandled", "Dies of SIGINT as it is, and leaves gemini running.", "shutdown:sigint:group")(
    signals=default_for_sigint
)
defect("sighup-unhandled", "Dies of SIGHUP as it is, and leaves gemini running.", "shutdown:sighup:group")(
    signals=always((signal.SIGTERM, signal.SIGINT))
)
defect("slow-to-end", "Takes its time before it ends.", "shutdown:prompt")(shut_down=ends_slowly)
