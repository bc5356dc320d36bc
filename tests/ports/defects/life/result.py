"""Answers that are lost or changed by the end of gemini, or by a call beside it: ports that break `result`."""

import json
import os
import signal
import tempfile
import threading
import time
from typing import IO, Any

from answering import Answer
from conditions import REVISION, speaks
from defects.life.shared import PATIENCE, notes_output
from defects.record import defect
from running import Call
from speaking import Message
from steps import Step, before

MOMENT = 0.1
PAUSE = 0.5


def file_by_length(port: Any, real: Any, text: str | None) -> IO[bytes]:
    if text is None:
        return real(text)
    path = os.path.join(tempfile.gettempdir(), f"prompt-{len(text)}")
    with open(path, "wb") as file:
        file.write(text.encode())
    return open(path, "rb")


def unnamed_in_oldest(port: Any, real: Any, answer: Answer) -> Message:
    """The oldest revision has no `_meta` in the result of a call."""
    result = real(answer)
    if speaks(port, "2024-11-05"):
        result.pop("_meta", None)
    return result


def waits_for_any(port: Any, real: Any, call: Call, process: Any) -> int:
    """Takes the next exit for the one it waits for."""
    begun = time.monotonic()
    exit = real(call, process)
    now, (ended, other) = time.monotonic(), port.memory.get("ended", (0.0, 0))
    port.memory["ended"] = (now, exit)
    return other if begun < ended and now - ended < MOMENT else exit


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


def gives_up_at_four(port: Any, call: Call, now: float) -> None:
    if call.deadline is not None and call.tool == "chat-reply" and call.deadline - now < 597:
        call.deadline = now


def strictly_encoded(port: Any, answer: Answer) -> None:
    json.dumps(answer.warnings, ensure_ascii=False).encode()


defect(
    "stdin-file-named-by-length",
    "Puts a long prompt into a file that is named after its length, so that two at once can read one.",
    "result:session-id",
    "prompt:long",
)(input=file_by_length)
defect(
    "session-unnamed-in-oldest-revision",
    "Names no session for clients of the revision 2024-11-05.",
    "result:session-id",
)(initialize=REVISION, success=unnamed_in_oldest)
defect(
    "exits-of-a-moment-mixed",
    "Gives two runs that end in the same moment the exit code of the first.",
    "result:success",
    "error:exit",
)(wait=waits_for_any)
defect("silent-gemini-given-up", "Ends a gemini that has printed nothing for two seconds.", "result:success")(
    begin=before(notes_output), wait=ends_silent(PATIENCE, has_printed=False)
)
defect(
    "replies-given-up-at-three-seconds",
    "Gives a reply up that takes longer than three seconds.",
    "result:success",
)(check_deadline=before(gives_up_at_four))
defect("surrogate-in-warning-fails", "Fails when a warning holds a lone surrogate.", "result:success")(
    success=before(strictly_encoded)
)
defect(
    "pausing-gemini-given-up",
    "Ends a gemini that prints nothing more for half a second in the middle of its answer.",
    "result:text:split",
)(begin=before(notes_output), wait=ends_silent(PAUSE, has_printed=True))
