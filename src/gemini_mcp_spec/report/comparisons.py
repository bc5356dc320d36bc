"""Comparisons for their readers: text, JSON, Markdown and GitHub annotations. Pure."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from gemini_mcp.spec.values import Json, is_array, is_object
from gemini_mcp_spec.diff.change import Change
from gemini_mcp_spec.diff.comparison import Comparison
from gemini_mcp_spec.diff.impact import Flip
from gemini_mcp_spec.diff.rules import Severity
from gemini_mcp_spec.report.annotation import annotation

_LONGEST_TEXT = 120
_LEVELS = {Severity.CALLERS: "error", Severity.PORTS: "error", Severity.NOTICE: "notice", Severity.COMPATIBLE: "notice"}


def text(comparison: Comparison, flips: Sequence[Flip]) -> str:
    """Every change with its place, fingerprint and witness, and what the version has to be."""
    lines = [line for change in comparison.changes for line in _change_lines(comparison, change)]
    lines += [f"impact: {flip.port}: {flip.requirement}: {flip.old} -> {flip.new}" for flip in flips]
    return "\n".join([*lines, *summary(comparison)])


def summary(comparison: Comparison) -> list[str]:
    """What was compared, what the version is and should be, and what to do."""
    old, new = comparison.old, comparison.new
    count = len(comparison.changes)
    counted = f"{count or 'no'} change{'' if count == 1 else 's'}"
    lines = [f"{counted} from {old.version} ({old.name}) to {new.version} ({new.name})"]
    if comparison.is_refused:
        advice = "Or approve the breaks in approved-breaks.json."
        lines.append(f"The version {new.version} is too low: {_demand(comparison)} {advice}")
    elif not comparison.is_reached:
        lines.append(f"The version {new.version} is low: {_demand(comparison)}")
    lines += [f"The approval {name} fits no change. Remove it." for name in comparison.stale]
    return lines


def _demand(comparison: Comparison) -> str:
    if comparison.needed <= type(comparison.needed).parse(comparison.new.version):
        return f"it was {comparison.old.version} before. Raise it."
    return f"these changes need {comparison.needed}. Raise `version` in manifest.json."


def as_json(comparison: Comparison, flips: Sequence[Flip]) -> str:
    """Everything, for programs."""
    document = {
        "old": {"name": comparison.old.name, "version": comparison.old.version},
        "new": {"name": comparison.new.name, "version": comparison.new.version},
        "needed": str(comparison.needed),
        "reached": comparison.is_reached,
        "refused": comparison.is_refused,
        "changes": [_entry(comparison, change) for change in comparison.changes],
        "stale": list(comparison.stale),
        "impact": [vars(flip) for flip in flips],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def markdown(comparison: Comparison, flips: Sequence[Flip]) -> str:
    """A comment for a pull request."""
    lines = ["### Specification", "", *summary(comparison), ""]
    if comparison.changes:
        lines += ["| verdict | change | place | fingerprint |", "|---|---|---|---|"]
        lines += [_row(comparison, change) for change in comparison.changes]
    shown = [change for change in comparison.changes if change.witness]
    for change in shown:
        lines += ["", f"<details><summary>Witness of <code>{change.fingerprint}</code></summary>", "", "```json"]
        lines += [
            json.dumps(_witness(change), indent=2, ensure_ascii=False).replace("```", "` ` `"),
            "```",
            "",
            "</details>",
        ]
    if flips:
        lines += ["", "| port | requirement | was | becomes |", "|---|---|---|---|"]
        lines += [f"| {_cell(flip.port)} | `{flip.requirement}` | {flip.old} | {flip.new} |" for flip in flips]
    return "\n".join(lines)


def github(comparison: Comparison, flips: Sequence[Flip]) -> str:
    """Workflow commands that GitHub shows beside the lines."""
    return "\n".join(
        [*_annotations(comparison), *(f"::notice title=impact::{flip.port}: {flip.requirement}" for flip in flips)]
    )


def _annotations(comparison: Comparison) -> Iterator[str]:
    for change in comparison.changes:
        place = _place(comparison, change)
        approved = change.fingerprint in comparison.approved
        is_let_pass = approved or (change.severity.breaks and not comparison.is_refused)
        level = "warning" if is_let_pass else _LEVELS[change.severity]
        title = f"{change.severity} ({change.rule}, {change.fingerprint})"
        yield annotation(level, *place, title, change.message)
    if not comparison.is_reached:
        level = "error" if comparison.is_refused else "warning"
        position = comparison.new.position("manifest.json", ("version",))
        place = comparison.new.shown("manifest.json"), position.line, position.column
        yield annotation(level, *place, "version", " ".join(summary(comparison)[1:]))


def _change_lines(comparison: Comparison, change: Change) -> Iterator[str]:
    file, line, column = _place(comparison, change)
    yield f"{file}:{line}:{column}: {change.severity}: {change.message} [{change.rule} {change.fingerprint}]"
    if change.witness:
        witness = _witness(change)
        yield f"    witness: {json.dumps(witness['value'], ensure_ascii=False)}"
        yield f"    old: {_said(witness['old'])}; new: {_said(witness['new'])}"
    if reason := comparison.approved.get(change.fingerprint):
        yield f"    approved: {reason}"


def _said(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _entry(comparison: Comparison, change: Change) -> Json:
    file, line, column = _place(comparison, change)
    return {
        "fingerprint": change.fingerprint,
        "verdict": change.severity.value,
        "rule": change.rule,
        "bump": change.bump.name.lower(),
        "file": file,
        "line": line,
        "column": column,
        "path": list(change.path),
        "message": change.message,
        "approved": comparison.approved.get(change.fingerprint),
        "witness": _witness(change) if change.witness else None,
        "requirements": list(change.requirements),
    }


def _place(comparison: Comparison, change: Change) -> tuple[str, int, int]:
    """Where the change is in the new specification, or, for a file that has gone, was in the old one."""
    spec = comparison.new if change.file in comparison.new.files else comparison.old
    position = spec.position(change.file, change.path)
    return spec.shown(change.file), position.line, position.column


def _row(comparison: Comparison, change: Change) -> str:
    file, line, _ = _place(comparison, change)
    verdict = f"**{change.severity}**" if change.severity.breaks else str(change.severity)
    if reason := comparison.approved.get(change.fingerprint):
        verdict += f" (approved: {_cell(reason)})"
    return f"| {verdict} | {_cell(change.message)} | `{file}:{line}` | `{change.fingerprint}` |"


def _cell(value: str) -> str:
    return value.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def _witness(change: Change) -> Json:
    witness = change.witness
    return {"value": _short(witness.value), "old": _short(witness.old), "new": _short(witness.new)} if witness else None


def _short(value: Json) -> Json:
    """`value` with long repetitive texts written as the specification writes them."""
    if isinstance(value, str) and len(value) > _LONGEST_TEXT and len(set(value)) == 1:
        return {"repeat": value[0], "times": len(value)}
    if is_object(value):
        return {key: _short(inner) for key, inner in value.items()}
    return [_short(inner) for inner in value] if is_array(value) else value


FORMATS: Mapping[str, Callable[[Comparison, Sequence[Flip]], str]] = {
    "text": text,
    "json": as_json,
    "markdown": markdown,
    "github": github,
}
