"""Ending: makes the report of a run from how it ended and its judgements, in both directions. Reads files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from gemini_mcp.spec import Requirement, load_manifest
from gemini_mcp_conformance.judge.finding import Finding
from gemini_mcp_conformance.judge.judgement import Judgement, must_hold
from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.tell import mutants
from gemini_mcp_conformance.tell.report import (
    INCOMPLETE,
    NO_ANSWER,
    OUR_FAULT,
    Command,
    Identity,
    Report,
    Url,
    exit_code,
    first_of,
)
from gemini_mcp_conformance.version import suite_version

FIRST_FAILURE = "The run ended at the first failure."
INTERRUPTED = "The run was interrupted before it."
SPENT = (
    "Its budget of {budget:g} seconds was spent. Pass a larger --budget, ask for less with --only or --examples 0, "
    "or play more at a time with --jobs."
)


class Interrupted(KeyboardInterrupt):
    """The operator has ended the run; `report` holds what was found until then."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report


@dataclass(frozen=True)
class Ending:
    """Why a run is incomplete: the port never answered, it was cut short, or the suite failed.

    `cut` is said of each requirement that was not judged, `advice` once of the run.
    """

    silence: str | None = None
    cut: str | None = None
    faults: Sequence[str] = ()
    advice: str | None = None

    @property
    def codes(self) -> tuple[int, ...]:
        """The exit codes that apply in addition to that of the verdicts."""
        applies = {OUR_FAULT: self.faults, NO_ANSWER: self.silence, INCOMPLETE: self.cut}
        return tuple(code for code, why in applies.items() if why)

    @property
    def reason(self) -> str | None:
        """Why nothing was found about a requirement."""
        return self.silence or self.cut


def fatal(options: Options, selected: Sequence[Requirement]) -> Callable[[Finding], bool]:
    """Which findings fail the run."""
    must = {each.id for each in selected if must_hold(each.level, options.strict)} - options.known
    return lambda finding: finding.outcome == "fail" and finding.requirement in must


def to_report(
    options: Options,
    profile: Literal["server", "host"],
    judgements: tuple[Judgement, ...],
    ending: Ending,
    port: Identity | None = None,
    protocol: str | None = None,
) -> Report:
    """The report of a run."""
    return Report(
        spec_version=options.selection.spec_version or load_manifest(options.selection.spec).version,
        suite_version=suite_version(),
        target=Url(options.target.url) if options.target.url else Command(options.target.command),
        port=port,
        profile=profile,
        protocol=protocol,
        seed=options.seed,
        strict=options.strict,
        exit=first_of((exit_code(judgements, options.strict), *ending.codes)),
        judgements=judgements,
        mutants=mutants.score() if profile == "server" else None,
        notes=tuple(_notes(ending)),
    )


def _notes(ending: Ending) -> Iterator[str]:
    if ending.silence is not None:
        yield ending.silence
    elif ending.advice is not None:
        yield f"This report is incomplete. {ending.advice}"
    yield from (f"The suite failed in {fault}" for fault in ending.faults)
