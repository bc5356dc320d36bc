"""Cancellations that gemini outlives, unheard or too mild: ports that break `cancel:child`."""

import threading
import time
from contextlib import suppress
from queue import Queue
from typing import Any

from defects.life.shared import has_printed, notes_output, piped
from defects.record import defect
from defects.shared import spares_old
from port import Port
from running import Call
from speaking import as_object
from steps import always, before, for_tool, only

CANCELLABLE = 8
PLACES = 8
OUTBOX = Queue[Any]()
KNOWN = {"requestId", "reason"}
INTERVAL = 0.1
SMALL = range(-128, 128)
"""Numbers of which Java keeps one object each, so that `==` compares them rightly."""
PREPARATION = 0.05
"""Seconds in which a port makes a call ready before it starts gemini."""


def only_silences(port: Any, real: Any, call: Call) -> None:
    with port.output:
        call.is_answered = True


def only_the_newest(port: Any, real: Any, call: Call) -> None:
    if call in port.calls[-CANCELLABLE:]:
        real(call)


class Pooled(Port):
    """Runs eight calls at once. Who waits for a place has no process yet that a cancellation could end."""

    def __init__(self) -> None:
        super().__init__()
        self.places = threading.BoundedSemaphore(PLACES)
        self.waiting: set[Call] = set()

    def run_prompt(self, call: Call, plan: Any) -> Any:
        self.waiting.add(call)
        with self.places:
            self.waiting.discard(call)
            return super().run_prompt(call, plan)

    def cancel(self, call: Call) -> None:
        if call not in self.waiting:
            super().cancel(call)


def written(write: Any) -> None:
    while True:
        write(OUTBOX.get())
        OUTBOX.task_done()


def through_outbox(port: Any, real: Any, message: Any) -> None:
    """A thread writes, so that the port reads on while nobody reads what it writes."""
    if port.memory.setdefault("writer", None) is None:
        port.memory["writer"] = threading.Thread(target=written, args=(real,), daemon=True)
        port.memory["writer"].start()
    OUTBOX.put(message)


def deaf_while_unread(port: Any, real: Any, method: str, params: Any) -> None:
    if not OUTBOX.unfinished_tasks:
        real(method, params)


def unless_printed(port: Any, real: Any, call: Call) -> None:
    if not has_printed(port, call):
        real(call)


def not_too_often(port: Any, real: Any, call: Call) -> None:
    now, last = time.monotonic(), port.memory.get("last", 0.0)
    if now - last < INTERVAL:
        return
    port.memory["last"] = now
    real(call)


def strictly(port: Any, real: Any, method: str, params: Any) -> None:
    if method != "notifications/cancelled" or set(as_object(params) or {}) <= {"requestId", "reason"}:
        real(method, params)


def negative_is_none(port: Any, real: Any, method: str, params: Any) -> None:
    id = (as_object(params) or {}).get("requestId")
    if not (method == "notifications/cancelled" and isinstance(id, int) and id < 0):
        real(method, params)


def is_small(call: Call) -> bool:
    return not isinstance(call.id, int) or call.id in SMALL


def notes_preparation(port: Any, real: Any, *arguments: Any) -> Call:
    call = real(*arguments)
    port.memory.setdefault("preparing", set[Call]()).add(call)
    return call


def prepares(port: Any, call: Call, turn: str | None) -> None:
    time.sleep(PREPARATION)
    port.memory["preparing"].discard(call)


def cancels_prepared(port: Any, real: Any, call: Call) -> None:
    if call not in port.memory["preparing"]:
        real(call)


def writes_first(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """Nobody knows the process before it has taken the whole prompt."""
    process, writing = piped(real, argv, options)
    with suppress(OSError), open(writing, "wb") as pipe:
        pipe.write(options["stdin"].read())
    return process


def notes_turn(port: Any, real: Any, call: Call, turn: str) -> None:
    if port.turns[turn][0] is not call:
        port.memory[call] = "has waited"
    real(call, turn)


def only_leaves_the_line(port: Any, real: Any, call: Call) -> None:
    if call not in port.memory:
        real(call)
        return
    with port.turn_changed:
        call.is_cancelled = True
        port.turn_changed.notify_all()


defect("cancel-ignored", "Ignores cancellations.", "cancel:child")(cancel=always(None))
defect("cancel-silences-only", "Lets gemini run on, and only keeps the answer to itself.", "cancel:child")(
    cancel=only_silences, answer=only(lambda call, result: not call.is_answered)
)
defect("cancel-knows-numbers-only", "Finds no call whose id is a string.", "cancel:child")(
    cancel=only(lambda call: not isinstance(call.id, str))
)
defect("replies-uncancellable", "Does not cancel replies.", "cancel:child")(cancel=for_tool("chat-reply", always(None)))
defect("cancel-spares-lists", "Lets a list of sessions run on.", "cancel:child")(
    list_sessions=lambda port, real, call, plan: real(Call(call.id, call.tool, call.arguments), plan)
)
defect("eight-can-be-cancelled", "Finds only the eight newest calls when one is cancelled.", "cancel:child")(
    cancel=only_the_newest
)
defect(
    "cancel-in-escapes-overlooked",
    "Overlooks a cancellation that writes the id in escapes.",
    "cancel:child",
)(receive=lambda port, real, line: None if b"/cancelled" in line and b"\\u" in line else real(line))
defect(
    "cancelled-in-queue-begun",
    "Runs eight calls at once, and overlooks the cancellation of one that waits for a place.",
    "cancel:child",
    "cancel:unanswered",
)(Pooled)
defect("cancel-lost-while-unread", "Loses cancellations while the client does not read.", "cancel:child")(
    write=through_outbox, notified=deaf_while_unread
)
defect("cancel-lost-behind-output", "Overlooks a cancellation once gemini has printed something.", "cancel:child")(
    begin=before(notes_output), cancel=unless_printed
)
defect("cancel-with-more-overlooked", "Overlooks a cancellation that holds `_meta`.", "cancel:child")(
    notified=only(lambda method, params: set(as_object(params) or {}) <= KNOWN)
)
defect(
    "cancellations-in-a-row-lost",
    "Ignores a cancellation that comes within a tenth of a second behind another.",
    "cancel:child",
)(cancel=not_too_often)
defect("cancel-unheard-after-three-seconds", "Cancels no call that runs for three seconds.", "cancel:child")(
    cancel=spares_old
)
defect(
    "cancellation-with-extras-dropped",
    "Ignores a cancellation with anything beside the id and the reason, such as `_meta`.",
    "cancel:child",
)(notified=strictly)
defect("negative-id-not-cancelled", "Ignores the cancellation of a call whose id is negative.", "cancel:child")(
    notified=negative_is_none
)
defect(
    "ids-beyond-127-not-cancelled",
    "Finds no call to cancel whose id is a number beyond 127.",
    "cancel:child",
)(cancel=only(is_small))
defect(
    "cancel-before-start-lost",
    "Overlooks a cancellation in the moment before it starts gemini.",
    "cancel:child",
)(new_call=notes_preparation, take_turn=before(prepares), cancel=cancels_prepared)
defect(
    "cancel-waits-for-stdin",
    "Ends a gemini that should be cancelled only when it has read its long prompt.",
    "cancel:child",
)(start=writes_first)
defect(
    "cancel-takes-out-of-line-alone",
    "Takes a cancelled reply that had to wait out of its line, and lets its gemini run on if that has begun.",
    "cancel:child",
)(await_turn=notes_turn, cancel=only_leaves_the_line)
