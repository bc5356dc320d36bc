"""Judging: every check on everything it can judge in an observation, as findings; pure.

A check that raises is the suite's fault and never the port's. A call that should have succeeded and did not passes
nothing; what complains about it still does.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from gemini_mcp_conformance.judge.expectation import succeeded
from gemini_mcp_conformance.judge.registry import Check, Complaints, Spared
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.tell.evidence import evidence
from gemini_mcp_conformance.tell.report import Evidence
from gemini_mcp_conformance.tell.report import Verdict as Outcome
from gemini_mcp_conformance.tell.witness import of_exchange, of_observation


@dataclass(frozen=True)
class Finding:
    """What one check found in one conversation, and the observation it rests on."""

    requirement: str
    conversation: str
    check: str
    outcome: Outcome
    message: str = ""
    witness: str = ""
    evidence: Evidence | None = None


def judge(observation: Observation, checks: Iterable[Check]) -> tuple[Finding, ...]:
    """The findings of one conversation."""
    if observation.declined is not None:
        wanted = observation.conversation.requirements
        declined = [_finding(id, observation, "", "not-applicable", observation.declined) for id in wanted]
        return (
            *declined,
            *(finding for check in checks if check.exchange for finding in _findings(observation, check)),
        )
    return tuple(finding for check in checks for finding in _findings(observation, check))


def judge_death(conversation: Conversation, how: str) -> tuple[Finding, ...]:
    """The findings of a port that ended unasked: it fails what the conversation was to show."""
    message = f"The port {how} during this conversation, and should go on."
    witness = f"{conversation.id}: the port {how}"
    return tuple(Finding(id, conversation.id, "", "fail", message, witness) for id in conversation.requirements)


def _findings(observation: Observation, check: Check) -> Iterator[Finding]:
    try:
        if check.exchange is not None:
            judges, _ = check.exchange
            yield from (
                _of_exchange(observation, check, exchange) for exchange in observation.exchanges if judges(exchange)
            )
        elif check.observation is not None and check.observation[0](observation):
            yield _of_observation(observation, check)
    except Exception as error:
        raised = "".join(traceback.format_exception_only(error)).strip()
        message = f"The check {check.name!r} raised {raised}."
        yield _finding(check.requirement, observation, check.name, "harness-error", message)


def _of_exchange(observation: Observation, check: Check, exchange: Exchange) -> Finding:
    assert check.exchange is not None
    _, complain = check.exchange
    counts = check.anyway or succeeded(exchange)
    return _judged(observation, check, lambda: complain(exchange), of_exchange(exchange), counts)


def _of_observation(observation: Observation, check: Check) -> Finding:
    assert check.observation is not None
    _, complain = check.observation
    return _judged(observation, check, lambda: complain(observation), of_observation(observation), True)


def _judged(
    observation: Observation, check: Check, complain: Callable[[], Complaints], witness: str, counts: bool
) -> Finding:
    try:
        complaints = complain()
    except Spared as reason:
        return _finding(check.requirement, observation, check.name, "not-applicable", str(reason), witness)
    if complaints:
        return _finding(check.requirement, observation, check.name, "fail", " ".join(complaints), witness)
    if counts:
        return _finding(check.requirement, observation, check.name, "pass", "", witness)
    message = "The call that would show it should have succeeded and did not."
    return _finding(check.requirement, observation, check.name, "could-not-run", message, witness)


def _finding(id: str, seen: Observation, check: str, outcome: Outcome, message: str, witness: str = "") -> Finding:
    shown = _evidence(seen) if outcome == "fail" else None
    return Finding(id, seen.conversation.id, check, outcome, settled(message, seen), settled(witness, seen), shown)


def _evidence(seen: Observation) -> Evidence:
    sent = [line.data for line in seen.lines if line.sent]
    received = [line.data for line in seen.lines if not line.sent]
    return evidence(seen.conversation.title, sent, received, [run.call for run in seen.runs], places(seen))


def places(seen: Observation) -> dict[str, str]:
    """The names under which the directories of a run are told, the same in every run."""
    named = {seen.place.work: "{work}", seen.place.home: "{home}", seen.place.tmp: "{tmp}", seen.place.root: "{root}"}
    return {directory: name for directory, name in named.items() if directory}


def settled(text: str, seen: Observation) -> str:
    """The text without what differs from run to run."""
    for directory, name in places(seen).items():
        text = text.replace(directory, name)
    return text
