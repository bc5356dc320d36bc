"""Baseline: the list of requirements that a port is known not to meet yet, a file in its own repository.

Pure, except `load`, which reads the file. An entry that is no longer true is reported, and fails a strict run.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.judge.judgement import Judgement
from gemini_mcp_conformance.tell.report import CONFORMS, COULD_BE_JUDGED, DOES_NOT, INCOMPLETE, Report, exit_code

NO_REASON = "The baseline gives no reason."


@dataclass(frozen=True)
class Entry:
    """A requirement that is known to fail, or known not to run."""

    id: str
    reason: str | None = None


@dataclass(frozen=True)
class Baseline:
    """The entries of one file; `name` is its name in messages."""

    name: str
    entries: tuple[Entry, ...] = ()


def load(path: Path) -> Baseline:
    """Read a baseline; UsageError names the file and what is wrong with it."""
    try:
        return parse(path.read_bytes(), str(path))
    except OSError as error:
        raise UsageError(f"The baseline {str(path)!r} cannot be read: {error.strerror}.") from None


def parse(text: str | bytes, name: str) -> Baseline:
    """A baseline from its JSON text; `name` is its name in messages."""
    try:
        entries = tuple(_entries(json.loads(text)))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The baseline {name!r} cannot be used: {error}.") from None
    return Baseline(name, entries)


def dump(baseline: Baseline) -> str:
    """The JSON text of a baseline, sorted by id, so that changes give small diffs."""
    entries = sorted(baseline.entries, key=lambda entry: entry.id)
    known = [{"id": entry.id, **({"reason": entry.reason} if entry.reason else {})} for entry in entries]
    return json.dumps({"known": known}, indent=2, ensure_ascii=False) + "\n"


def apply(report: Report, baseline: Baseline, requirements: Collection[str]) -> Report:
    """The report with the known failures marked; `requirements` are all ids of the specification."""
    reasons = {entry.id: entry.reason or NO_REASON for entry in baseline.entries}
    judgements = tuple(
        replace(judgement, known=reasons[judgement.id])
        if judgement.id in reasons and judgement.verdict in ("fail", "could-not-run")
        else judgement
        for judgement in report.judgements
    )
    notes = tuple(_stale(report.judgements, baseline, requirements))
    return replace(
        report, judgements=judgements, notes=(*report.notes, *notes), exit=_exit(report, judgements, bool(notes))
    )


def update(report: Report, baseline: Baseline) -> Baseline:
    """The baseline that fits the report. It keeps reasons, and entries that the report does not judge."""
    if report.exit not in COULD_BE_JUDGED:
        raise UsageError("The report does not judge the port, so no baseline can be made of it. Run the suite again.")
    reasons = {entry.id: entry.reason for entry in baseline.entries}
    judged = {judgement.id for judgement in report.judgements}
    kept = tuple(entry for entry in baseline.entries if entry.id not in judged)
    failing = report.with_verdict("fail", "could-not-run")
    return replace(baseline, entries=(*kept, *(Entry(found.id, reasons.get(found.id)) for found in failing)))


def _stale(judgements: Sequence[Judgement], baseline: Baseline, requirements: Collection[str]) -> Iterator[str]:
    verdicts = {judgement.id: judgement.verdict for judgement in judgements}
    claims = {
        "pass": "passes now",
        "not-applicable": "does not apply to the port",
        "undecided": "is decided by no check",
    }
    for entry in baseline.entries:
        claim = claims.get(verdicts.get(entry.id, "")) if entry.id in requirements else "is no requirement"
        if claim is not None:
            yield f"{entry.id} {claim}; remove it from the baseline {baseline.name!r}."


def _exit(report: Report, judgements: Sequence[Judgement], stale: bool) -> int:
    if report.exit not in COULD_BE_JUDGED:
        return report.exit
    code = exit_code(judgements, report.strict)
    if stale and report.strict and code == CONFORMS:
        return DOES_NOT
    # Verdicts alone would not make this run incomplete, so it was cut short, which no baseline excuses.
    cut_short = report.exit == INCOMPLETE and exit_code(report.judgements, report.strict) != INCOMPLETE
    return INCOMPLETE if code == CONFORMS and cut_short else code


def _entries(document: Json) -> Iterator[Entry]:
    match document:
        case {"known": [*values], **rest} if not rest:
            pass
        case _:
            raise ValueError('it should be {"known": [{"id": …, "reason": …}]}')
    seen: set[str] = set()
    for value in values:
        entry = _entry(value)
        if entry.id in seen:
            raise ValueError(f"it lists {entry.id!r} twice")
        seen.add(entry.id)
        yield entry


def _entry(value: Json) -> Entry:
    match value:
        case {"id": str(requirement), "reason": str(reason), **rest} if not rest:
            return Entry(requirement, reason)
        case {"id": str(requirement), **rest} if not rest:
            return Entry(requirement)
        case _:
            raise ValueError(f"its entry {value!r} should be an object with `id` and, if you like, `reason`")
