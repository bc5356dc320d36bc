"""Owners: a requirement owns a conversation if what it complains about there explains what else went wrong. Pure.

It may be what the calls rest on, such as a tool that is not listed, or what spoils a whole conversation, such as a line
that is no message. `explanation` compares only what nothing here explains. A new kind of owner is a function here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gemini_mcp.spec import Requirement
from gemini_mcp_conformance.judge.deviation import RESUMED
from gemini_mcp_conformance.judge.finding import Finding
from gemini_mcp_conformance.judge.judgement import DIED, LONG_LINE, SILENT

LEVELS = ("MUST", "SHOULD", "MAY")
EXPLAINED = "What went wrong in the call is told by {requirement}."
LONG_LINES = "rpc:alive:long-line"
DECLARED = "tools:{tool}:"
"""The beginning of the families about what the schema of a tool declares."""


def owned(findings: Sequence[Finding], requirements: Sequence[Requirement]) -> list[Finding]:
    """The findings; a failure whose conversation has an owner is explained by that."""
    findings = _resumed(_readable(_without_long_lines(findings)))
    # What is told of a call under a wrong token is due to the token.
    findings = _owned(_differing(findings), "progress", "told")
    return _offered(findings, levels_of(requirements), _told_once(findings, requirements))


def levels_of(requirements: Sequence[Requirement]) -> Mapping[str, int]:
    """The level of each requirement, the strongest first."""
    return {each.id: LEVELS.index(each.level) for each in requirements}


def _without_long_lines(findings: Sequence[Finding]) -> Sequence[Finding]:
    """The findings; a long line is not the cause where a port also ends or is silent without one, or reads others."""
    causes = {finding.cause for finding in findings}
    read = {finding.outcome for finding in findings if finding.requirement == LONG_LINES}
    reads = "pass" in read and "fail" not in read
    other = next((cause for cause in (DIED, SILENT) if cause in causes), "" if reads else None)
    if other is None:
        return findings
    return [replace(each, cause=other) if each.cause == LONG_LINE else each for each in findings]


def explained_by(finding: Finding, requirement: str) -> Finding:
    """The finding, explained by another requirement. A cause that is no requirement, such as DIED, stays."""
    told = EXPLAINED.format(requirement=requirement)
    return replace(finding, outcome="could-not-run", message=told, cause=finding.cause or requirement)


def is_explained(finding: Finding) -> bool:
    """Whether another requirement explains what went wrong."""
    return finding.outcome == "could-not-run" and finding.cause != ""


def _told_once(findings: Sequence[Finding], requirements: Sequence[Requirement]) -> Mapping[str, str]:
    """What several tools declare wrongly alike, by the first requirement that says so: it is one fault."""
    wrong = {each.requirement for each in findings if each.outcome == "fail" and each.about == each.requirement}
    first: dict[tuple[str, ...], str] = {}
    told: dict[str, str] = {}
    for each in requirements:
        if each.id in wrong and each.family.startswith(DECLARED):
            others = (value for name, value in sorted(each.subject.items()) if name != "tool")
            told[each.id] = first.setdefault((each.family, *others), each.id)
    return told


def _offered(findings: Sequence[Finding], levels: Mapping[str, int], told_once: Mapping[str, str]) -> list[Finding]:
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
        if finding.outcome != "fail":
            return finding
        if finding.requirement in unlisted | told_once.keys():
            first = told_once.get(finding.requirement, finding.requirement)
            return finding if first == finding.requirement else explained_by(finding, first)
        found = (heads[id, levels[finding.requirement]] for id in finding.uses & unlisted)
        missing = sorted(told_once.get(id, id) for id in found)
        is_other = missing and finding.requirement not in missing
        return explained_by(finding, missing[0]) if is_other else finding

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
        return explained_by(finding, owner)

    return [told(finding) for finding in findings]


def _is_meant(finding: Finding) -> bool:
    return finding.is_meant
