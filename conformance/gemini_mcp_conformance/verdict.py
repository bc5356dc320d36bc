"""Verdict: the findings of a run, one verdict for each requirement, and the exit code that follows; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gemini_mcp.spec import Requirement
from gemini_mcp_conformance.judging import Finding, Outcome

OUTCOMES: tuple[Outcome, ...] = ("pass", "fail", "not-applicable", "could-not-run", "harness-error")
_WEIGHT: Mapping[str, int] = {
    outcome: weight
    for weight, outcome in enumerate(("fail", "harness-error", "pass", "could-not-run", "not-applicable"))
}
CONFORMS, FAILS, USAGE, INCOMPLETE, UNREACHABLE, FAULT = range(6)


@dataclass(frozen=True)
class Verdict:
    """What the run says about one requirement; `conversation` is the one that shows it."""

    requirement: Requirement
    outcome: Outcome
    message: str = ""
    witness: str = ""
    conversation: str | None = None
    judged: int = 0


def decide(
    requirements: Sequence[Requirement],
    findings: Iterable[Finding],
    checked: frozenset[str],
    absent: Mapping[str, str],
) -> tuple[Verdict, ...]:
    """A verdict for each requirement. `checked` have a check; `absent` says of an area why this run has none of it."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.requirement, []).append(finding)
    return tuple(_verdict(each, found.get(each.id, []), checked, absent) for each in requirements)


def exit_code(verdicts: Iterable[Verdict], strict: bool, cut: bool) -> int:
    """What the run ends with; `cut` says that it was ended early."""
    verdicts = tuple(verdicts)
    outcomes = {verdict.outcome for verdict in verdicts}
    if "harness-error" in outcomes:
        return FAULT
    if any(verdict.outcome == "fail" and (strict or verdict.requirement.level == "MUST") for verdict in verdicts):
        return FAILS
    return INCOMPLETE if cut or "could-not-run" in outcomes else CONFORMS


def _verdict(
    requirement: Requirement, findings: Sequence[Finding], checked: frozenset[str], absent: Mapping[str, str]
) -> Verdict:
    if not findings:
        return _unjudged(requirement, checked, absent)
    worst = min(findings, key=lambda finding: _WEIGHT[finding.outcome])
    return Verdict(requirement, worst.outcome, worst.message, worst.witness, worst.conversation, len(findings))


def _unjudged(requirement: Requirement, checked: frozenset[str], absent: Mapping[str, str]) -> Verdict:
    if requirement.excluded is not None:
        return Verdict(requirement, "not-applicable", requirement.excluded)
    area = requirement.id.split(":")[0]
    if area in absent:
        return Verdict(requirement, "not-applicable", absent[area])
    if requirement.id not in checked:
        return Verdict(requirement, "could-not-run", "The suite has no check for it.")
    return Verdict(requirement, "could-not-run", "Nothing that was observed shows it.")
