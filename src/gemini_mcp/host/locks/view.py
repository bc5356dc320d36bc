"""Shows a comparison of locks as text, JSON, Markdown and SARIF. Pure."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gemini_mcp.host.locks.change import Change
from gemini_mcp.host.locks.rules import RULES, Verdict
from gemini_mcp.host.tools import hidden
from gemini_mcp.report import changes, witness
from gemini_mcp.report import sarif as log
from gemini_mcp.report.changes import Place
from gemini_mcp.report.positions import locate
from gemini_mcp.spec.values import Json

_LEVELS = {Verdict.BREAKING: "error", Verdict.NOTICE: "warning", Verdict.COMPATIBLE: "note"}
_MOST = 5
"""How many changes of one rule that break nothing people are shown; programs get all."""


@dataclass(frozen=True)
class Comparison:
    """What changed, between which two, and the lock that shows where: its name and its text."""

    old: str
    new: str
    changes: tuple[Change, ...]
    file: str
    content: str

    @property
    def breaks(self) -> bool:
        return any(change.breaks for change in self.changes)

    @property
    def is_of_approved(self) -> bool:
        """Whether anything is another that was approved with the lock."""
        return any(change.is_of_approved for change in self.changes)

    def place(self, change: Change) -> Place:
        """Where the lock has it, or would have it."""
        position = locate(self.content, change.path)
        return self.file, position.line, position.column


def text(comparison: Comparison) -> str:
    """Every change with its place, fingerprint and witness, and how many there are."""
    lines = [line for change in _shown(comparison) for line in _lines(comparison, change)]
    return "\n".join([*lines, *_left_out(comparison), *summary(comparison)])


def _shown(comparison: Comparison) -> list[Change]:
    """Every break, and the first few of what else each rule has found."""
    seen: Counter[str] = Counter()
    shown: list[Change] = []
    for change in comparison.changes:
        seen[change.rule] += not change.breaks
        shown += [change] if change.breaks or seen[change.rule] <= _MOST else []
    return shown


def _left_out(comparison: Comparison) -> list[str]:
    counts = Counter(change.rule for change in comparison.changes if not change.breaks)
    return [
        f"… and {count - _MOST} more of {rule}; --format json shows all"
        for rule, count in counts.items()
        if count > _MOST
    ]


def summary(comparison: Comparison) -> list[str]:
    """How many changes of each verdict there are, and whether what was approved is still what is there."""
    counts = {verdict: sum(one.verdict is verdict for one in comparison.changes) for verdict in Verdict}
    counted = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    lines = [f"{counted or 'no change'}, from {comparison.old} to {comparison.new}"]
    if comparison.is_of_approved:
        lines.append("What was locked is not what is offered now. Read the changes, and lock the server anew.")
    return lines


def as_json(comparison: Comparison) -> str:
    """Everything, for programs."""
    document = {
        "old": comparison.old,
        "new": comparison.new,
        "breaks": comparison.breaks,
        "approvedChanged": comparison.is_of_approved,
        "changes": [_entry(comparison, change) for change in comparison.changes],
    }
    return json.dumps(document, indent=2)


def markdown(comparison: Comparison) -> str:
    """A comment for a pull request."""
    lines = ["### MCP server", "", *(f"{hidden.visible(line)}\n" for line in summary(comparison))]
    if comparison.changes:
        lines += ["| verdict | change | place | fingerprint |", "|---|---|---|---|"]
        lines += [_row(comparison, change) for change in _shown(comparison)]
        lines += [f"\n{line}" for line in _left_out(comparison)]
    for change in _shown(comparison):
        lines += witness.details(change.witness, change.fingerprint) if change.witness else []
    return hidden.visible("\n".join(lines))


def sarif(comparison: Comparison) -> str:
    """A SARIF 2.1.0 log."""
    names = dict.fromkeys(change.rule for change in comparison.changes)
    rules = {name: RULES[name].sentence if name in RULES else name for name in names}
    results = [
        log.result(change.rule, _LEVELS[change.verdict], change.message, comparison.place(change), change.fingerprint)
        for change in comparison.changes
    ]
    return hidden.visible(log.log("gemini-mcp-host", rules, results))


def _lines(comparison: Comparison, change: Change) -> Iterator[str]:
    yield changes.headline(change, str(change.verdict), comparison.place(change))
    yield from map(hidden.visible, changes.proof(change))


def _row(comparison: Comparison, change: Change) -> str:
    verdict = f"**{change.verdict}**" if change.breaks else str(change.verdict)
    return changes.row(change, verdict, comparison.place(change))


def _entry(comparison: Comparison, change: Change) -> Json:
    return {
        "fingerprint": change.fingerprint,
        "verdict": change.verdict.value,
        "rule": change.rule,
        **changes.described(change, comparison.place(change)),
        "approved": change.is_of_approved,
        "proven": change.is_proven,
        "witness": change.witness.to_json() if change.witness else None,
    }


FORMATS: Mapping[str, Callable[[Comparison], str]] = {
    "text": text,
    "json": as_json,
    "markdown": markdown,
    "sarif": sarif,
}
