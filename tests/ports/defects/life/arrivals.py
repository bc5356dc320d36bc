"""Defects in who waits for whom, in cancellations and progress, and in the end of the port."""

import os
import signal
import time
from types import FrameType
from typing import Any

from defects.record import defect
from port import Stop
from running import GRACE, Call
from speaking import Message


def default_named_alone(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    turn = real(tool, texts)
    return "latest" if turn and turn.startswith("latest in ") and "cwd" not in texts else turn


def kills_unless_asked_again(port: Any, real: Any, call: Call) -> None:
    """The second request to stop replaces the timer of the first, and starts none."""
    count = port.memory[call] = port.memory.get(call, 0) + 1
    if count > 1 and not port.is_ending:
        return
    process = call.process
    if process is not None:
        port.signal_group(process.pid, signal.SIGTERM)
        call.ended.wait(GRACE)
        if port.memory[call] == 1 or port.is_ending:
            port.signal_group(process.pid, signal.SIGKILL)


def impatient(port: Any, real: Any, number: int, frame: FrameType | None) -> None:
    if number != signal.SIGINT:
        real(number, frame)
    elif port.memory.get("interrupted"):
        os._exit(130)
    port.memory["interrupted"] = port.ended_by_signal = True
    if not port.is_ending:
        raise Stop


def starts_once_for_token(port: Any, real: Any, call: Call) -> None:
    token = f"{type(call.token).__name__} {call.token}"
    if call.progress == 0 and token in port.memory.setdefault("tokens", set()):
        call.progress = 1
        call.next_progress = time.monotonic() + 5
        return
    port.memory.setdefault("tokens", set()).add(token)
    real(call)


def ever_slower(port: Any, real: Any, call: Call) -> None:
    real(call)
    call.next_progress = time.monotonic() + min(30.0, 5.0 * 2 ** max(0, call.progress - 1))


def done_after_failure(port: Any, real: Any, call: Call, result: Message) -> None:
    real(call, result)
    if result.get("isError") and call.token is not None and call.progress > 1 and not call.is_cancelled:
        call.progress += 1
        with port.output:
            port.write(port.progress(call))


defect(
    "latest-here-and-latest-named",
    "Lets a reply to the latest session without `cwd` run beside one that names the server's own directory.",
    "concurrency:latest",
)(turn=default_named_alone)
defect(
    "cancelled-twice-never-killed",
    "Does not kill a gemini that ignores SIGTERM when a second cancellation follows at once.",
    "cancel:ignored-term",
)(stop=kills_unless_asked_again)
defect(
    "second-interrupt-exits-at-once",
    "Exits at once at a second SIGINT, and leaves a gemini that ignores SIGTERM.",
    "shutdown:sigint:group",
)(on_signal=impatient)
defect(
    "used-token-starts-silent",
    "Tells no progress at the start of a call with a token that an earlier call had.",
    "progress:start",
)(report_progress=starts_once_for_token)
defect(
    "progress-ever-slower",
    "Doubles the time to the next progress after each one.",
    "progress:interval",
)(report_progress=ever_slower)
defect(
    "done-told-after-late-failure",
    "Tells progress once more behind the error of a call that has lasted long enough for a second progress.",
    "progress:end",
)(answer=done_after_failure)
