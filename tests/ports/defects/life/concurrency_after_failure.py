"""What a failure does to the calls beside and behind it: ports that break `concurrency:after-failure`."""

import os
import threading
import time
from collections.abc import Mapping
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import failed, has_model, is_refusal, keeps_turn
from defects.life.shared import LOCK, ends_siblings, piped
from defects.record import defect
from planning import Plan, Refusal
from running import Call, Cancelled
from speaking import Message
from steps import before

PERMITS = 6

QUOTAS = 3
OPEN_SECONDS = 60.0
SLOTS = 8
UNSTARTED = 16


def repeats_failure(port: Any, real: Any, call: Call) -> Message:
    if earlier := port.memory.pop("failure", None):
        return earlier
    result = real(call)
    if "\nStderr: " in str(result["content"][0]["text"]):
        port.memory["failure"] = result
    return result


def notes_failure(port: Any, failure: Failure) -> None:
    port.memory["is_stuck"] = port.memory.get("is_stuck") or failure.stderr is not None


def notes_unstartable(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    try:
        return real(call, plan)
    except Failure as failure:
        if failure.stderr is None and "could not be started" in failure.sentence:
            port.memory[call] = "unstartable"
        raise


def gives_model_up(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """A circuit breaker for each model."""
    if not has_model(plan):
        return real(call, plan)
    failures, since = port.memory.get(plan.argv[-1], (0, 0.0))
    if failures >= QUOTAS and time.monotonic() < since + OPEN_SECONDS:
        raise Failure("The quota of the Gemini API is used up (HTTP 429, exit code 173).", "")
    try:
        answer = real(call, plan)
    except Failure as failure:
        is_quota = "(HTTP 429, exit code 173)" in failure.sentence
        port.memory[plan.argv[-1]] = (failures + 1 if is_quota else 0, time.monotonic())
        raise
    port.memory.pop(plan.argv[-1], None)
    return answer


def quits_after_failure_in_line(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    """A failure fails the replies that already wait in its line."""
    try:
        return real(call, plan)
    except Failure:
        for other in port.turns.get(plan.turn or "", [])[1:]:
            port.memory.setdefault("failed", set()).add(id(other))
        raise
    finally:
        port.memory.get("failed", set()).discard(id(call))


def fails_with_line(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    if id(call) in port.memory.get("failed", set()):
        raise Failure("The reply before this one has failed.", "")
    return quits_after_failure_in_line(port, real, call, plan)


def keeps_slot(port: Any, real: Any, call: Call) -> Message:
    slots = port.memory.setdefault("slots", threading.Semaphore(SLOTS))
    slots.acquire()
    result = None
    try:
        result = real(call)
        return result
    finally:
        if result is None or not is_refusal(result):
            slots.release()


def notes_death(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    if outcome.exit < 0:
        port.memory[call] = outcome.exit
    return outcome


def slot_kept(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """Gives the slot of a gemini that does not start back to nobody."""
    while port.memory.get("lost", 0) >= UNSTARTED:
        if call.is_cancelled:
            raise Cancelled
        time.sleep(0.1)
    try:
        return real(call, plan)
    except Failure as failure:
        if failure.stderr is None:
            with LOCK:
                port.memory["lost"] = port.memory.get("lost", 0) + 1
        raise


def notes_failed_start(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    try:
        return real(call, plan)
    except Failure as failure:
        if failure.stderr is None:
            port.memory[call] = "unstarted"
        raise


def notes_unstarted(port: Any, real: Any, call: Call, *others: Any) -> Any:
    try:
        return real(call, *others)
    except Failure as failure:
        port.memory[call] = "could not be started" in failure.sentence
        raise


def keeps_turn_of_unstarted(port: Any, real: Any, call: Call, turn: str | None) -> None:
    if not port.memory.get(call):
        real(call, turn)


def written_or_dead(writing: int, text: bytes) -> None:
    try:
        with open(writing, "wb") as pipe:
            pipe.write(text)
    except OSError:
        os._exit(1)


def dies_of_closed_pipe(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """What nobody listens for ends a program of Node."""
    process, writing = piped(real, argv, options)
    threading.Thread(target=written_or_dead, args=(writing, options["stdin"].read()), daemon=True).start()
    return process


def slots(port: Any) -> threading.Semaphore:
    return port.memory.setdefault("slots", threading.Semaphore(SLOTS))


def loses_slot(port: Any, real: Any, cwd: str) -> None:
    try:
        real(cwd)
    except Refusal as refusal:
        if "is not a directory" in str(refusal):
            slots(port).acquire(blocking=False)
        raise


def in_slot(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    while not slots(port).acquire(timeout=0.1):
        if call.is_cancelled:
            raise Cancelled
    try:
        return real(call, plan)
    finally:
        slots(port).release()


def leaks_permit(port: Any, real: Any, call: Call) -> Message:
    """A reply that is refused for its directory keeps its place in the pool."""
    if call.tool == "chat-reply":
        with port.turn_changed:
            port.turn_changed.wait_for(lambda: port.memory.get("leaked", 0) < PERMITS or call.is_cancelled)
    return real(call)


def counts_refused_cwd(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    try:
        return real(tool, texts)
    except Refusal:
        if tool == "chat-reply":
            port.memory["leaked"] = port.memory.get("leaked", 0) + 1
        raise


defect("failure-repeated", "Fails the call that follows a failure with the same error.", "concurrency:after-failure")(
    execute=repeats_failure
)
defect("failure-keeps-turn", "Lets the replies behind one that failed wait for ever.", "concurrency:after-failure")(
    error=before(notes_failure),
    end_turn=lambda port, real, call, turn: port.memory.get("is_stuck") or real(call, turn),
)
defect(
    "turn-kept-by-unstartable-gemini",
    "Never gives the turn of a session on when the gemini of a reply exists but cannot be executed.",
    "concurrency:after-failure",
)(ask=notes_unstartable, end_turn=keeps_turn)
defect(
    "model-given-up-after-three-quotas",
    "Runs gemini no more with a model that has failed three times in a row with exit code 173.",
    "concurrency:after-failure",
    "command:chat",
)(ask=gives_model_up)
defect("failure-ends-siblings", "Ends the calls that run beside one that fails.", "concurrency:after-failure")(
    execute=ends_siblings(failed)
)
defect("failure-fails-line", "Fails the replies that wait behind one that fails.", "concurrency:after-failure")(
    ask=fails_with_line
)
defect(
    "slot-lost-by-refusal",
    "Loses one of its eight places with each call that it refuses; after eight of them no call is served.",
    "concurrency:after-failure",
)(execute=keeps_slot)
defect(
    "turn-kept-after-signal",
    "Keeps the turn of a reply whose gemini died by a signal, so that no later reply in that session is served.",
    "concurrency:after-failure",
)(run_prompt=notes_death, end_turn=keeps_turn)
defect(
    "slot-of-unstarted-kept",
    "Answers no call any more after 16 in which gemini could not be started.",
    "concurrency:after-failure",
)(run_prompt=slot_kept)
defect(
    "turn-kept-by-unstarted",
    "Keeps the turn of a reply whose gemini could not be started, so the next one in its session waits for ever.",
    "concurrency:after-failure",
)(ask=notes_failed_start, end_turn=keeps_turn)
defect(
    "line-stuck-behind-unstarted",
    "Lets replies wait for ever behind one whose gemini could not be started.",
    "concurrency:after-failure",
)(begin=notes_unstarted, end_turn=keeps_turn_of_unstarted)
defect("dies-of-unread-stdin", "Dies when gemini ends without reading a long prompt.", "concurrency:after-failure")(
    start=dies_of_closed_pipe
)
defect(
    "file-as-cwd-costs-slot",
    "Runs eight gemini at once, and one less for ever after each `cwd` that is no directory.",
    "concurrency:after-failure",
    "concurrency:calls",
    "cwd:file",
)(check_cwd=loses_slot, ask=in_slot)
defect(
    "refused-cwd-keeps-permit",
    "Serves no reply any more after six were refused for their directory.",
    "concurrency:after-failure",
)(execute=leaks_permit, cwd=counts_refused_cwd)
