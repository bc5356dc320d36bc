"""Turns samples into what is shown: a table for people, medians as JSON for programs. Pure.

A row may have an aim. The table shows whether it is met, and nothing fails for it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from measures import Samples

Medians = Mapping[str, float]


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    title: str
    unit: str
    digits: int = 0
    aim: str = ""
    meets: Callable[[Medians], bool] | None = None


def _below(limit: float) -> Callable[[Medians], bool]:
    return lambda medians: medians["ours"] <= limit


ROWS = (
    Row(
        "start",
        "start to tools/list",
        "ms",
        aim="≤ 0.8 of bare",
        meets=lambda medians: medians["ours"] <= 0.8 * medians["bare"],
    ),
    Row("start-processor", "start, processor time", "ms"),
    Row("memory", "memory after start", "MiB", aim="≤ 65 MiB", meets=_below(65)),
    Row("call", "one call", "ms", 1),
    Row("overhead", "its overhead over plain", "ms", 1, "≤ 3 ms", _below(3)),
    Row("call-processor", "its processor time", "ms", 1),
    Row("together", "16 calls of 1 s at once", "s", 2, "≤ 1.1 s", _below(1.1)),
    Row("long-time-ascii", "10 MB answer", "ms"),
    Row("long-memory-ascii", "  memory above idle", "× it", 1, "≤ 6 × it", _below(6)),
    Row("long-time-emoji", "10 MB answer, one emoji", "ms"),
    Row("long-memory-emoji", "  memory above idle", "× it", 1, "≤ 6 × it", _below(6)),
)


def medians(samples: Samples) -> Mapping[str, Medians]:
    """The median of each row for each subject."""
    return {
        row.name: {name: round(median(values), 3) for name, values in samples.get(row.name, {}).items()} for row in ROWS
    }


def table(samples: Samples, subjects: Sequence[str]) -> str:
    """The table, a line per row."""
    by_row = medians(samples)
    lines = [_line("", "", subjects, "aim for ours")]
    for row in ROWS:
        cells = [_cell(by_row[row.name].get(name), row.digits) for name in subjects]
        lines.append(_line(row.title, row.unit, cells, _verdict(row, by_row[row.name])))
    return "\n".join(line.rstrip() for line in lines)


def _line(title: str, unit: str, cells: Sequence[str], aim: str) -> str:
    return f"{title:<24} {unit:<5}" + "".join(f"{cell:>10}" for cell in cells) + f"   {aim}"


def _cell(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _verdict(row: Row, values: Medians) -> str:
    if row.meets is None or "ours" not in values:
        return row.aim
    return f"{row.aim} {'✓' if row.meets(values) else '✗'}"
