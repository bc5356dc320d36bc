"""Defects that show at one moment: while gemini ends, while nobody reads, at a second signal, behind a list."""

import glob
import os
import shutil
import signal
import tempfile
import threading
from contextlib import suppress
from queue import Queue
from typing import IO, Any

from conditions import wanted
from defects.record import defect
from port import SIGNALS, Stop
from running import Call, Cancelled
from speaking import INVALID_REQUEST, as_object
from steps import Step, before, only

CROWD = 16
OUTBOX = Queue[Any]()
OUTPUT, ERRORS = 4, 5
"""The place of the file for stdout among what a run is begun with."""
KNOWN = {"requestId", "reason"}


def removes_all(port: Any, *arguments: Any) -> None:
    for each in glob.glob(os.path.join(tempfile.gettempdir(), "gemini-mcp-*")):
        shutil.rmtree(each, ignore_errors=True)


def objects_to_second(port: Any, method: str, params: Any) -> None:
    for call in list(port.calls):
        if call.is_cancelled and call.id == wanted(method, params):
            port.send_error(call.id, INVALID_REQUEST, "The call is cancelled already.")


def through_outbox(port: Any, real: Any, message: Any) -> None:
    """A thread writes, so that the port reads on while nobody reads what it writes."""
    if port.memory.setdefault("writer", None) is None:
        port.memory["writer"] = threading.Thread(target=written, args=(real,), daemon=True)
        port.memory["writer"].start()
    OUTBOX.put(message)


def written(write: Any) -> None:
    while True:
        write(OUTBOX.get())
        OUTBOX.task_done()


def deaf_while_unread(port: Any, real: Any, method: str, params: Any) -> None:
    if not OUTBOX.unfinished_tasks:
        real(method, params)


def notes_file(place: int) -> Step:
    """Beside `begin`: remembers one of the files that gemini is given."""

    def note(port: Any, call: Call, *started: Any) -> None:
        port.memory[call] = started[place]

    return note


notes_output = notes_file(OUTPUT)


def size_of(file: IO[bytes]) -> int:
    """Of a file that is closed it is 0."""
    with suppress(OSError, ValueError):
        return os.fstat(file.fileno()).st_size
    return 0


def has_printed(port: Any, call: Call) -> bool:
    """Whether the file that is remembered holds something."""
    file = port.memory.get(call)
    return file is not None and size_of(file) > 0


def unless_printed(port: Any, real: Any, call: Call) -> None:
    if not has_printed(port, call):
        real(call)


def skipped_after_cancel(port: Any, real: Any, call: Call, plan: Any) -> Any:
    if port.memory.pop("skips", False):
        return None
    try:
        return real(call, plan)
    except Cancelled:
        port.memory["skips"] = True
        raise


def notes_call(port: Any, *arguments: Any) -> None:
    port.memory["has called"] = True


def discovered_before_calls(port: Any, real: Any) -> Any:
    return port.ping() if port.memory.get("has called") else real()


def dies_of_second(port: Any, real: Any, number: int, frame: Any) -> None:
    for each in SIGNALS:
        signal.signal(each, signal.SIG_DFL)
    port.ended_by_signal = True
    raise Stop


def notes_oldest(port: Any) -> None:
    prompted = [call for call in port.calls if call.arguments.get("systemPrompt")]
    port.memory["oldest"] = prompted[0] if len(port.calls) > 1 and prompted else None


def oldest_keeps(port: Any, real: Any, path: str, call: Call, outcome: Any) -> None:
    if port.memory.get("oldest") is not call:
        real(path, call, outcome)


defect("cancel-cleans-too-much", "Removes the system prompts of all calls when one is cancelled.", "system:life")(
    cancel=before(removes_all)
)
defect(
    "second-cancel-answered",
    "Answers the second cancellation of a call that is about to end.",
    "cancel:unanswered",
)(notified=before(objects_to_second))
defect("cancel-lost-while-unread", "Loses cancellations while the client does not read.", "cancel:child")(
    write=through_outbox, notified=deaf_while_unread
)
defect("cancel-lost-behind-output", "Overlooks a cancellation once gemini has printed something.", "cancel:child")(
    begin=before(notes_output), cancel=unless_printed
)
defect("cancel-with-more-overlooked", "Overlooks a cancellation that holds `_meta`.", "cancel:child")(
    notified=only(lambda method, params: set(as_object(params) or {}) <= KNOWN)
)
defect("list-skipped-behind-cancelled", "Asks for no list behind one that was cancelled.", "fallback:list-sessions")(
    list_sessions=skipped_after_cancel
)
defect("ping-waits-in-crowd", "Leaves a ping unanswered while sixteen calls run.", "concurrency:ping")(
    ping=lambda port, real: None if len(port.calls) >= CROWD else real()
)
defect("discovered-before-calls", "Forgets what it can do when it has served a call.", "stateless:discover")(
    begin_call=before(notes_call), discover=discovered_before_calls
)
defect("second-signal-kills", "Dies of a second signal at once, and leaves gemini running.", "shutdown:sigterm:group")(
    on_signal=dies_of_second
)
defect(
    "oldest-keeps-file-at-end",
    "Leaves the system prompt of the oldest of several calls when its input ends.",
    "system:removed:stdin-end",
)(remove_system=oldest_keeps, shut_down=before(notes_oldest))
