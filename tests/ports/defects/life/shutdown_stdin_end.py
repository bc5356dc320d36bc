"""What the end of the input leaves running: ports that break `shutdown:stdin-end`."""

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from defects.life.shared import leader_only, never_kills, when_idle
from defects.record import defect
from defects.shared import input_has_ended, spares_group
from port import EXIT_SECONDS
from running import GRACE, Call
from steps import before


def overlooks_end(port: Any, real: Any) -> None:
    while True:
        signal.pause()


def leader_killed_at_end(port: Any, real: Any, call: Call) -> None:
    """Asks the whole group, but kills the leader alone."""
    process = call.process
    if process is None or not port.is_ending or port.ended_by_signal:
        real(call)
        return
    port.memory["spares"] = True
    port.signal_group(process.pid, signal.SIGTERM)
    if not call.ended.wait(GRACE):
        process.kill()


def spares_group_at_end(port: Any, real: Any, leader: int, number: Any) -> None:
    if number != signal.SIGKILL or not port.memory.get("spares"):
        real(leader, number)


def notes_cancellation(port: Any, call: Call) -> None:
    port.memory["has_cancelled"] = True


def notes_later_ones(port: Any, real: Any, *arguments: Any) -> Any:
    process = real(*arguments)
    if port.memory.get("has_cancelled"):
        port.memory.setdefault("later", []).append(process.pid)
    return process


def spares_later_ones(port: Any) -> None:
    port.memory["spared"] = port.memory.get("later", ())


def ends_running_alone(port: Any, real: Any) -> None:
    """A reply whose turn comes by that is begun, and nobody looks after it any more."""
    port.is_ending = True
    for call in list(port.calls):
        if call.process is not None:
            port.end(call)
    deadline = time.monotonic() + EXIT_SECONDS
    for thread in list(port.threads):
        thread.join(max(0.0, deadline - time.monotonic()))
    os._exit(0)


def only_oldest_killed(port: Any, real: Any, call: Call) -> None:
    if not port.is_ending or not port.calls or call is port.calls[0]:
        real(call)
    elif (process := call.process) is not None:
        port.signal_group(process.pid, signal.SIGTERM)


def open_to_hangup(port: Any, real: Any) -> None:
    if not port.ended_by_signal:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    real()


def quits_at_interrupt(port: Any, real: Any, number: int, frame: Any) -> None:
    if port.is_ending and number == signal.SIGINT:
        os._exit(130)
    real(number, frame)


def waits_for_oldest(port: Any, real: Any) -> None:
    port.is_ending = True
    for call in list(port.calls):
        port.end(call)
    for thread in port.threads[:1]:
        thread.join(EXIT_SECONDS)
    os._exit(0)


def ends_in_turn(port: Any, real: Any) -> None:
    """Ends the calls one after the other, as far as time allows."""
    calls = list(port.calls)
    for call in calls:
        call.is_cancelled = True
    ending = threading.Thread(target=lambda: [port.stop(call) for call in calls], daemon=True)
    ending.start()
    ending.join(EXIT_SECONDS)
    os._exit(0)


def write_or_die(port: Any, real: Any, message: Any) -> None:
    try:
        sys.stdout.buffer.write(port.encoded(message))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os._exit(1)


def flushes_first(port: Any, real: Any) -> Any:
    poll = select.poll()
    poll.register(1, 0)
    if any(state & (select.POLLERR | select.POLLHUP) for _, state in poll.poll(0)):
        os._exit(1)
    return real()


def last_line_is_late(port: Any, real: Any) -> Iterator[bytes]:
    for line in real():
        while not line.endswith(b"\n") and port.calls:
            time.sleep(0.05)
        yield line


defect("end-of-input-overlooked", "Lives on after the end of its input.", "shutdown:stdin-end")(
    input_ended=overlooks_end
)
defect("end-waits-for-calls", "Waits for the calls that run when its input ends.", "shutdown:stdin-end:busy")(
    input_ended=when_idle
)
defect(
    "end-kills-leader-alone",
    "Sends SIGTERM to the group of gemini and SIGKILL to gemini alone when its input ends.",
    "shutdown:stdin-end:group",
)(stop=leader_killed_at_end, signal_group=spares_group_at_end)
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
    "end-spares-calls-behind-cancellation",
    "Leaves the gemini of calls running when its input ends that came after a cancellation.",
    "shutdown:stdin-end:group",
)(
    cancel=before(notes_cancellation),
    begin=notes_later_ones,
    input_ended=before(spares_later_ones),
    signal_group=spares_group,
)
defect(
    "waiting-reply-begun-at-end",
    "Begins a reply that waits when the end of the server ends the one before it.",
    "shutdown:stdin-end:group",
    "shutdown:sigterm:group",
)(shut_down=ends_running_alone)
defect(
    "end-kills-oldest-alone",
    "Sends SIGKILL to the oldest of several calls only when its input ends.",
    "shutdown:stdin-end:ignored-term",
)(stop=only_oldest_killed)
defect(
    "end-only-asks",
    "Sends SIGTERM to gemini when its input ends, and leaves it at that.",
    "shutdown:stdin-end:ignored-term",
)(signal_group=never_kills(input_has_ended))
defect(
    "hangup-kills-farewell",
    "Dies of a SIGHUP that follows the end of stdin before it has killed a gemini that ignores SIGTERM.",
    "shutdown:stdin-end:ignored-term",
    "shutdown:sighup:group",
)(shut_down=open_to_hangup)
defect(
    "interrupt-while-closing",
    "Exits at once at a SIGINT that follows the end of stdin, before a gemini that ignores SIGTERM is killed.",
    "shutdown:stdin-end:ignored-term",
)(on_signal=quits_at_interrupt)
defect(
    "end-waits-for-oldest",
    "Waits at its end for the oldest call alone, so another gemini that ignores SIGTERM lives on.",
    "shutdown:stdin-end:ignored-term",
    "shutdown:sigterm:group",
)(shut_down=waits_for_oldest)
defect(
    "calls-ended-in-turn",
    "Ends the calls that run one after the other when its input ends, and leaves those for which there is no time.",
    "shutdown:stdin-end:ignored-term",
    "shutdown:sigterm:group",
)(shut_down=ends_in_turn)
defect(
    "dies-of-closed-stdout",
    "Dies at once when it has something to say to a client that has closed its end, and leaves other calls running.",
    "shutdown:stdin-end:group",
)(write=write_or_die)
defect(
    "flushes-before-it-ends-calls",
    "Flushes stdout before it ends what runs, and dies of that when the client has closed its end of stdout, too.",
    "shutdown:stdin-end:group",
    "shutdown:stdin-end:ignored-term",
    "system:removed:stdin-end",
)(shut_down=flushes_first)
defect(
    "calls-outlive-half-a-line",
    "Takes the end of stdin in the middle of a line for one only when no call runs any more.",
    "shutdown:stdin-end:busy",
    "shutdown:stdin-end:group",
)(lines=last_line_is_late)
