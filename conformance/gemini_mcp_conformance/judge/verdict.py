"""Verdict: the findings of a run and the requirements in, a judgement for each requirement out; pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gemini_mcp.spec import Requirement
from gemini_mcp_conformance.judge.judging import Finding
from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.tell.report import LEVELS, Judgement, Level
from gemini_mcp_conformance.tell.report import Verdict as Outcome

_WORST_FIRST: tuple[Outcome, ...] = ("harness-error", "fail", "pass", "could-not-run", "not-applicable")


@dataclass(frozen=True)
class Circumstances:
    """What decides about requirements of which nothing was observed.

    `checked` have a check; `absent` says of an area or an id why the run has none of it; `cut` why it ended early.
    """

    target: Target
    checked: frozenset[str]
    absent: Mapping[str, str] = field(default_factory=dict[str, str])
    cut: str | None = None


def decide(
    requirements: Sequence[Requirement], findings: Iterable[Finding], circumstances: Circumstances
) -> tuple[Judgement, ...]:
    """A judgement for each requirement, in their order."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.requirement, []).append(finding)
    return tuple(_judgement(each, found.get(each.id, []), circumstances) for each in requirements)


def replay_command(conversation: str, target: Target) -> str:
    """The command that shows one conversation again."""
    fake = f" --fake {shlex.quote(str(target.fake))}" if target.fake else ""
    address = f" --url {shlex.quote(target.url)}{fake}" if target.url else ""
    command = f" -- {shlex.join(target.command)}" if target.command or not target.url else ""
    return f"gemini-mcp-conformance replay {shlex.quote(conversation)}{address}{command}"


def _judgement(requirement: Requirement, findings: Sequence[Finding], circumstances: Circumstances) -> Judgement:
    if not findings:
        verdict, message = _unjudged(requirement, circumstances)
        return Judgement(requirement.id, _level(requirement), requirement.sentence, verdict, message)
    worst = min(findings, key=lambda finding: _WORST_FIRST.index(finding.outcome))
    fails = worst.outcome == "fail"
    return Judgement(
        id=requirement.id,
        level=_level(requirement),
        sentence=requirement.sentence,
        verdict=worst.outcome,
        message=worst.message or None,
        witness=worst.witness or None,
        replay=replay_command(worst.conversation, circumstances.target) if fails else None,
        evidence=worst.evidence,
    )


def _unjudged(requirement: Requirement, circumstances: Circumstances) -> tuple[Outcome, str]:
    if requirement.excluded is not None:
        return "not-applicable", requirement.excluded
    for name in (requirement.id, requirement.id.split(":")[0]):
        if name in circumstances.absent:
            return "not-applicable", circumstances.absent[name]
    if requirement.id not in circumstances.checked:
        return "could-not-run", "The suite has no check for it."
    return "could-not-run", circumstances.cut or "Nothing that was observed shows it."


def _level(requirement: Requirement) -> Level:
    return next(level for level in LEVELS if level == requirement.level)
