"""The text for the terminal, plain or coloured: each requirement that needs attention, then one closing line. Pure.

Text of a port never begins a line, because logs of CI obey some lines as commands.
"""

import json
from collections.abc import Iterable, Iterator
from textwrap import wrap

from gemini_mcp_conformance.tell.report import Judgement, Report, Severity, Verdict
from gemini_mcp_conformance.tell.reports.context import Context, conclusion, scores
from gemini_mcp_conformance.tell.reports.printable import one_line, printable

WIDTH = 100
LINES = 3
"""How many requests and runs of gemini are shown of a failure; the HTML page shows all."""

WORDS: dict[Verdict, str] = {
    "fail": "FAIL",
    "could-not-run": "NOT RUN",
    "harness-error": "OUR FAULT",
    "pass": "PASS",
    "not-applicable": "N/A",
    "undecided": "NO CHECK",
}
COLORS: dict[Severity, str] = {"error": "31", "warning": "33", "note": "36"}


def render(report: Report, context: Context) -> str:
    shown = report.judgements if context.verbose else report.with_verdict("fail", "could-not-run", "harness-error")
    blocks = ["\n".join(_blocks(report, group, context)) for group in _groups(report, shown, context)]
    blocks += [_painted(f"NOTE  {note}", "36", context) for note in map(one_line, _notes(report))]
    return "\n\n".join((*blocks, _closing(report, context))) + "\n"


def _notes(report: Report) -> Iterator[str]:
    yield from report.notes
    undecided = [judgement.id for judgement in report.with_verdict("undecided")]
    if undecided:
        yield f"No check decides {', '.join(undecided)}."


def _groups(report: Report, shown: Iterable[Judgement], context: Context) -> list[list[Judgement]]:
    """Requirements that could not be judged for the same reason are one group; none if a note gives the reason."""
    groups: dict[str, list[Judgement]] = {}
    for judgement in shown:
        alike = judgement.verdict == "could-not-run" and judgement.known is None and not context.verbose
        if not alike or judgement.message not in report.notes:
            groups.setdefault(f"why {judgement.message}" if alike else judgement.id, []).append(judgement)
    return list(groups.values())


def _blocks(report: Report, group: list[Judgement], context: Context) -> Iterator[str]:
    if len(group) == 1:
        yield from _block(report, group[0], context)
        return
    yield _painted(f"{WORDS['could-not-run']}  {len(group)} requirements", f"1;{COLORS['warning']}", context)
    ids = ", ".join(judgement.id for judgement in group)
    yield from wrap(ids, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    yield f"  {'why':<7} {printable(group[0].message or '')}"


def _block(report: Report, judgement: Judgement, context: Context) -> Iterator[str]:
    color = "32" if judgement.verdict == "pass" else COLORS[report.severity(judgement)]
    head = _painted(f"{WORDS[judgement.verdict]}  {judgement.id}", f"1;{color}", context)
    yield f"{head}  ({judgement.level}{', known' if judgement.known is not None else ''})"
    yield from wrap(judgement.sentence, WIDTH, initial_indent="  ", subsequent_indent="  ")
    for name, text in _details(judgement):
        first, *rest = printable(text).split("\n")
        yield f"  {name:<7} {first}"
        yield from (f"  {'':<7} | {line}" for line in rest)


def _details(judgement: Judgement) -> Iterator[tuple[str, str]]:
    evidence = judgement.evidence
    if evidence is not None:
        yield "suite", evidence.did
        yield from (("sent", one_line(line, WIDTH)) for line in evidence.sent[-LINES:])
    if judgement.message:
        yield "port" if judgement.verdict == "fail" else "why", judgement.message
    if evidence is not None:
        yield from (
            ("gemini", one_line(json.dumps(run.argv, ensure_ascii=False), WIDTH)) for run in evidence.runs[-LINES:]
        )
    if judgement.witness:
        yield "seen", judgement.witness
    if judgement.known:
        yield "known", judgement.known
    if judgement.replay:
        yield "replay", judgement.replay


def _closing(report: Report, context: Context) -> str:
    failed, unjudged = len(report.with_verdict("fail")), len(report.with_verdict("could-not-run", "harness-error"))
    known = sum(judgement.known is not None for judgement in report.judgements)
    counts = {"failed": failed, "could not be judged": unjudged, "known": known}
    told = "".join(f", {count} {name}" for name, count in counts.items() if count)
    end = _painted(conclusion(report, context), "1;32" if report.exit == 0 else "1;31", context)
    return f"{end} {scores(report)}{told}."


def _painted(text: str, code: str, context: Context) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if context.color else text
