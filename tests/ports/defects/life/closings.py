"""Defects that show when a server ends: which processes and files it leaves, and what keeps it from ending."""

import os
import shutil
import signal
import time
from typing import Any

from defects.life.cancelling import leader_only
from defects.record import defect
from running import GRACE, Call
from steps import before

SLOW_SECONDS = 4.0
EXIT_SECONDS = 1.5


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


def notes_signal(port: Any, number: int, frame: Any) -> None:
    port.memory["signal"] = number


def was_hung_up(port: Any) -> bool:
    return port.memory.get("signal") == signal.SIGHUP


def waits_for_reader(port: Any) -> None:
    if port.ended_by_signal:
        with port.output:
            pass


def written_before_turn(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Has the file ready before its turn comes, and leaves it when the server ends meanwhile."""
    text = call.arguments.get("systemPrompt")
    path = port.write_system(text) if turn is not None and isinstance(text, str) and text.strip() else None
    real(call, turn)
    if path is not None and not port.is_ending:
        shutil.rmtree(os.path.dirname(path))


def ignores_signals(port: Any, call: Call) -> None:
    """Looks after signals by a handler that it takes away with the call."""
    port.memory["deaf"] = True


def heard_unless_deaf(port: Any, real: Any, number: int, frame: Any) -> None:
    if not port.memory.get("deaf"):
        real(number, frame)


def slow_with_token(port: Any) -> None:
    """Tells progress of the end of each call."""
    if any(call.token is not None for call in port.calls):
        for call in port.calls:
            port.end(call)
        time.sleep(SLOW_SECONDS)


defect(
    "end-kills-leader-alone",
    "Sends SIGTERM to the group of gemini and SIGKILL to gemini alone when its input ends.",
    "shutdown:stdin-end:group",
)(stop=leader_killed_at_end, signal_group=spares_group_at_end)
defect(
    "hangup-ends-leader-only",
    "Ends gemini, but not what gemini started, on SIGHUP.",
    "shutdown:sighup:group",
)(on_signal=before(notes_signal), signal_group=leader_only(was_hung_up))
defect(
    "signal-waits-for-reader",
    "Waits on a signal until the client has read an answer that is being written.",
    "shutdown:sigterm",
)(shut_down=before(waits_for_reader))
defect(
    "kept-in-line-at-end",
    "Keeps the system prompt of a reply that waits for another when its input ends.",
    "system:removed:stdin-end",
    "system:removed:sigterm",
)(take_turn=written_before_turn)
defect(
    "deaf-to-signals-behind-cancellation",
    "Ignores signals once a call has been cancelled.",
    "shutdown:sigterm",
)(cancel=before(ignores_signals), on_signal=heard_unless_deaf)
defect(
    "slow-to-end-beside-token",
    "Takes its time before it ends when a call runs that asks for progress.",
    "shutdown:prompt",
)(shut_down=before(slow_with_token))
