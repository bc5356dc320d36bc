"""Findings: what a rule has to say about one place of the specification. Pure.

A rule is a function from the files to findings, with a name and one sentence that says what it demands.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from gemini_mcp_conformance.gate.positions import Path
from gemini_mcp_conformance.gate.spec_files import SpecFiles


@dataclass(frozen=True)
class Finding:
    """One mistake: where it is, what is wrong, and what to do."""

    rule: str
    file: str
    path: Path
    message: str
    fix: str


Rule: TypeAlias = Callable[[SpecFiles], Iterable[Finding]]


@dataclass(frozen=True)
class Located:
    """A finding with the place that a reader opens."""

    finding: Finding
    file: str
    line: int
    column: int

    @property
    def sentence(self) -> str:
        return f"{self.finding.message} {self.finding.fix}"


def located(spec: SpecFiles, findings: Iterable[Finding]) -> Iterator[Located]:
    """Every finding with its file, line and column."""
    for finding in findings:
        position = spec.position(finding.file, finding.path)
        yield Located(finding, spec.shown(finding.file), position.line, position.column)
