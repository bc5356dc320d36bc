"""Comparisons for their readers: text, JSON, Markdown, GitHub annotations and SARIF. Pure."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from gemini_mcp.report import changes, witness
from gemini_mcp.report import sarif as log
from gemini_mcp.report.annotation import annotation, cell, data
from gemini_mcp.report.changes import Place
from gemini_mcp.schema.inline import written_at
from gemini_mcp.spec.values import Json, table
from gemini_mcp_spec.diff.change import Change
from gemini_mcp_spec.diff.comparison import Comparison
from gemini_mcp_spec.diff.impact import Impact
from gemini_mcp_spec.diff.rules import RULES, Severity, rule_of
from gemini_mcp_spec.files.kinds import SCHEMA, kind_of
from gemini_mcp_spec.files.version import Version

_LEVELS = {Severity.CALLERS: "error", Severity.PORTS: "error", Severity.NOTICE: "notice", Severity.COMPATIBLE: "notice"}
_MOST_NAMED = 3
_SCHEMAS = (("settingsSchema",), ("inputSchema",))
"""The keys under which a file of another kind holds a schema."""

Placed: TypeAlias = tuple[Place, Change]


def text(comparison: Comparison, impacts: Sequence[Impact]) -> str:
    """Every change with its place, fingerprint and witness, and what the version has to be."""
    lines = [line for placed in _placed(comparison) for line in _change_lines(comparison, *placed)]
    return "\n".join([*lines, *(f"impact: {line}" for line in _impact_lines(impacts)), *summary(comparison)])


def _impact_lines(impacts: Sequence[Impact]) -> Iterator[str]:
    """The verdicts of each port that flip, those with one outcome together, or that none does."""
    for impact in impacts:
        outcomes: dict[tuple[str, str], list[str]] = {}
        for flip in impact.flips:
            named = outcomes.setdefault((flip.old, flip.new), [])
            named += [flip.requirement] if flip.requirement not in named else []
        for (old, new), named in outcomes.items():
            who = named[0] if len(named) == 1 else f"{len(named)} requirements"
            yield f"{impact.port}: {who}: {old} -> {new}" + (f": {_few(named)}" if len(named) > 1 else "")
        if not outcomes:
            yield f"{impact.port}: no verdict flips"


def _few(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def summary(comparison: Comparison) -> list[str]:
    """What was compared, what the version is and should be, and what to do."""
    old, new = comparison.old, comparison.new
    count = len(comparison.changes)
    counted = f"{count or 'no'} change{'' if count == 1 else 's'}"
    lines = [f"{counted} from {old.version} ({old.name}) to {new.version} ({new.name})"]
    if comparison.is_rewritten:
        lines.append("A released list is another now. No version allows that: restore it.")
    if comparison.is_refused and not comparison.is_reached:
        advice = " Or approve the breaks in approved-breaks.json." if comparison.breaks else ""
        lines.append(f"The version {new.version} is too low: {_demand(comparison)}{advice}")
    elif not comparison.is_reached:
        lines.append(f"The version {new.version} is low: {_demand(comparison)}")
    lines += [f"The approval {name} fits no change. Remove it." for name in comparison.stale]
    return lines


def _demand(comparison: Comparison) -> str:
    if not Version.is_one(comparison.new.version):
        return f"it is no version of three numbers. These changes need {comparison.needed}."
    if comparison.needed <= Version.parse(comparison.new.version):
        return f"it was {comparison.old.version} before. Raise it."
    return f"these changes need {comparison.needed}. Raise `version` in manifest.json."


def as_json(comparison: Comparison, impacts: Sequence[Impact]) -> str:
    """Everything, for programs."""
    document = {
        "old": {"name": comparison.old.name, "version": comparison.old.version},
        "new": {"name": comparison.new.name, "version": comparison.new.version},
        "needed": str(comparison.needed),
        "reached": comparison.is_reached,
        "refused": comparison.is_refused,
        "changes": [_entry(comparison, *placed) for placed in _placed(comparison)],
        "stale": list(comparison.stale),
        "impact": [vars(flip) for impact in impacts for flip in impact.flips],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def markdown(comparison: Comparison, impacts: Sequence[Impact]) -> str:
    """A comment for a pull request."""
    lines = ["### Specification", "", *summary(comparison), ""]
    if comparison.changes:
        lines += ["| verdict | change | place | fingerprint |", "|---|---|---|---|"]
        lines += [_row(comparison, *placed) for placed in _placed(comparison)]
    for _, change in _placed(comparison):
        lines += witness.details(change.witness, change.fingerprint) if change.witness else []
    if impacts:
        lines += ["", "#### Ports", "", *(f"- {cell(line)}" for line in _impact_lines(impacts))]
    return "\n".join(lines)


def comment(comparison: Comparison, impacts: Sequence[Impact]) -> str:
    """The text of one comment that a later run finds again by its first line, and replaces."""
    return f"<!-- gemini-mcp-spec -->\n{markdown(comparison, impacts)}"


def github(comparison: Comparison, impacts: Sequence[Impact]) -> str:
    """Workflow commands that GitHub shows beside the lines."""
    told = [f"::notice title=impact::{data(line)}" for line in _impact_lines(impacts)]
    return "\n".join([*_annotations(comparison), *told])


def sarif(comparison: Comparison, impacts: Sequence[Impact]) -> str:
    """A SARIF 2.1.0 log; what is let pass is a warning."""
    rules = {change.rule: rule_of(change.rule).sentence for change in comparison.changes if change.rule in RULES}
    rules |= {change.rule: change.rule for change in comparison.changes if change.rule not in rules}
    results = [
        log.result(
            change.rule, _level(comparison, change).replace("notice", "note"), change.message, place, change.fingerprint
        )
        for place, change in _placed(comparison)
    ]
    return log.log("gemini-mcp-spec", rules, results)


def _level(comparison: Comparison, change: Change) -> str:
    is_approved = change.fingerprint in comparison.approved
    is_let_pass = is_approved or (change.severity.breaks and not comparison.is_refused)
    return "warning" if is_let_pass else _LEVELS[change.severity]


def _annotations(comparison: Comparison) -> Iterator[str]:
    for place, change in _placed(comparison):
        title = f"{change.severity} ({change.rule}, {change.fingerprint})"
        yield annotation(_level(comparison, change), *place, title, change.message)
    if not comparison.is_reached:
        level = "error" if comparison.is_refused else "warning"
        position = comparison.new.position("manifest.json", ("version",))
        place = comparison.new.shown("manifest.json"), position.line, position.column
        yield annotation(level, *place, "version", " ".join(summary(comparison)[1:]))


def _change_lines(comparison: Comparison, place: Place, change: Change) -> Iterator[str]:
    yield changes.headline(change, str(change.severity), place)
    yield from changes.proof(change)
    if reason := comparison.approved.get(change.fingerprint):
        yield f"    approved: {reason}"


def _entry(comparison: Comparison, place: Place, change: Change) -> Json:
    return {
        "fingerprint": change.fingerprint,
        "verdict": change.severity.value,
        "rule": change.rule,
        "bump": change.bump.name.lower(),
        **changes.described(change, place),
        "proven": change.is_proven,
        "approved": comparison.approved.get(change.fingerprint),
        "witness": change.witness.to_json() if change.witness else None,
        "requirements": list(change.requirements),
    }


def _placed(comparison: Comparison) -> list[Placed]:
    """The changes by file and line, and those of one place the gravest first."""
    order = list(Severity)
    placed = [(_place(comparison, change), change) for change in comparison.changes]
    return sorted(placed, key=lambda one: (one[0], order.index(one[1].severity), one[1].fingerprint))


def _place(comparison: Comparison, change: Change) -> Place:
    """Where the change is in the new specification, or, for a file that has gone, was in the old one."""
    spec = comparison.new if change.file in comparison.new.files else comparison.old
    path = change.place
    if kind_of(change.file) == SCHEMA:
        path = written_at(spec.documents.get(change.file), path)
    elif path[:1] in _SCHEMAS:
        path = (path[0], *written_at(table(spec.documents.get(change.file)).get(str(path[0])), path[1:]))
    position = spec.position(change.file, path)
    return spec.shown(change.file), position.line, position.column


def _row(comparison: Comparison, place: Place, change: Change) -> str:
    verdict = f"**{change.severity}**" if change.severity.breaks else str(change.severity)
    if reason := comparison.approved.get(change.fingerprint):
        verdict += f" (approved: {cell(reason)})"
    return changes.row(change, verdict, place)


FORMATS: Mapping[str, Callable[[Comparison, Sequence[Impact]], str]] = {
    "text": text,
    "json": as_json,
    "markdown": markdown,
    "comment": comment,
    "github": github,
    "sarif": sarif,
}
