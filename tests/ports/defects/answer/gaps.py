"""Defects in what a port leaves out where an answer has a gap."""

from typing import Any

from answering import Answer
from defects.record import defect
from planning import Plan
from running import Call


def unlisted_if_empty(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    return real(call, plan, answer) if answer.text or plan.session not in (None, "latest") else answer


defect("empty-answer-unlisted", "Asks for no list behind an empty answer.", "fallback:list-sessions")(
    with_session=unlisted_if_empty
)
