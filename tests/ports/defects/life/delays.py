"""Defects of timing: what is given up too early, what comes too soon behind another, and who holds whose place."""

import os
import signal
import threading
import time
from collections.abc import Mapping
from typing import Any

from answering import Outcome
from defects.life.moments import notes_output
from defects.record import defect
from http_port import HttpPort
from running import GRACE, Call
from steps import Step, before

OF_SESSION = threading.Lock()
PATIENCE, PAUSE, INTERVAL = 2.0, 0.5, 0.1


def ends_silent(seconds: float, has_printed: bool) -> Step:
    """Of `wait`: ends a gemini that has printed nothing, or nothing more, for so long."""

    def wait(port: Any, real: Any, call: Call, process: Any) -> int:
        threading.Thread(target=watch, args=(port, call, process), daemon=True).start()
        return real(call, process)

    def watch(port: Any, call: Call, process: Any) -> None:
        size, since = 0, time.monotonic()
        while process.poll() is None:
            time.sleep(0.05)
            try:
                now = os.fstat(port.memory[call].fileno()).st_size
            except (ValueError, OSError):
                return
            if now != size:
                size, since = now, time.monotonic()
            if bool(size) is has_printed and time.monotonic() - since > seconds and call.process is process:
                port.signal_group(process.pid, signal.SIGKILL)
                return

    return wait


def waits_briefly(port: Any, real: Any, call: Call, turn: str) -> None:
    """Whoever waits for more than two seconds waits no longer."""
    line = port.turns[turn]
    port.turn_changed.wait_for(lambda: line[0] is call or call.is_cancelled, PATIENCE)


def one_at_a_time(port: Any, real: Any, call: Call) -> Any:
    with OF_SESSION:
        return real(call)


def kills_latest(port: Any, real: Any, call: Call) -> None:
    """One clock for all: a call that is stopped sets it anew for the one before."""
    port.memory["stopped"] = call
    process = call.process
    if process is None:
        return
    port.signal_group(process.pid, signal.SIGTERM)
    call.ended.wait(GRACE)
    if port.memory["stopped"] is call:
        port.signal_group(process.pid, signal.SIGKILL)


def not_too_often(port: Any, real: Any, call: Call) -> None:
    now, last = time.monotonic(), port.memory.get("last", 0.0)
    if now - last < INTERVAL:
        return
    port.memory["last"] = now
    real(call)


def removed_by_clock(port: Any, real: Any, path: str | None) -> Any:
    if path is not None:
        clock = threading.Timer(1.5, lambda: os.path.exists(path) and os.unlink(path))
        clock.daemon = True
        clock.start()
    return real(path)


def writes_before_looking(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    path = port.write_system(texts["systemPrompt"]) if texts.get("systemPrompt") else None
    cwd = real(tool, texts)
    if path is not None:
        port.remove_system(path, None, None)
    return cwd


def held_until_end(port: Any, real: Any, text: str | None) -> Any:
    """A pipe that is closed when the next call begins, for a prompt that is long."""
    if text is None:
        return real(text)
    reader, writer = os.pipe()
    port.memory.setdefault("writers", []).append(writer)
    threading.Thread(target=write_all, args=(writer, text.encode()), daemon=True).start()
    return open(reader, "rb")


def write_all(writer: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(writer, data) :]
    except OSError:
        return


def kept_by_disconnected(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    if not (call.is_cancelled and call.stateless):
        real(path, call, outcome)


def gives_up_at_four(port: Any, call: Call, now: float) -> None:
    if call.deadline is not None and call.tool == "chat-reply" and call.deadline - now < 597:
        call.deadline = now


defect("silent-gemini-given-up", "Ends a gemini that has printed nothing for two seconds.", "result:success")(
    begin=before(notes_output), wait=ends_silent(PATIENCE, has_printed=False)
)
defect(
    "pausing-gemini-given-up",
    "Ends a gemini that prints nothing more for half a second in the middle of its answer.",
    "result:text:split",
)(begin=before(notes_output), wait=ends_silent(PAUSE, has_printed=True))
defect(
    "turn-waited-for-two-seconds",
    "Lets a reply wait two seconds for another in its session, and no longer.",
    "concurrency:same-session",
)(await_turn=waits_briefly)
defect("http-calls-in-a-row", "Serves one call after the other over HTTP.", "concurrency:calls")(
    HttpPort, execute=one_at_a_time
)
defect(
    "kill-clock-shared",
    "Sends SIGKILL to the last alone of several calls that are cancelled at once.",
    "cancel:ignored-term",
)(stop=kills_latest)
defect(
    "cancellations-in-a-row-lost",
    "Ignores a cancellation that comes within a tenth of a second behind another.",
    "cancel:child",
)(cancel=not_too_often)
defect(
    "system-prompt-removed-by-clock",
    "Removes the system prompt a second and a half after gemini has started.",
    "system:life",
)(environment=removed_by_clock)
defect(
    "system-prompt-written-before-look",
    "Writes the system prompt before it looks at the directory, and keeps it when it refuses that.",
    "system:removed:failure",
)(cwd=writes_before_looking)
defect(
    "long-stdin-held-open",
    "Holds the stdin open by which a gemini reads a long prompt.",
    "process:stdin:ended",
)(input=held_until_end)
defect(
    "system-prompt-kept-for-stateless-cancellation",
    "Keeps the system prompt of a call of the stateless era that was cancelled.",
    "system:removed:cancel",
)(remove_system=kept_by_disconnected)
defect(
    "system-prompt-kept-for-disconnected",
    "Keeps the system prompt of a call whose client has closed its connection.",
    "system:removed:cancel",
)(HttpPort, remove_system=kept_by_disconnected)
defect(
    "replies-given-up-at-three-seconds",
    "Gives a reply up that takes longer than three seconds.",
    "result:success",
)(check_deadline=before(gives_up_at_four))
