"""Searching: tries a property on inputs from hypothesis, and complains about the smallest that breaks it; pure."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.host.questions import NoAnswer, Questions
from gemini_mcp_conformance.judge.check import Complaints, CouldNotRun

Holds = Callable[[Questions, Json], None]
"""Asks the host about an input; raises PropertyBroken when the property does not hold."""


class PropertyBroken(Exception):
    """A property does not hold; the message says what the host did."""


class _Stop(BaseException):
    """Ends a search at once. hypothesis would shrink any other error, and wait for the host in every step."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(reason)
        self.reason = reason


def search(
    holds: Holds, inputs: st.SearchStrategy[Json], examples: int, start: int, questions: Questions
) -> Complaints:
    """The complaint about the smallest input that breaks the property, if one was found."""

    def example(value: Json) -> None:
        questions.begin()
        try:
            holds(questions, value)
        except (NoAnswer, CouldNotRun) as reason:
            raise _Stop(reason) from None
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise PropertyBroken(f"The host's answer has another shape than expected: {error!r}.") from error

    try:
        _run(example, inputs, examples, start)
    except PropertyBroken as broken:
        return [str(broken)]
    except Flaky:
        return ["The host answers the same question in two ways, and should always answer alike."]
    except _Stop as stop:
        raise stop.reason from None
    return []


def _run(example: Callable[[Json], None], inputs: st.SearchStrategy[Json], examples: int, start: int) -> None:
    run = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        report_multiple_bugs=False,
    )(seed(start)(given(inputs)(example)))
    run()
