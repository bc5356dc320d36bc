"""What several modules of this room use: logs of a text, and reports of gemini shown otherwise."""

from collections.abc import Callable
from typing import Any

from answering import Failure
from defects.shared import log_bare
from planning import Plan
from running import Call
from speaking import Message
from steps import Step, before


def logs_prompt(change: Callable[[str], str], test: Callable[[Call], bool] = lambda call: True) -> Step:
    """Of `ask`: logs the prompt in another notation."""

    def ask(port: Any, call: Call, plan: Plan) -> None:
        if test(call):
            log_bare(change(call.arguments["prompt"]))

    return before(ask)


def of_report(change: Callable[[Any, Failure], str]) -> Step:
    """Of `error`: shows what gemini has reported in JSON beside the exit code 0 in a way of its own."""

    def error(port: Any, real: Any, failure: Failure) -> Message:
        result = real(failure)
        if not failure.said or "reported" not in failure.sentence:
            return result
        right, shown = port.redacted(failure.said, failure.private), change(port, failure)
        text = result["content"][0]["text"].replace(f"says: {right}", f"says: {shown}", 1)
        return {**result, "content": port.content(text)}

    return error
