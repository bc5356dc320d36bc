"""Defects in second attempts, and in lists of sessions for which nothing asks."""

from typing import Any

from answering import Answer, Outcome
from conditions import is_named, lacking
from defects.record import defect
from planning import Plan
from running import Call
from steps import Step


def again_without(option: str, said: bytes) -> Step:
    """Takes gemini for one that does not know the option, or its value, when it says so."""

    def run_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
        outcome = real(call, plan)
        is_unknown = outcome.exit != 0 and said in outcome.stderr and option in plan.argv
        return real(call, lacking(option)(plan)) if is_unknown else outcome

    return run_prompt


def again_for_text(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    return real(call, plan) if answer.text == "" and plan.session is not None else answer


def looks_for_latest(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Wants to know once whether there is a session to continue."""
    known = port.memory.setdefault("directories", set[str | None]())
    if plan.session == "latest" and plan.cwd and plan.cwd not in known:
        port.list_sessions(call, plan)
    known.add(plan.cwd)
    return real(call, plan)


def looks_for_changed(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    if is_named(plan) and answer.session != plan.session:
        port.list_sessions(call, plan)
    return answer


defect(
    "unknown-model-retried-without",
    "Runs the prompt again without a model when gemini does not know the one that is named.",
    "command:once",
)(run_prompt=again_without("-m", b"ModelNotFoundError"))
defect(
    "usage-retried-without-format",
    "Runs the prompt again without an output format when gemini shows its usage.",
    "command:once",
)(run_prompt=again_without("--output-format", b"Usage: gemini"))
defect(
    "empty-answer-to-reply-retried",
    "Runs the prompt of a reply again to which the answer is an empty text.",
    "command:once",
)(ask=again_for_text)
defect(
    "list-before-first-latest-of-directory",
    "Asks for the list before a reply to the latest session of a directory that no call has named before.",
    "fallback:unneeded",
)(ask=looks_for_latest)
defect(
    "list-behind-changed-session",
    "Asks for the list when gemini names another session than the one that a reply resumed.",
    "fallback:unneeded",
)(ask=looks_for_changed)
