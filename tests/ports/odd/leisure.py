"""Odd leisure: what a port does later, more rarely or more slowly than others, as long as nothing forbids it."""

import os
import threading
import time
from typing import Any

from odd.record import odd
from odd.structures import found
from running import Call
from steps import after, before

RARELY = 9.4
LATER = 0.3
LEISURE = 0.8


def rarely(port: Any, call: Call) -> None:
    call.next_progress = time.monotonic() + RARELY


def removes_later(port: Any, real: Any, path: str, call: Call, outcome: Any) -> None:
    """Beside the answer. At the end of the server nobody would be left to do so."""
    if port.is_ending:
        real(path, call, outcome)
        return
    thread = threading.Thread(target=lambda: (time.sleep(LATER), real(path, call, outcome)), daemon=True)
    port.threads = [*port.threads, thread]
    thread.start()


def lets_calls_end(port: Any) -> None:
    port.is_ending = True
    deadline = time.monotonic() + LEISURE
    while port.calls and time.monotonic() < deadline:
        time.sleep(0.02)


def logs_bytes(port: Any, line: bytes) -> None:
    os.write(2, b"\x1b[1;31m\xff\xfe re\xe7u %d\x00\x1b[0m\r" % len(line))


def with_low_priority(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    nice = found("nice", f"{os.environ['PATH']}:{os.defpath}")
    return real((nice, "-n", "3", found(argv[0]), *argv[1:]), umask=0o077, **options)


def true_path(port: Any, real: Any) -> str:
    return os.path.realpath(real())


odd("rarely-progress", "Tells progress every 9.4 seconds.")(report_progress=after(rarely))
odd("removes-later", "Removes the file of the system prompt 0.3 seconds behind the answer.")(
    remove_system=removes_later, new_directory=true_path
)
odd("lets-calls-end", "Gives calls 0.8 seconds to end by themselves when its input has ended.")(
    shut_down=before(lets_calls_end)
)
odd("logs-bytes", "Logs bytes that are no text for each line, and ends none of its lines.")(receive=before(logs_bytes))
odd("low-priority", "Starts gemini through `nice`, and lets it write files for its user alone.")(
    spawn=with_low_priority
)
