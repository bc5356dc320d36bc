"""What SIGTERM leaves running: ports that break `shutdown:sigterm`."""

import os
import signal
from collections.abc import Iterator, Mapping
from typing import Any

from answering import Outcome
from defects.life.shared import leader_only, spared_at_signal
from defects.record import defect
from defects.shared import spares_group
from http_port import HttpPort
from planning import Plan
from port import SIGNALS, Stop
from running import Call
from steps import always, before

PIECE = 1 << 16
ENDED = 8


def waits_for_reader(port: Any) -> None:
    if port.ended_by_signal:
        with port.output:
            pass


def ignores_signals(port: Any, call: Call) -> None:
    """Looks after signals by a handler that it takes away with the call."""
    port.memory["deaf"] = True


def heard_unless_deaf(port: Any, real: Any, number: int, frame: Any) -> None:
    if not port.memory.get("deaf"):
        real(number, frame)


def notes_signal(port: Any, real: Any, number: int, frame: Any) -> None:
    port.ended_by_signal = True


def lines_until_signal(port: Any, real: Any) -> Iterator[bytes]:
    for line in real():
        if port.ended_by_signal:
            return
        yield line


def lines_undisturbed(port: Any, real: Any) -> Iterator[bytes]:
    held: list[bytes] = []
    while piece := os.read(0, PIECE):
        held.append(piece)
        port.memory["is_within"] = not piece.endswith(b"\n")
        if b"\n" in piece:
            *lines, rest = b"".join(held).split(b"\n")
            held = [rest]
            yield from (line + b"\n" for line in lines)
        if not port.memory["is_within"] and "signal" in port.memory:
            signal.raise_signal(port.memory["signal"])


def keeps_signal(port: Any, real: Any, number: int, frame: Any) -> None:
    if port.memory.get("is_within"):
        port.memory["signal"] = number
    else:
        real(number, frame)


def dies_of_second(port: Any, real: Any, number: int, frame: Any) -> None:
    for each in SIGNALS:
        signal.signal(each, signal.SIG_DFL)
    port.ended_by_signal = True
    raise Stop


def spares_ninth(port: Any, number: int, frame: Any) -> None:
    running = [call.process for call in port.calls if call.process is not None]
    port.memory["spared"] = [process.pid for process in running[ENDED:]]


def notes_list(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = port.memory.setdefault("listing", set[Call]())
    listing.add(call)
    try:
        return real(call, plan)
    finally:
        listing.discard(call)


def spares_lists(port: Any) -> None:
    if port.ended_by_signal:
        port.calls = [call for call in port.calls if call not in port.memory.get("listing", ())]


def listens_to_signals(port: Any, params: Mapping[str, Any]) -> None:
    for number in SIGNALS:
        signal.signal(number, port.on_signal)


def ends_by_key(port: Any, real: Any, call: Call) -> None:
    ended = port.memory.setdefault("ended", set())
    if not (port.ended_by_signal and str(call.id) in ended):
        real(call)
    if port.ended_by_signal:
        ended.add(str(call.id))


def waits_for_clients(port: Any) -> None:
    port.is_ending = True
    for call in list(port.calls):
        port.end(call)
    port.server.server_close()


def spares_abandoned(port: Any) -> None:
    port.calls = [call for call in port.calls if not port.posts[call].is_gone()]


defect(
    "signal-waits-for-reader",
    "Waits on a signal until the client has read an answer that is being written.",
    "shutdown:sigterm",
)(shut_down=before(waits_for_reader))
defect(
    "sigterm-waits-for-open-connections",
    "Exits at SIGTERM only when every client has closed its connection, even an idle one.",
    "shutdown:sigterm",
)(
    HttpPort,
    serve=before(lambda port: setattr(port.server, "daemon_threads", False)),
    shut_down=before(waits_for_clients),
)
defect(
    "deaf-to-signals-behind-cancellation",
    "Ignores signals once a call has been cancelled.",
    "shutdown:sigterm",
)(cancel=before(ignores_signals), on_signal=heard_unless_deaf)
defect("sigterm-waits-for-line", "Notices SIGTERM when the next line comes.", "shutdown:sigterm")(
    on_signal=notes_signal, lines=lines_until_signal
)
defect("sigterm-ignored-while-busy", "Ignores SIGTERM while a call runs.", "shutdown:sigterm")(
    on_signal=lambda port, real, number, frame: None if port.calls else real(number, frame)
)
defect(
    "signal-waits-for-line",
    "Hears a signal in the middle of a line only when the rest of the line has come.",
    "shutdown:sigterm",
    "shutdown:sigterm:group",
)(lines=lines_undisturbed, on_signal=keeps_signal)
defect("second-signal-kills", "Dies of a second signal at once, and leaves gemini running.", "shutdown:sigterm:group")(
    on_signal=dies_of_second
)
defect(
    "signal-spares-long-prompts", "Leaves the gemini of a long prompt running on a signal.", "shutdown:sigterm:group"
)(shut_down=spared_at_signal(lambda call: len(str(call.arguments.get("prompt")).encode()) > 128_000))
defect(
    "sigterm-unhandled",
    "Dies of SIGTERM as it is, and leaves gemini running.",
    "shutdown:sigterm:group",
    "system:removed:sigterm",
)(signals=always((signal.SIGINT, signal.SIGHUP)))
defect("signal-ends-leader-only", "Ends gemini, but not what gemini started, on a signal.", "shutdown:sigterm:group")(
    signal_group=leader_only(lambda port: port.ended_by_signal)
)
defect(
    "signal-ends-eight",
    "Ends no more than eight calls on a signal.",
    "shutdown:sigterm:group",
)(on_signal=before(spares_ninth), signal_group=spares_group)
defect("signal-spares-lists", "Leaves a list of sessions running on a signal.", "shutdown:sigterm:group")(
    list_sessions=notes_list, shut_down=before(spares_lists)
)
defect(
    "signals-heard-after-handshake",
    "Looks after signals once there was a handshake.",
    "shutdown:sigterm:group",
)(signals=lambda port, real: (), initialize=before(listens_to_signals))
defect(
    "signal-ends-one-of-like-ids",
    "Ends one of two calls at a signal whose ids are a number and the same number as a text.",
    "shutdown:sigterm:group",
)(end=ends_by_key)
defect(
    "abandoned-calls-outlive-sigterm",
    "Lets the gemini of a call run on after SIGTERM when its client has left before.",
    "shutdown:sigterm:group",
    "system:removed:sigterm",
)(HttpPort, shut_down=before(spares_abandoned))
