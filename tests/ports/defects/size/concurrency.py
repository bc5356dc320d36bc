"""Calls too many to run at once: ports that break `concurrency`."""

import threading
from typing import Any

from answering import Failure, Outcome
from conditions import failed
from defects.record import defect
from planning import Plan
from port import Port
from running import Call, Cancelled
from speaking import Message

WAITING = 3
LABEL = 200
PLACES = 64


def keeps_place_of_failure(port: Any, real: Any, call: Call) -> Message:
    """There are sixteen places, and a failure does not give its own back."""
    if port.memory.get("failures", 0) >= 16:
        return port.error(Failure("The server is busy."))
    result = real(call)
    port.memory["failures"] = port.memory.get("failures", 0) + failed(call, result)
    return result


def keeps_place_of_none(port: Any, real: Any, *arguments: Any) -> Outcome:
    """A gemini that does not start does not give its place back."""
    places = port.memory.setdefault("places", threading.Semaphore(PLACES))
    places.acquire()
    try:
        outcome = real(*arguments)
    except Cancelled:
        places.release()
        raise
    places.release()
    return outcome


def pool(size: int) -> type[Port]:
    """A port that runs no more than so many at the same time."""

    class Pooled(Port):
        def __init__(self) -> None:
            super().__init__()
            self.places = threading.BoundedSemaphore(size)

        def run_prompt(self, call: Call, plan: Plan) -> Any:
            with self.places:
                return super().run_prompt(call, plan)

    return Pooled


def busy_replies(port: Any, real: Any, call: Call) -> Message:
    replies = sum(each.tool == "chat-reply" for each in list(port.calls))
    return port.error(Failure("Too many replies.")) if call.tool == "chat-reply" and replies > 6 else real(call)


def in_short_line(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Where the line is full, nobody can wait in it."""
    if turn is not None and len(port.turns.get(turn, ())) < WAITING:
        real(call, turn)


def labelled(port: Any, call: Call) -> list[Call]:
    """The calls that look like this one to who reads no more than the beginning of a prompt."""
    given = {**call.arguments, "prompt": str(call.arguments.get("prompt"))[:LABEL]}
    return port.memory.setdefault(f"{call.tool} {call.stateless} {given}", [])


def joins_alike(port: Any, real: Any, call: Call) -> None:
    labelled(port, call).append(call)
    try:
        real(call)
    finally:
        if call in labelled(port, call):
            labelled(port, call).remove(call)


def answers_oldest_alike(port: Any, real: Any, call: Call, result: Message) -> None:
    alike = labelled(port, call)
    others = [each for each in alike if each.arguments != call.arguments and not each.is_cancelled]
    owner = next(iter(others), call) if others and alike.index(others[0]) < alike.index(call) else call
    alike.remove(owner)
    real(owner, result)


defect(
    "places-lost-with-failures",
    "Takes no call any more after sixteen failures, which have each kept their place.",
    "concurrency:after-failure",
)(execute=keeps_place_of_failure)
defect(
    "places-lost-without-gemini",
    "Takes no call any more after 64 whose gemini could not be started, which have each kept their place.",
    "concurrency:after-failure",
)(run=keeps_place_of_none)
defect("five-at-once", "Runs no more than five calls at the same time.", "concurrency:calls")(pool(5))
defect("sixteenth-call-refused", "Is too busy for more than fifteen calls at once.", "concurrency:lost")(
    execute=lambda port, real, call: port.error(Failure("The server is busy.")) if len(port.calls) > 15 else real(call)
)
defect("seventh-reply-refused", "Is too busy for more than six replies at once.", "concurrency:lost")(
    execute=busy_replies
)
defect("line-of-three-replies", "Lets no more than two replies wait in a session.", "concurrency:same-session")(
    take_turn=in_short_line
)
defect(
    "answers-crossed-by-label",
    "Finds the call that an answer is for by the first 200 characters of its prompt, the oldest first.",
    "concurrency:calls",
    "concurrency:crossed",
)(serve_call=joins_alike, answer=answers_oldest_alike)
