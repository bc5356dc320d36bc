"""What several modules of this room use: other lists, other words for a failure, other answers."""

import re
from collections.abc import Callable
from typing import Any

from answering import Answer, Failure
from planning import Plan
from speaking import Message
from steps import Change, Step, gives


def entries(pattern: str) -> Step:
    """Of `entry_pattern`: knows these entries of a list."""
    return gives(lambda right: re.compile(pattern))


def failed(change: Change) -> Step:
    """Changes the results of runs that failed, not those of refusals."""

    def error(port: Any, real: Any, failure: Failure) -> Message:
        result = real(failure)
        return result if failure.stderr is None else change(result)

    return error


def worded(change: Change) -> Step:
    """Changes the text of a run that failed."""
    return failed(
        lambda result: {**result, "content": [{"type": "text", "text": change(result["content"][0]["text"])}]}
    )


def answered(change: Callable[[Any, Plan, Answer], Answer]) -> Step:
    """Of `ask`: changes the answer, knowing the port and the plan."""
    return lambda port, real, call, plan: change(port, plan, real(call, plan))
