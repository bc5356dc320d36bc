"""Defects in ending: what a gemini that is stubborn, late or one of many leaves when a call or the server ends."""

import signal
import subprocess
from typing import Any

from conditions import failed, marks, since
from defects.call.system import keeps
from defects.life.cancelling import spares_group
from defects.life.ending import ends_slowly
from defects.record import defect
from running import Call
from steps import before

ENDED = 8


def notes_killed(port: Any, real: Any, call: Call, process: subprocess.Popen[bytes]) -> int:
    exit = real(call, process)
    if exit == -signal.SIGKILL:
        port.memory[call] = "killed"
    return exit


def notes_cancellation(port: Any, call: Call) -> None:
    port.memory["has_cancelled"] = True


def notes_later_ones(port: Any, real: Any, *arguments: Any) -> Any:
    process = real(*arguments)
    if port.memory.get("has_cancelled"):
        port.memory.setdefault("later", []).append(process.pid)
    return process


def spares_later_ones(port: Any) -> None:
    port.memory["spared"] = port.memory.get("later", ())


def spares_ninth(port: Any, number: int, frame: Any) -> None:
    running = [call.process for call in port.calls if call.process is not None]
    port.memory["spared"] = [process.pid for process in running[ENDED:]]


def slow_beside_line(port: Any, real: Any) -> None:
    if any(len(line) > 1 for line in port.turns.values()):
        ends_slowly(port, real)
    else:
        real()


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
    "signal-ends-eight",
    "Ends no more than eight calls on a signal.",
    "shutdown:sigterm:group",
)(on_signal=before(spares_ninth), signal_group=spares_group)
defect(
    "kept-when-killed-by-cancel",
    "Keeps the system prompt of a cancelled call whose gemini had to be killed.",
    "system:removed:cancel",
)(
    wait=notes_killed,
    remove_system=keeps(lambda port, call, outcome: call in port.memory and call.is_cancelled and not port.is_ending),
)
defect(
    "kept-when-killed-by-signal",
    "Keeps the system prompt of a call whose gemini had to be killed when a signal ends the server.",
    "system:removed:sigterm",
)(wait=notes_killed, remove_system=keeps(lambda port, call, outcome: call in port.memory and port.ended_by_signal))
defect(
    "kept-after-death-by-signal",
    "Keeps the system prompt of a call whose gemini has died of a signal.",
    "system:removed:failure",
)(remove_system=keeps(lambda port, call, outcome: outcome is not None and outcome.exit < 0))
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
