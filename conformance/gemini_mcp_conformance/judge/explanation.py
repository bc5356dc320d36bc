"""Explanation: finds the requirement that explains each fault, so that one fault fails few requirements. Pure.

One fault in a call makes all checks of that call complain. The requirement that fails in most calls that it judges, and
in most calls that went wrong, explains the fault; for the other requirements these calls could not be judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from gemini_mcp.spec import Requirement
from gemini_mcp_conformance.judge.finding import Finding

Item: TypeAlias = tuple[str, int | None]
"""A call of a conversation, or a conversation as a whole."""

MANY, SURE = 20, 0.95
"""A requirement is totally broken if it judged so many items, and so large a share of them failed."""

JUDGED = ("pass", "fail", "could-not-run")
EXPLAINED = "What went wrong in the call is told by {requirement}."


@dataclass(frozen=True)
class Complainer:
    """A requirement: how many items it judged, which of them failed, and how many of these were made to show it."""

    requirement: str
    judged: int
    failed: frozenset[Item]
    meant: int

    @property
    def is_total(self) -> bool:
        """Whether nearly all items that it judged failed, and these are many."""
        return self.judged >= MANY and len(self.failed) >= SURE * self.judged

    def score(self, left: set[Item]) -> float:
        """How well it explains what is left: the harmonic mean of the share it fails and the share it covers."""
        covered = len(self.failed & left)
        right, share = len(self.failed) / max(1, self.judged), covered / len(left)
        return 2 * right * share / (right + share) if covered else 0.0


def explained(findings: Sequence[Finding], requirements: Sequence[Requirement]) -> list[Finding]:
    """The findings; a failure that another requirement explains becomes could-not-run."""
    unlisted = _unlisted(findings)
    findings = [_offered(finding, unlisted) for finding in findings]
    calls = _calls(findings)
    causes: dict[str, dict[Item, str]] = {}
    total: dict[str, str] = {}
    for level in ("MUST", "SHOULD", "MAY"):
        names = [each.id for each in requirements if each.level == level]
        for about, complainers in _by_thing(findings, calls, names).items():
            known = causes.setdefault(about, {})
            left = {item for each in complainers for item in each.failed} - known.keys()
            if about in total:
                known.update(dict.fromkeys(left, total[about]))
                continue
            broken = [each.requirement for each in complainers if each.is_total]
            if broken:
                total[about] = broken[0]
            for item, requirement in _causes(complainers, left):
                known.setdefault(item, requirement)
    blamed = {requirement for known in causes.values() for requirement in known.values()}
    return [_settled(finding, causes, blamed, calls) for finding in findings]


def _unlisted(findings: Sequence[Finding]) -> frozenset[str]:
    """The requirements about tools and properties that the port does not list as specified."""
    used = {id for finding in findings for id in finding.uses}
    return frozenset(finding.requirement for finding in findings if finding.outcome == "fail") & used


def _offered(finding: Finding, unlisted: frozenset[str]) -> Finding:
    """The finding, unless it rests on a call of what the port does not offer."""
    missing = sorted(finding.uses & unlisted)
    if finding.outcome != "fail" or not missing or finding.requirement in unlisted:
        return finding
    return replace(finding, outcome="could-not-run", message=EXPLAINED.format(requirement=missing[0]))


def _causes(complainers: Sequence[Complainer], left: set[Item]) -> Iterator[tuple[Item, str]]:
    """Each item that went wrong, with the requirement that explains it; the best explanation first.

    A requirement that is totally broken explains all that is left.
    """
    while left:
        best = max(complainers, key=lambda each: (round(each.score(left), 6), each.meant))
        told = left if best.is_total else best.failed & left
        yield from ((item, best.requirement) for item in told)
        left = left - told


def _by_thing(
    findings: Sequence[Finding], calls: Mapping[tuple[str, str], set[Item]], names: Sequence[str]
) -> Mapping[str, list[Complainer]]:
    """The requirements that complain, by what they complain about, in the order of the specification."""
    judged: dict[str, set[Item]] = {}
    meant: dict[str, set[Item]] = {}
    failed: dict[str, dict[str, set[Item]]] = {}
    for finding in findings:
        items = _items(finding, calls) if finding.outcome == "fail" else {(finding.conversation, finding.step)}
        if finding.outcome == "fail":
            failed.setdefault(finding.about, {}).setdefault(finding.requirement, set()).update(items)
        if finding.outcome in JUDGED:
            judged.setdefault(finding.requirement, set()).update(items)
        if finding.is_meant:
            meant.setdefault(finding.requirement, set()).update(items)
    return {
        about: [
            Complainer(name, len(judged[name]), frozenset(found[name]), len(found[name] & meant.get(name, set())))
            for name in names
            if name in found
        ]
        for about, found in failed.items()
    }


def _calls(findings: Iterable[Finding]) -> Mapping[tuple[str, str], set[Item]]:
    """The calls of each conversation that failed, by what was wrong with them."""
    found: dict[tuple[str, str], set[Item]] = {}
    for finding in findings:
        if finding.outcome == "fail" and finding.step is not None:
            found.setdefault((finding.conversation, finding.about), set()).add((finding.conversation, finding.step))
    return found


def _items(finding: Finding, calls: Mapping[tuple[str, str], set[Item]]) -> set[Item]:
    """The items of a failure: its call, or all calls of its conversation that failed in the same way."""
    own = (finding.conversation, finding.step)
    return {own} if finding.step is not None else calls.get((finding.conversation, finding.about), {own})


def _settled(
    finding: Finding,
    causes: Mapping[str, Mapping[Item, str]],
    blamed: set[str],
    calls: Mapping[tuple[str, str], set[Item]],
) -> Finding:
    if finding.outcome != "fail" or finding.requirement in blamed:
        return finding
    known = causes[finding.about]
    cause = next((known[item] for item in sorted(_items(finding, calls), key=str) if item in known), None)
    return (
        finding
        if cause is None
        else replace(finding, outcome="could-not-run", message=EXPLAINED.format(requirement=cause))
    )
