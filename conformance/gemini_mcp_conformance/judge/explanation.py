"""Explanation: finds the requirement that explains each fault, so that one fault fails few requirements. Pure.

One fault in a call makes all checks of that call complain. The requirement that fails in most calls that it judges, and
in most calls that went wrong, explains the fault; for the other requirements these calls could not be judged. What a
conversation itself tells about its cause belongs into `owners`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from gemini_mcp.spec import Requirement
from gemini_mcp_conformance.judge.finding import Finding
from gemini_mcp_conformance.judge.judgement import FOREIGN
from gemini_mcp_conformance.judge.owners import LEVELS, explained_by, is_explained, levels_of, owned

Item: TypeAlias = tuple[str, int | None]
"""A call of a conversation, or a conversation as a whole."""

MANY, SURE, LIKELY = 20, 0.95, 0.4
"""A requirement is totally broken if it judged so many items, and so large a share of them failed. An explanation with
a score from `LIKELY` on is better than the requirement whose own claim is the fault."""

WHOLE = ("unanswered", "unserved")
"""What is one fault, however many calls it spoils."""

PARTED, OFTEN = ("cause", "served"), 0.3
"""What one argument or exit code shows and another does not. There a requirement explains what it judges if so large a
share failed, however little that is, and a total break explains no more, unless the fault is its own claim."""

SHARED = ("answer", "command", "directory", "file", "left", "not run", "progress", "reason", "served", "session")
"""What checks of many requirements complain about: what none of them explains well is told by one."""

JUDGED = ("pass", "fail", "could-not-run")
STRANGE = "The port does not implement this specification."


@dataclass
class Complainer:
    """A requirement: what it judged, and by the kind of fault which items it complains about in what of that failed.

    `meant` are the items that were made to show it, and `own` the kinds of fault that it is itself about.
    """

    requirement: str
    judged: set[Item] = field(default_factory=set[Item])
    failed: dict[str, dict[Item, set[Item]]] = field(default_factory=dict[str, dict[Item, set[Item]]])
    items: dict[str, set[Item]] = field(default_factory=dict[str, set[Item]])
    meant: set[Item] = field(default_factory=set[Item])
    own: set[str] = field(default_factory=set[str])

    def share(self, about: str, left: set[Item] | None = None) -> float:
        """The share of what it judged that failed in that way, of what did not fail in another.

        What failed and is none of what is left has been explained, and does not count.
        """
        failed = self.failed.get(about, dict[Item, set[Item]]())
        others = set[Item]().union(*self.failed.values()) - failed.keys()
        told = 0 if left is None else sum(items.isdisjoint(left) for items in failed.values())
        return (len(failed) - told) / max(1, len(self.judged - others) - told)

    def is_total(self, about: str) -> bool:
        """Whether nearly all that it judged failed in that way, and that is much."""
        return len(self.failed.get(about, ())) >= MANY and self.share(about) >= SURE

    def score(self, about: str, left: set[Item]) -> float:
        """How well it explains what is left: the harmonic mean of the share it fails and the share it covers."""
        covered, share = len(self.items[about] & left) / len(left), self.share(about, left)
        return 2 * share * covered / (share + covered) if covered else 0.0


@dataclass
class Causes:
    """The requirement that explains each item with one kind of fault, and the one that explains all others, if any."""

    known: dict[Item, str] = field(default_factory=dict[Item, str])
    rest: str | None = None


def explained(findings: Sequence[Finding], requirements: Sequence[Requirement]) -> list[Finding]:
    """The findings; a failure that another requirement explains becomes could-not-run."""
    if any(finding.cause == FOREIGN for finding in findings):
        return [_strange(finding) for finding in findings]
    # What no requirement speaks of has done its part.
    levels, is_right = levels_of(requirements), all(finding.outcome != "fail" for finding in findings)
    known = findings if is_right else owned(findings, requirements)
    findings = [each for each in known if each.requirement in levels]
    if is_right:
        return findings
    calls = _calls(findings)
    complainers = _complainers(findings, calls)
    causes: dict[str, Causes] = {}
    # In this order: what breaks a MUST may explain a SHOULD that fails with it, and no SHOULD explains a MUST.
    for level in LEVELS:
        names = [each.id for each in requirements if each.level == level and each.id in complainers]
        for about in dict.fromkeys(about for name in names for about in complainers[name].items):
            own = [complainers[name] for name in names if about in complainers[name].items]
            _explain(about, own, causes.setdefault(about, Causes()))
    blamed = {requirement for each in causes.values() for requirement in each.known.values()}
    return [_settled(finding, causes, blamed, calls) for finding in findings]


def _strange(finding: Finding) -> Finding:
    """A finding about a port of something else: only that it is one counts."""
    if finding.outcome != "fail" or finding.cause == FOREIGN:
        return finding
    return replace(finding, outcome="could-not-run", message=STRANGE, cause=FOREIGN)


def _explain(about: str, complainers: Sequence[Complainer], causes: Causes) -> None:
    """Add what explains the items that went wrong in one way; the best explanation first.

    A requirement that is totally broken explains all that is left. So does the best explanation of silence, and of what
    no requirement explains well.
    """
    left = {item for each in complainers for item in each.items[about]} - causes.known.keys()
    if about in WHOLE:
        complainers = [each for each in complainers if each.meant & each.items[about]] or complainers
    while left and causes.rest is None:
        best, is_likely = _best(about, complainers, left)
        is_total = best.is_total(about) and (about not in PARTED or about in best.own)
        is_all = is_total or about in WHOLE or (about in SHARED and not is_likely)
        causes.rest = best.requirement if is_all else None
        told = best.items[about] & left
        causes.known.update(dict.fromkeys(told, best.requirement))
        left -= told
    if causes.rest is not None:
        causes.known.update(dict.fromkeys(left, causes.rest))


def _best(about: str, complainers: Sequence[Complainer], left: set[Item]) -> tuple[Complainer, bool]:
    """What explains best what is left, and whether it explains it well."""
    best = _first(about, complainers, left)
    if best.score(about, left) >= LIKELY:
        return best, True
    able = [each for each in complainers if each.items[about] & left]
    parts = [each for each in able if about in PARTED and about not in each.own and each.share(about, left) >= OFTEN]
    if parts:
        return _first(about, parts, left), True
    own = [each for each in able if about in each.own]
    meant = [each for each in able if each.items[about] & left & each.meant]
    # Where nothing fits well, what speaks of all that is left says more than what happens to judge a part of it.
    broad = max(len(each.items[about] & left) for each in own or meant or able)
    return _first(about, [each for each in own or meant or able if len(each.items[about] & left) == broad], left), False


def _first(about: str, complainers: Sequence[Complainer], left: set[Item]) -> Complainer:
    return max(complainers, key=lambda each: (round(each.score(about, left), 6), len(each.meant & each.items[about])))


def _complainers(findings: Sequence[Finding], calls: Mapping[tuple[str, str], set[Item]]) -> Mapping[str, Complainer]:
    """The requirements that complain."""
    found: dict[str, Complainer] = {}
    for finding in findings:
        each = found.setdefault(finding.requirement, Complainer(finding.requirement))
        item = (finding.conversation, finding.step)
        if finding.outcome in JUDGED and not is_explained(finding):
            each.judged.add(item)
        if finding.outcome == "fail":
            items = _items(finding, calls)
            each.failed.setdefault(finding.about, {}).setdefault(item, set()).update(items)
            each.items.setdefault(finding.about, set()).update(items)
            each.meant |= items if finding.is_meant else set()
            each.own |= {finding.about} if finding.is_own else set()
    return {name: each for name, each in found.items() if each.failed}


def _calls(findings: Sequence[Finding]) -> Mapping[tuple[str, str], set[Item]]:
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
    causes: Mapping[str, Causes],
    blamed: set[str],
    calls: Mapping[tuple[str, str], set[Item]],
) -> Finding:
    if finding.outcome != "fail" or finding.requirement in blamed:
        return finding
    known = causes[finding.about].known
    # Sorted, because sets have another order in each run.
    cause = next((known[item] for item in sorted(_items(finding, calls), key=str) if item in known), None)
    return finding if cause is None else explained_by(finding, cause)
