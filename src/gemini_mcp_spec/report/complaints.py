"""Complaints for their readers: text, JSON, Markdown, GitHub annotations and SARIF. Pure."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from gemini_mcp.report import sarif as log
from gemini_mcp.report.annotation import annotation, cell
from gemini_mcp_spec.lint.complaint import Located
from gemini_mcp_spec.lint.linter import RULES

_MOST = 20
"""How many complaints of one rule people are shown; programs get all."""


def text(complaints: Sequence[Located]) -> str:
    """One line for each complaint, and how many there are."""
    lines = [f"{one.file}:{one.line}:{one.column}: {one.complaint.rule}: {one.sentence}" for one in _shown(complaints)]
    return "\n".join([*lines, *_left_out(complaints), _counted(complaints)])


def _shown(complaints: Sequence[Located]) -> Iterator[Located]:
    seen: Counter[str] = Counter()
    for found in complaints:
        seen[found.complaint.rule] += 1
        if seen[found.complaint.rule] <= _MOST:
            yield found


def _left_out(complaints: Sequence[Located]) -> list[str]:
    counts = Counter(found.complaint.rule for found in complaints)
    return [
        f"… and {count - _MOST} more of {rule}; --format json shows all"
        for rule, count in counts.items()
        if count > _MOST
    ]


def _counted(complaints: Sequence[Located]) -> str:
    count = len(complaints)
    return f"{count or 'no'} mistake{'' if count == 1 else 's'}"


def as_json(complaints: Sequence[Located]) -> str:
    """Every complaint as an object."""
    entries = [
        {
            "rule": found.complaint.rule,
            "file": found.file,
            "line": found.line,
            "column": found.column,
            "message": found.complaint.message,
            "fix": found.complaint.fix,
        }
        for found in complaints
    ]
    return json.dumps({"findings": entries}, indent=2, ensure_ascii=False)


def markdown(complaints: Sequence[Located]) -> str:
    """A part of a job's summary or of a comment."""
    lines = ["### Mistakes of the specification", "", f"{_counted(complaints)}.", ""]
    if complaints:
        lines += ["| rule | mistake | place |", "|---|---|---|"]
    lines += [
        f"| {one.complaint.rule} | {cell(one.sentence)} | `{one.file}:{one.line}` |" for one in _shown(complaints)
    ]
    return "\n".join([*lines, *(f"\n{line}" for line in _left_out(complaints))])


def github(complaints: Sequence[Located]) -> str:
    """Workflow commands that GitHub shows beside the lines."""
    return "\n".join(
        annotation("error", found.file, found.line, found.column, found.complaint.rule, found.sentence)
        for found in complaints
    )


def sarif(complaints: Sequence[Located]) -> str:
    """A SARIF 2.1.0 log."""
    rules = {name: rule.demand for name, rule in RULES.items()}
    places = [(one, (one.file, one.line, one.column)) for one in complaints]
    return log.log(
        "gemini-mcp-spec",
        rules,
        [log.result(one.complaint.rule, "error", one.sentence, place) for one, place in places],
    )


FORMATS: Mapping[str, Callable[[Sequence[Located]], str]] = {
    "text": text,
    "json": as_json,
    "markdown": markdown,
    "github": github,
    "sarif": sarif,
}
