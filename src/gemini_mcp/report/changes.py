"""Changes in reports: what the gate and the host both say of a change, as a line, a row or an entry. Pure."""

from collections.abc import Iterator
from typing import Protocol

from gemini_mcp.report import witness
from gemini_mcp.report.annotation import cell
from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import abbreviated
from gemini_mcp.report.witness import Witness
from gemini_mcp.spec.values import ABSENT, Json

Place = tuple[str, int, int]
"""A file, a line and a column."""

UNPROVEN = "not proven safe: there is no proof, and no value was found that shows a break"


class Change(Protocol):
    """One difference of two files."""

    @property
    def rule(self) -> str: ...
    @property
    def path(self) -> Path: ...
    @property
    def message(self) -> str: ...
    @property
    def old(self) -> Json: ...
    @property
    def new(self) -> Json: ...
    @property
    def witness(self) -> Witness | None: ...
    @property
    def is_proven(self) -> bool: ...
    @property
    def fingerprint(self) -> str: ...


def headline(change: Change, verdict: str, place: Place) -> str:
    """The line of a text that names it."""
    file, line, column = place
    return f"{file}:{line}:{column}: {verdict}: {change.message} [{change.rule} {change.fingerprint}]"


def proof(change: Change) -> Iterator[str]:
    """The lines below: its witness, or that there is none."""
    if change.witness:
        yield from witness.lines(change.witness)
    elif not change.is_proven:
        yield f"    {UNPROVEN}"


def row(change: Change, verdict: str, place: Place) -> str:
    """The row of a table in Markdown."""
    file, line, _ = place
    return f"| {verdict} | {cell(change.message)} | `{file}:{line}` | `{change.fingerprint}` |"


def _written(side: Json) -> Json:
    """A value as it is written, null where there is none."""
    return None if side is ABSENT else abbreviated(side)


def described(change: Change, place: Place) -> dict[str, Json]:
    """The part of its JSON that says where it is and what it changes."""
    file, line, column = place
    return {
        "file": file,
        "line": line,
        "column": column,
        "path": list(change.path),
        "message": change.message,
        "old": _written(change.old),
        "new": _written(change.new),
    }
