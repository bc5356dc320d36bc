"""Report: the findings of a run as frozen records; counts, scores and the exit code follow from the verdicts. Pure.

A field is added here and in `spec/meta/report.schema.json`. The formats are in `reports/`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from gemini_mcp_conformance.judge.judgement import LEVELS, VERDICTS, Judgement, Level, Verdict, must_hold
from gemini_mcp_conformance.talk.covering import Coverage

Severity: TypeAlias = Literal["error", "warning", "note"]
CONFORMS, DOES_NOT, USAGE, INCOMPLETE, NO_ANSWER, OUR_FAULT = range(6)
"""Exit codes."""

WORST_FIRST = (OUR_FAULT, USAGE, NO_ANSWER, DOES_NOT, INCOMPLETE, CONFORMS)
"""Each exit code outweighs those after it."""

COULD_BE_JUDGED = (CONFORMS, DOES_NOT, INCOMPLETE)
"""Exit codes that speak of the port, so that a baseline can change them."""


@dataclass(frozen=True)
class Command:
    """A port that the suite started."""

    argv: tuple[str, ...]


@dataclass(frozen=True)
class Url:
    """A port that was running."""

    url: str


@dataclass(frozen=True)
class Identity:
    """The name and version that a port reports."""

    name: str
    version: str


@dataclass(frozen=True)
class Mutants:
    """How many defective ports the suite has been proven to find."""

    killed: int
    total: int


@dataclass(frozen=True)
class Score:
    """How many requirements pass, of those that apply; could-not-run counts as applicable, undecided does not."""

    passed: int
    applicable: int


@dataclass(frozen=True)
class Report:
    """A whole run. `notes` are further messages for the operator."""

    spec_version: str
    suite_version: str
    target: Command | Url
    port: Identity | None
    profile: Literal["server", "host"]
    protocol: str | None
    seed: int | None
    strict: bool
    exit: int
    judgements: tuple[Judgement, ...]
    mutants: Mutants | None = None
    notes: tuple[str, ...] = ()
    coverage: tuple[Coverage, ...] = ()

    def counts(self) -> Mapping[Level, Mapping[Verdict, int]]:
        """Verdicts by level."""
        found = [(judgement.level, judgement.verdict) for judgement in self.judgements]
        return {level: {verdict: found.count((level, verdict)) for verdict in VERDICTS} for level in LEVELS}

    def score(self, level: Level) -> Score:
        """How many requirements of the level the port meets, of those that apply to it."""
        counts = self.counts()[level]
        return Score(counts["pass"], sum(counts.values()) - counts["not-applicable"] - counts["undecided"])

    def with_verdict(self, *verdicts: Verdict) -> tuple[Judgement, ...]:
        return tuple(judgement for judgement in self.judgements if judgement.verdict in verdicts)

    def severity(self, judgement: Judgement) -> Severity:
        """How bad a verdict other than a pass is for this run."""
        if judgement.known is not None or judgement.verdict in ("not-applicable", "undecided"):
            return "note"
        if judgement.verdict == "could-not-run":
            return "warning"
        if judgement.verdict == "fail" and not must_hold(judgement.level, self.strict):
            return "warning" if judgement.level == "SHOULD" else "note"
        return "error"


def first_of(codes: Iterable[int]) -> int:
    """The exit code that outweighs the others."""
    return min(codes, key=WORST_FIRST.index, default=CONFORMS)


def exit_code(judgements: Iterable[Judgement], strict: bool) -> int:
    """The exit code of the verdicts alone, without known failures."""
    unknown = [judgement for judgement in judgements if judgement.known is None]
    verdicts = {judgement.verdict for judgement in unknown}
    if "harness-error" in verdicts:
        return OUR_FAULT
    if any(judgement.verdict == "fail" and must_hold(judgement.level, strict) for judgement in unknown):
        return DOES_NOT
    return INCOMPLETE if "could-not-run" in verdicts else CONFORMS
