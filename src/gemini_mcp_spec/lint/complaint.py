"""Complaints: what a rule has to say about one place of the specification. Pure.

A rule is a function from the files to complaints; its docstring is the sentence that says what it demands.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from gemini_mcp_spec.files.positions import Path
from gemini_mcp_spec.files.spec_files import SpecFiles


@dataclass(frozen=True)
class Complaint:
    """One mistake: where it is, what is wrong, and what to do. The linter adds the name of the rule."""

    file: str
    path: Path
    message: str
    fix: str
    rule: str = ""


Rule: TypeAlias = Callable[[SpecFiles], Iterable[Complaint]]


@dataclass(frozen=True)
class Located:
    """A complaint with the place that a reader opens."""

    complaint: Complaint
    file: str
    line: int
    column: int

    @property
    def sentence(self) -> str:
        return f"{self.complaint.message} {self.complaint.fix}"


def located(spec: SpecFiles, complaints: Iterable[Complaint]) -> Iterator[Located]:
    """Every complaint with its file, line and column."""
    for complaint in complaints:
        position = spec.position(complaint.file, complaint.path)
        yield Located(complaint, spec.shown(complaint.file), position.line, position.column)
