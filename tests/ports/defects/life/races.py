"""Defects that need several calls at the right moment: locks that go too early, places that are taken twice."""

import os
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import IO, Any

from defects.life.cancelling import only_asks
from defects.life.moments import has_printed, notes_output
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message
from steps import Step, after, only

MOST = 8
QUEUE = 32
SMALL = range(-128, 128)
"""Numbers of which Java keeps one object each, so that `==` compares them rightly."""
TICK = 0.02
PLACES, TWELVE = threading.Semaphore(MOST), threading.Semaphore(12)
OUTBOX = deque[Callable[[], None]](maxlen=QUEUE)
FILLED = threading.Condition()


def takes(lock: Any, call: Call) -> bool:
    """Whether the call has got it before it was cancelled."""
    while not lock.acquire(timeout=TICK):
        if call.is_cancelled:
            return False
    return True


def takes_lock(port: Any, real: Any, call: Call, turn: str | None) -> None:
    if turn is not None:
        lock = port.memory.setdefault("locks", {}).setdefault(turn, threading.Lock())
        if takes(lock, call):
            port.memory[call] = lock


def forgets_lock(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Whoever waits has the lock that is forgotten here; who comes later makes another."""
    if lock := port.memory.pop(call, None):
        port.memory["locks"].pop(turn, None)
        lock.release()


def in_one_of(places: threading.Semaphore) -> Step:
    """Of `ask` and `list_sessions`: waits for a place first."""

    def step(port: Any, real: Any, call: Call, plan: Plan) -> Any:
        has_place = takes(places, call)
        try:
            return real(call, plan)
        finally:
            if has_place:
                places.release()

    return step


def third_in_line_overlooked(port: Any, real: Any, call: Call) -> None:
    if not any(call in line[2:] for line in list(port.turns.values())):
        real(call)


def told_to_the_one_before(port: Any, real: Any, call: Call, turn: str | None) -> None:
    line = list(port.turns.get(turn or "", ()))
    real(call, turn)
    if not line or line[-1].token is None or call.token is None:
        return
    earlier, deadline = line[-1], time.monotonic() + 1
    while not earlier.is_answered and time.monotonic() < deadline:
        time.sleep(TICK)
    with port.output:
        earlier.progress += 1
        port.write(port.progress(earlier))


def file_by_length(port: Any, real: Any, text: str | None) -> IO[bytes]:
    if text is None:
        return real(text)
    path = os.path.join(tempfile.gettempdir(), f"prompt-{len(text)}")
    with open(path, "wb") as file:
        file.write(text.encode())
    return open(path, "rb")


def is_small(call: Call) -> bool:
    return not isinstance(call.id, int) or call.id in SMALL


def queued(port: Any, real: Any, message: Message) -> None:
    """A thread writes, and the queue before it drops the oldest message when it is full."""
    with FILLED:
        if "writer" not in port.memory:
            port.memory["writer"] = threading.Thread(target=write_queued, daemon=True)
            port.memory["writer"].start()
        OUTBOX.append(lambda: real(message))
        FILLED.notify()


def write_queued() -> None:
    while True:
        with FILLED:
            FILLED.wait_for(lambda: OUTBOX)
            write = OUTBOX.popleft()
        write()


defect(
    "lock-forgotten-by-first-to-end",
    "Forgets the lock of a session at the end of a reply, also when the next one holds it.",
    "concurrency:same-session",
)(take_turn=takes_lock, end_turn=forgets_lock)
defect(
    "list-needs-place-of-its-own",
    "Runs eight calls at once, and waits for another place before it asks for a list of sessions.",
    "fallback:list-sessions",
    "concurrency:lost",
)(ask=in_one_of(PLACES), list_sessions=in_one_of(PLACES))
defect(
    "list-needs-second-slot",
    "Runs twelve geminis at most, and a call keeps its place while it waits for another one for its list.",
    "concurrency:lost",
)(ask=in_one_of(TWELVE), list_sessions=in_one_of(TWELVE))
defect(
    "cancel-of-third-in-line-overlooked",
    "Cancels the first of the replies that wait in a line, and no other of them.",
    "cancel:others",
    "cancel:child",
)(cancel=third_in_line_overlooked)
defect(
    "turn-told-to-the-one-before",
    "Tells a reply that its turn has come under the token of the one before.",
    "progress:token",
    "progress:end",
)(take_turn=told_to_the_one_before)
defect(
    "stdin-file-named-by-length",
    "Puts a long prompt into a file that is named after its length, so that two at once can read one.",
    "result:session-id",
    "prompt:long",
)(input=file_by_length)
defect(
    "ids-beyond-127-not-cancelled",
    "Finds no call to cancel whose id is a number beyond 127.",
    "cancel:child",
)(cancel=only(is_small))
defect(
    "cancel-only-asks-behind-output",
    "Sends SIGTERM to a gemini that has printed something, and leaves it at that.",
    "cancel:ignored-term",
)(begin=after(notes_output), stop=only_asks(has_printed))
defect(
    "queue-of-32-messages",
    "Drops the oldest of more than 32 messages for which the client has no room.",
    "rpc:response:id",
    "lifecycle:ping",
)(write=queued)
