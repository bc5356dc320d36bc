"""Explanation: finds the requirement that explains each fault, so that one fault fails few requirements. Pure.

One fault in a call makes all checks of that call complain. The requirement that fails in most calls that it judges, and
in most calls that went wrong, explains the fault; for the other requirements these calls could not be judged. A new
kind of cause is a function here that turns findings into findings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from gemini_mcp.spec import Requirement
from gemini_mcp_conformance.judge.deviation import RESUMED
from gemini_mcp_conformance.judge.finding import Finding
from gemini_mcp_conformance.judge.judgement import DIED, FOREIGN, LONG_LINE, SILENT

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

LEVELS = ("MUST", "SHOULD", "MAY")
JUDGED = ("pass", "fail", "could-not-run")
EXPLAINED = "What went wrong in the call is told by {requirement}."
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
    findings = _resumed(_readable(_without_long_lines(findings)))
    # What differs by the transport is due to that, and what is told of a call under a wrong token to the token.
    levels = {each.id: LEVELS.index(each.level) for each in requirements}
    offered = _offered(_owned(_differing(findings), "progress", "told"), levels)
    # What no requirement speaks of has done its part.
    findings = [each for each in offered if each.requirement in levels]
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


def _without_long_lines(findings: Sequence[Finding]) -> Sequence[Finding]:
    """The findings; where a port also ends or is silent without a long line, the line is not the cause."""
    causes = {finding.cause for finding in findings}
    other = next((cause for cause in (DIED, SILENT) if cause in causes), None)
    if other is None:
        return findings
    return [replace(each, cause=other) if each.cause == LONG_LINE else each for each in findings]


def _explained(finding: Finding, requirement: str) -> Finding:
    """The finding, explained by another requirement. A cause that is no requirement, such as DIED, stays."""
    told = EXPLAINED.format(requirement=requirement)
    return replace(finding, outcome="could-not-run", message=told, cause=finding.cause or requirement)


def _offered(findings: Sequence[Finding], levels: Mapping[str, int]) -> list[Finding]:
    """What rests on a tool or a property that the port does not list as specified is explained by that.

    A list that is right when it comes, and sometimes does not come, is one. No SHOULD explains a MUST: where a list
    need not be as specified, what fails most of what rests on it explains the rest.
    """
    used = {id for finding in findings for id in finding.uses}
    passed = {finding.requirement for finding in findings if finding.outcome == "pass"}
    wrong = [each for each in findings if each.outcome == "fail"]
    unlisted = used & {
        each.requirement for each in wrong if each.about != "unanswered" or each.requirement not in passed
    }
    heads = _heads([each for each in wrong if each.requirement not in unlisted], unlisted, levels)

    def offered(finding: Finding) -> Finding:
        if finding.outcome != "fail" or finding.requirement in unlisted:
            return finding
        missing = sorted(heads[id, levels[finding.requirement]] for id in finding.uses & unlisted)
        is_other = missing and finding.requirement not in missing
        return _explained(finding, missing[0]) if is_other else finding

    return [offered(finding) for finding in findings]


def _heads(wrong: Sequence[Finding], unlisted: set[str], levels: Mapping[str, int]) -> Mapping[tuple[str, int], str]:
    """What explains failures of each level that rest on something which a port does not list as specified.

    It is the requirement to list it, or where that is too weak, the strong one that fails most often with it.
    """
    heads: dict[tuple[str, int], str] = {}
    every = Counter(each.requirement for each in wrong)
    for id in unlisted:
        counts = Counter(each.requirement for each in wrong if id in each.uses)
        for level in range(len(LEVELS)):
            able = [each for each in sorted(counts) if levels[each] <= level]
            best = max(able, key=lambda each: (-levels[each], counts[each], every[each]), default=id)
            heads[id, level] = id if levels.get(id, len(LEVELS)) <= level else best
    return heads


def _readable(findings: Sequence[Finding]) -> list[Finding]:
    """Silence in a conversation in which the port wrote what is no message is explained by that."""
    unread = sorted((each for each in findings if each.outcome == "fail" and each.about == "line"), key=_is_meant)
    lines = {finding.conversation: finding.requirement for finding in unread}
    return _due(findings, lines, lambda finding: finding.about == "unanswered")


def _resumed(findings: Sequence[Finding]) -> list[Finding]:
    """Calls that wait beside one that resumes a wrong session are explained by that.

    So is all else in a conversation in which one waited in vain: it may run later, beside the calls that follow.
    """
    wrong = [each for each in findings if each.outcome == "fail"]
    sessions = {each.conversation: each.requirement for each in wrong if each.about == RESUMED}
    vain = {each.conversation for each in wrong if each.about == "unanswered"}
    return _due(
        findings,
        sessions,
        lambda finding: finding.about == "order" or (finding.conversation in vain and finding.about != RESUMED),
    )


def _owned(findings: Sequence[Finding], about: str, due: str) -> list[Finding]:
    """What is wrong in a conversation, `due` to what one requirement is itself about, is explained by that."""
    wrong = [each for each in findings if each.outcome == "fail" and each.about == about and each.is_own]
    owners = {each.conversation: each.requirement for each in wrong}
    return _due(findings, owners, lambda finding: finding.about == due and not finding.is_own)


def _differing(findings: Sequence[Finding]) -> list[Finding]:
    """Where the answers differ by the transport, what goes wrong nowhere else is due to that."""
    wrong = [each for each in findings if each.outcome == "fail"]
    owners = {each.conversation: each.requirement for each in wrong if each.about == "transport" and each.is_own}
    elsewhere = {each.requirement for each in wrong if each.conversation not in owners}
    due = {each.requirement for each in wrong} - elsewhere
    return _due(
        findings, owners, lambda each: not each.is_own and (each.about == "transport" or each.requirement in due)
    )


def _due(findings: Sequence[Finding], owners: Mapping[str, str], is_due: Callable[[Finding], bool]) -> list[Finding]:
    """The findings; a failure that is due to the requirement that owns its conversation is explained by that."""

    def told(finding: Finding) -> Finding:
        owner = owners.get(finding.conversation)
        if owner is None or finding.outcome != "fail" or not is_due(finding):
            return finding
        return _explained(finding, owner)

    return [told(finding) for finding in findings]


def _is_meant(finding: Finding) -> bool:
    return finding.is_meant


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
    return _first(about, own or meant or able, left), False


def _first(about: str, complainers: Sequence[Complainer], left: set[Item]) -> Complainer:
    return max(complainers, key=lambda each: (round(each.score(about, left), 6), len(each.meant & each.items[about])))


def _complainers(findings: Sequence[Finding], calls: Mapping[tuple[str, str], set[Item]]) -> Mapping[str, Complainer]:
    """The requirements that complain."""
    found: dict[str, Complainer] = {}
    for finding in findings:
        each = found.setdefault(finding.requirement, Complainer(finding.requirement))
        item = (finding.conversation, finding.step)
        if finding.outcome in JUDGED:
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
    return finding if cause is None else _explained(finding, cause)
