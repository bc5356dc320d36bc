"""Odd ways to end what runs, and to answer when much runs."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from odd.record import odd
from port import SIGNALS
from running import Call
from speaking import as_object
from steps import before

ENDING = threading.Lock()
BUSY = 8
LATE = 0.4
GRACE = 0.1
"""So short that it has ended many before it ends itself."""


def late_when_busy(port: Any) -> None:
    if len(port.calls) >= BUSY:
        time.sleep(LATE)


def logs_strangers(port: Any, method: str, params: Any) -> None:
    wanted = (as_object(params) or {}).get("requestId")
    if method == "notifications/cancelled" and wanted not in [call.id for call in port.calls]:
        print(f"Nothing to cancel for {wanted!r}.", file=sys.stderr, flush=True)


def remembered(port: Any, real: Any) -> str:
    folder: str = real()
    port.memory.setdefault("folders", []).append(folder)
    return folder


def hurries_next_time(port: Any, number: int, frame: Any) -> None:
    if not port.ended_by_signal:
        return
    for call in list(port.calls):
        if (process := call.process) is not None:
            port.signal_group(process.pid, signal.SIGKILL)
    for folder in port.memory.get("folders", ()):
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def heeds_second(port: Any, real: Any, number: int, frame: Any) -> None:
    hurries_next_time(port, number, frame)
    try:
        real(number, frame)
    finally:
        for each in SIGNALS:
            signal.signal(each, port.on_signal)


def by_program(port: Any, real: Any, leader: int, number: signal.Signals) -> None:
    subprocess.run(("kill", f"-{number:d}", "--", f"-{leader}"), check=False, stderr=subprocess.DEVNULL)


def one_by_one(port: Any, real: Any, call: Call) -> None:
    with call.lock:
        process = call.process
    if process is not None:
        with ENDING:
            port.signal_group(process.pid, signal.SIGTERM)
            call.ended.wait(GRACE)
            port.signal_group(process.pid, signal.SIGKILL)


odd("late-when-busy", "Answers a ping late while many calls run.")(ping=before(late_when_busy))
odd("logs-late-cancellations", "Logs the cancellation of what does not run.")(notified=before(logs_strangers))
odd("hurries-at-second-signal", "Kills what runs and ends at once when a second signal comes.")(
    new_directory=remembered, on_signal=heeds_second
)
odd("signals-by-program", "Lets the program `kill` send its signals.")(signal_group=by_program)
odd("ends-one-by-one", "Ends one gemini after the other.")(stop=one_by_one)
