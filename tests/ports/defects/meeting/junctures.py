"""Defects at a juncture: between a run and its list, in front of a turn, before the first message, after the last."""

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from answering import Answer, Outcome
from conditions import altering, refused
from defects.record import defect
from planning import Plan
from running import LIST, Call, Cancelled
from speaking import Message
from steps import after, before

VARIABLES = ("HOME", "PATH")


def notes_neighbour(port: Any, real: Any, call: Call, turn: str | None) -> None:
    line = port.turns.get(turn, [])
    port.memory[call] = line[-1] if line else None
    real(call, turn)


def with_neighbours_model(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    before = port.memory.pop(call, None)
    model = before and before.arguments.get("model")
    return real(call, altering("-m", lambda own: model or own)(plan))


def without_system_after_wait(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """The file was written when the call came, and has gone with the one before."""
    return real(call, replace(plan, system=None) if port.memory.pop(call, None) else plan)


def begins_again(port: Any, real: Any, call: Call, turn: str | None) -> None:
    has_to_wait = bool(port.turns.get(turn))
    real(call, turn)
    if has_to_wait and not call.is_cancelled:
        call.progress = 0
        port.report_progress(call)


def answers_when_list_is_cancelled(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    try:
        return real(call, plan)
    except Cancelled:
        call.is_cancelled = False
        return None


def poor_list(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    if LIST in argv:
        options["env"] = {name: options["env"][name] for name in VARIABLES if name in options["env"]}
    return real(argv, **options)


def puts_back(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    """The file goes with a session that the list has named."""
    found = real(call, plan, answer)
    if plan.system is not None and not found.session:
        port.write_system(plan.system)
    return found


def tells_end_of_refused(port: Any, call: Call, result: Message) -> None:
    if call.token is not None and refused(call, result):
        call.progress += 1
        port.send(port.progress(call))


def waits_for_end_of_line(port: Any, real: Any) -> Iterator[bytes]:
    line = b"\n"
    for line in real():
        if line.endswith(b"\n"):
            yield line
    while not line.endswith(b"\n"):
        time.sleep(1)


def waits_for_first(port: Any) -> None:
    while not port.memory.get("has begun"):
        time.sleep(1)


def notes_begun(port: Any, line: bytes) -> None:
    port.memory["has begun"] = True


def notes_served(port: Any, call: Call) -> None:
    port.memory["has served"] = True


def deaf_when_idle(port: Any, real: Any, number: int, frame: Any) -> None:
    # A call that has its answer is forgotten a moment later.
    is_idle = all(call.is_answered for call in port.calls)
    if not is_idle or not port.memory.get("has served"):
        real(number, frame)


def below_tmp(port: Any, real: Any) -> str:
    kept, tempfile.tempdir = tempfile.tempdir, "/tmp"
    try:
        return real()
    finally:
        tempfile.tempdir = kept


def flushed_with_next(port: Any, real: Any, message: Message) -> None:
    """An error is written with what follows it."""
    if "error" in message:
        with suppress(BrokenPipeError):
            sys.stdout.buffer.write(port.encoded(message))
    else:
        real(message)


def twice_cancelled(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    """Who is cancelled twice goes on."""
    if method == "notifications/cancelled":
        for call in list(port.calls):
            if call.is_cancelled and call.id == params.get("requestId"):
                call.is_cancelled = False
                return
    real(method, params)


defect(
    "model-of-the-one-before-in-line",
    "Runs a reply that had to wait with the model of the one before it.",
    "command:chat-reply:model",
)(take_turn=notes_neighbour, ask=with_neighbours_model)
defect(
    "system-prompt-lost-in-line",
    "Hands no system prompt over in a reply that had to wait.",
    "system:chat-reply",
)(take_turn=notes_neighbour, ask=without_system_after_wait)
defect("progress-begins-again-after-wait", "Counts progress anew when a reply has waited.", "progress:increase")(
    take_turn=begins_again
)
defect(
    "cancelled-in-list-answered",
    "Answers a call that is cancelled while the list is read.",
    "cancel:unanswered",
)(list_sessions=answers_when_list_is_cancelled)
defect("environment-of-list-filtered", "Passes HOME and PATH alone to a list.", "process:environment")(start=poor_list)
defect("kept-without-list", "Keeps the system prompt when no list names the session.", "system:removed:success")(
    with_session=puts_back
)
defect("progress-after-refusal", "Tells a refused call after its answer that it is done.", "progress:end")(
    answer=after(tells_end_of_refused)
)
defect("unfinished-line-awaited", "Lives on when its input ends in the middle of a line.", "shutdown:stdin-end")(
    lines=waits_for_end_of_line
)
defect("end-before-beginning-overlooked", "Lives on when its input ends before a message.", "shutdown:stdin-end")(
    receive=before(notes_begun), input_ended=before(waits_for_first)
)
defect("deaf-to-signals-when-idle", "Ignores signals when all its calls have ended.", "shutdown:sigterm")(
    serve_call=before(notes_served), on_signal=deaf_when_idle
)
defect("tmpdir-unread", "Puts the system prompt below /tmp whatever TMPDIR says.", "system:directory")(
    new_directory=below_tmp
)
defect("errors-written-later", "Writes a JSON-RPC error with the next message.", "rpc:error:method")(
    write=flushed_with_next
)
defect("second-cancel-takes-back", "Answers a call that is cancelled twice.", "cancel:unanswered")(
    notified=twice_cancelled
)
