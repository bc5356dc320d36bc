"""Gemini run too often: ports that break `command:once`."""

from typing import Any

from answering import Answer, Outcome
from conditions import lacking
from defects.record import defect
from defects.shared import retries
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


defect("failure-retried", "Runs the prompt again when gemini fails.", "command:once")(
    run_prompt=retries(lambda outcome: outcome.exit != 0)
)
defect("quota-retried", "Runs the prompt again when gemini speaks of a quota.", "command:once")(
    run_prompt=retries(lambda outcome: outcome.exit != 0 and b"quota" in outcome.stderr.lower())
)
defect("empty-answer-retried", "Runs the prompt again when gemini prints nothing.", "command:once")(
    run_prompt=retries(lambda outcome: not outcome.stdout.strip())
)
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
