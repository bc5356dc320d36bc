"""Verdict: decides about each requirement from the findings of a run; pure.

Both profiles are decided here, and only here verdicts have an order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from gemini_mcp.spec import Requirement
from gemini_mcp_conformance.judge.check import Conclusion
from gemini_mcp_conformance.judge.finding import Finding
from gemini_mcp_conformance.judge.judgement import UNSEEN, Judgement, Level, Verdict

ORDER: tuple[Verdict, ...] = ("harness-error", "fail", "pass", "could-not-run", "not-applicable")
"""Each outweighs those after it. One conversation that shows a requirement is enough, so a pass outweighs another
conversation that could not be played. When a check raised an error, what the others found is doubtful."""

UNSHOWABLE = "No conversation can show it under this specification."


@dataclass(frozen=True)
class Circumstances:
    """What decides about requirements without findings, and the command that shows a failure again.

    `checked` are the requirements that have a check. `absent` says why an area or an id does not bind the port, `cut`
    why the run ended early. A run is whole when all conversations of the suite were played. `seconds` is how long each
    conversation took.
    """

    checked: frozenset[str]
    replay: Callable[[Finding], str]
    absent: Mapping[str, str] = field(default_factory=dict[str, str])
    cut: str | None = None
    is_whole: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])


def decide(
    requirements: Sequence[Requirement], findings: Iterable[Finding], circumstances: Circumstances
) -> tuple[Judgement, ...]:
    """A judgement for each requirement, in their order."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.requirement, []).append(finding)
    judgements = tuple(_judgement(each, found.get(each.id, []), circumstances) for each in requirements)
    return _without_unshown(judgements) if circumstances.is_whole else judgements


def _without_unshown(judgements: tuple[Judgement, ...]) -> tuple[Judgement, ...]:
    """When all else is right, what was not observed is what no conversation can show under this specification."""
    others = [each for each in judgements if each.message != UNSEEN]
    if any(each.verdict not in ("pass", "not-applicable", "undecided") for each in others):
        return judgements
    return tuple(
        replace(each, verdict="undecided", message=UNSHOWABLE) if each.message == UNSEEN else each
        for each in judgements
    )


def _judgement(requirement: Requirement, findings: Sequence[Finding], circumstances: Circumstances) -> Judgement:
    level = cast(Level, requirement.level)
    if not findings:
        return Judgement(requirement.id, level, requirement.sentence, *_unjudged(requirement, circumstances))
    decisive = min(findings, key=lambda finding: (ORDER.index(finding.outcome), _length(finding)))
    return Judgement(
        id=requirement.id,
        level=level,
        sentence=requirement.sentence,
        verdict=decisive.outcome,
        message=decisive.message or None,
        witness=decisive.witness or None,
        replay=circumstances.replay(decisive) if decisive.outcome == "fail" else None,
        cause=decisive.cause or (requirement.id if decisive.outcome == "fail" else None),
        evidence=decisive.evidence,
        seconds=circumstances.seconds.get(decisive.conversation),
    )


def _length(finding: Finding) -> int:
    """How much of a failure there is to read: the simplest example is shown."""
    return len(finding.message) + len(finding.witness) if finding.outcome == "fail" else 0


def _unjudged(requirement: Requirement, circumstances: Circumstances) -> Conclusion:
    if requirement.excluded is not None:
        return "not-applicable", requirement.excluded
    for name in (requirement.id, requirement.id.split(":")[0]):
        if name in circumstances.absent:
            return "not-applicable", circumstances.absent[name]
    if requirement.id not in circumstances.checked:
        return "undecided", "No check of the suite decides it."
    return "could-not-run", circumstances.cut or UNSEEN
