"""Judging: every check on everything it can judge in an observation, as findings; pure.

A check that raises is the suite's fault and never the port's. A call that should have succeeded and did not passes
nothing; what complains about it still does.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from gemini_mcp_conformance.expectation import succeeded
from gemini_mcp_conformance.observation import Exchange, Observation
from gemini_mcp_conformance.registry import Check
from gemini_mcp_conformance.witness import of_exchange, of_observation

Outcome = Literal["pass", "fail", "not-applicable", "could-not-run", "harness-error"]


@dataclass(frozen=True)
class Finding:
    """What one check found in one conversation, and the observation it rests on."""

    requirement: str
    conversation: str
    check: str
    outcome: Outcome
    message: str = ""
    witness: str = ""


def judge(observation: Observation, checks: Iterable[Check]) -> tuple[Finding, ...]:
    """The findings of one conversation."""
    if observation.declined is not None:
        wanted = observation.conversation.requirements
        return tuple(_finding(id, observation, "", "not-applicable", observation.declined) for id in wanted)
    return tuple(finding for check in checks for finding in _findings(observation, check))


def _findings(observation: Observation, check: Check) -> Iterator[Finding]:
    try:
        if check.exchange is not None:
            judges, _ = check.exchange
            yield from (_of_exchange(observation, check, exchange) for exchange in observation.exchanges if judges(exchange))
        elif check.observation is not None and check.observation[0](observation):
            complaints = check.observation[1](observation)
            yield _judged(observation, check, complaints, of_observation(observation), True)
    except Exception as error:
        raised = "".join(traceback.format_exception_only(error)).strip()
        message = f"The check {check.name!r} raised {raised}."
        yield _finding(check.requirement, observation, check.name, "harness-error", message)


def _of_exchange(observation: Observation, check: Check, exchange: Exchange) -> Finding:
    assert check.exchange is not None
    complaints = check.exchange[1](exchange)
    return _judged(observation, check, complaints, of_exchange(exchange), check.anyway or succeeded(exchange))


def _judged(observation: Observation, check: Check, complaints: list[str], witness: str, counts: bool) -> Finding:
    if complaints:
        return _finding(check.requirement, observation, check.name, "fail", " ".join(complaints), witness)
    if counts:
        return _finding(check.requirement, observation, check.name, "pass", "", witness)
    message = "The call that would show it should have succeeded and did not."
    return _finding(check.requirement, observation, check.name, "could-not-run", message, witness)


def _finding(id: str, seen: Observation, check: str, outcome: Outcome, message: str, witness: str = "") -> Finding:
    return Finding(id, seen.conversation.id, check, outcome, settled(message, seen), settled(witness, seen))


def settled(text: str, observation: Observation) -> str:
    """The text with the run's own directories under names that are the same in every run."""
    place = observation.place
    for name, path in (("work", place.work), ("home", place.home), ("tmp", place.tmp), ("place", place.root)):
        text = text.replace(path, f"{{{name}}}") if path else text
    return text
