"""Complaints: what a rule has to say about one place of the specification. Pure.

A rule is a function from the files to complaints; its docstring is the sentence that says what it demands.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from gemini_mcp.report.positions import Path, Position
from gemini_mcp.spec.values import Json
from gemini_mcp_spec.files.spec_files import SpecFiles


@dataclass(frozen=True)
class Complaint:
    """One mistake: where it is, what is wrong, and what to do. The linter adds the rule, and its fix where none is."""

    file: str
    path: Path
    message: str
    fix: str = ""
    rule: str = ""
    position: Position | None = None
    """Where the file cannot be read so far that a path would mean something."""


Check: TypeAlias = Callable[[SpecFiles], Iterable[Complaint]]

Named: TypeAlias = tuple[str, Path, Json]
"""A name behind the file and the path where it is said."""


@dataclass(frozen=True)
class Rule:
    """What every specification has to obey: the name, the check, and what to do about a complaint."""

    name: str
    check: Check
    fix: str

    @property
    def demand(self) -> str:
        """What the rule demands, in a sentence."""
        return (self.check.__doc__ or "").strip()


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
        position = complaint.position or spec.position(complaint.file, complaint.path)
        yield Located(complaint, spec.shown(complaint.file), position.line, position.column)


def unknown(named: Iterable[Named], known: Container[str], message: str, fix: str = "") -> Iterator[Complaint]:
    """A complaint about every name that is not known; `{}` in the message is the name."""
    return (Complaint(file, path, message.format(name), fix) for file, path, name in named if name not in known)
