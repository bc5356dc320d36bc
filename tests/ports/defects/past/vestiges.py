"""Defects in what is left behind by an end that is neither plain success nor plain failure."""

import re
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import is_named
from defects.past.histories import has_warned
from defects.past.legacies import kept_argument, kept_when
from defects.past.states import leaves, reused, system_prompt_left
from defects.record import defect
from planning import Plan
from running import Call
from steps import before

BUFFER = 4096
UNREADABLE = 12
BUSY = "The server is busy."


def is_broken_off(outcome: Outcome) -> bool:
    return outcome.exit == 0 and outcome.stdout.startswith(b"{") and not outcome.stdout.rstrip().endswith(b"}")


def is_empty(outcome: Outcome) -> bool:
    return outcome.exit == 0 and re.search(rb'"response":\s*""', outcome.stdout) is not None


def notes_system_in_line(port: Any, call: Call) -> None:
    if any(call in line[1:] for line in list(port.turns.values())) and call.arguments.get("systemPrompt"):
        port.memory["system"] = call.arguments["systemPrompt"]


def retries_in_known_session(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """A session that was there a moment ago is taken to be there still."""
    outcome, known = real(call, plan), port.memory.setdefault("known", set[str]())
    if outcome.exit != 0 and plan.session in known:
        return real(call, plan)
    if outcome.exit == 0 and is_named(plan):
        known.add(plan.session)
    return outcome


def stdin_over_the_one_before(port: Any, real: Any, prompt: str) -> Any:
    form, stdin = real(prompt)
    if stdin is None:
        return form, stdin
    kept = port.memory.get("stdin", "")
    port.memory["stdin"] = stdin + kept[len(stdin) :]
    return form, port.memory["stdin"]


def stdout_over_the_one_before(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """Short outputs are read into one buffer."""
    outcome = real(call, plan)
    if len(outcome.stdout) > BUFFER:
        return outcome
    kept = port.memory.get("stdout", b"")
    port.memory["stdout"] = outcome.stdout + kept[len(outcome.stdout) :]
    return replace(outcome, stdout=port.memory["stdout"])


def keeps_cancelled_stdout(port: Any, real: Any, call: Call, exit: int, out: Any, err: Any) -> Outcome:
    if call.is_cancelled:
        out.seek(0)
        port.memory["stdout"] = out.read()
    outcome = real(call, exit, out, err)
    return replace(outcome, stdout=port.memory.pop("stdout", b"") + outcome.stdout)


def loses_place_of_unreadable(port: Any, real: Any, outcome: Outcome) -> Answer:
    try:
        return real(outcome)
    except Failure:
        if outcome.exit == 0:
            port.memory["lost"] = port.memory.get("lost", 0) + 1
        raise


def with_places(most: int) -> Any:
    """Of `run_prompt`: begins no run when so many places are lost."""

    def run_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
        if port.memory.get("lost", 0) >= most:
            raise Failure(BUSY, "")
        return real(call, plan)

    return run_prompt


def notes_cancelled_turn(port: Any, call: Call) -> None:
    """The lock of a reply goes with it."""
    if session := call.arguments.get("sessionId"):
        port.memory[session] = "cancelled"


def free_after_cancel(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    turn = real(tool, texts)
    return None if port.memory.get(turn) == "cancelled" else turn


defect(
    "model-left-by-broken-off-answer",
    "Passes the model of a call whose answer broke off to the next call without one.",
    "command:chat:no-model",
)(run_prompt=kept_when(is_broken_off), texts=kept_argument("model"))
defect(
    "session-left-by-empty-answer",
    "Resumes the session of a reply with an empty answer when the next one names none.",
    "command:chat-reply:latest",
)(run_prompt=kept_when(is_empty), texts=kept_argument("sessionId"))
defect(
    "directory-left-by-warned-answer",
    "Runs later calls in the directory of one whose answer came with warnings.",
    "cwd:default",
)(execute=leaves("cwd", has_warned), texts=reused("cwd"))
defect(
    "system-prompt-left-in-line",
    "Hands the system prompt of a reply that was cancelled while it waited to the next call without one.",
    "system:leak",
)(cancel=before(notes_system_in_line), system=system_prompt_left)
defect(
    "reply-retried-in-known-session",
    "Runs the prompt of a reply that fails again when its session has answered before.",
    "command:once",
)(run_prompt=retries_in_known_session)
defect(
    "stdin-keeps-end-of-longer-one",
    "Writes a long prompt over the one before, whose end stays when it was longer.",
    "prompt:long",
)(prompt_form=stdin_over_the_one_before)
defect(
    "output-keeps-end-of-longer-one",
    "Reads a short stdout over the one before, whose end stays when it was longer.",
    "result:plain-text",
)(run_prompt=stdout_over_the_one_before)
defect(
    "output-left-by-cancel",
    "Reads what a cancelled gemini has printed before the output of the next one.",
    "cancel:others",
    "result:plain-text",
)(outcome=keeps_cancelled_stdout)
defect(
    "places-lost-with-unreadable-answers",
    "Serves no call any more after twelve whose gemini exits with 0 and gives no answer.",
    "concurrency:after-failure",
)(read=loses_place_of_unreadable, run_prompt=with_places(UNREADABLE))
defect(
    "session-free-after-cancel",
    "Lets replies of a session run at once after one of them has been cancelled.",
    "concurrency:same-session",
)(cancel=before(notes_cancelled_turn), turn=free_after_cancel)
