"""The text for the terminal, plain or coloured: a summary of what to mend, and details if they are asked for. Pure.

Text of a port never begins a line, because logs of CI obey some lines as commands. Only commands are wider than WIDTH.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from textwrap import wrap

from gemini_mcp_conformance.judge.judgement import Judgement, Verdict
from gemini_mcp_conformance.tell import causes
from gemini_mcp_conformance.tell.causes import Group
from gemini_mcp_conformance.tell.report import Report, Severity
from gemini_mcp_conformance.tell.reports.context import Context, conclusion, inapplicable, scores
from gemini_mcp_conformance.tell.reports.printable import one_line, printable

WIDTH = 80
SUMMARY = 20
"""Lines of the summary at most."""
NOTES = 3
"""How many notes, and how many known failures with their reasons, are shown."""
LINES = 3
"""How many requests and runs of gemini are shown of a failure; the HTML page shows all."""

LONG = re.compile(r'"((?:[^"\\]|\\.){40})(?:[^"\\]|\\.)+?((?:[^"\\]|\\.){20})"')
"""A long text in JSON, with its beginning and its end."""

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
    groups = causes.groups(report)
    blocks = ["\n".join(_summary(report, groups, context))]
    if context.details or context.verbose:
        blocks += [_group(report, number, group, context) for number, group in enumerate(groups, 1)]
    if context.verbose:
        blocks.append("\n".join(_rest(report)))
    return "\n\n".join(filter(None, blocks)) + "\n"


def _summary(report: Report, groups: Sequence[Group], context: Context) -> Iterator[str]:
    """The conclusion, the causes as far as there is room, and what else there is to know."""
    said = conclusion(report, context)
    first, *more = wrap(f"{said} {_counts(report, context)}", WIDTH)
    yield first.replace(said, _painted(said, "1;32" if report.exit == 0 else "1;31", context), 1)
    yield from more
    if context.details or context.verbose:
        yield from _notes(report, len(report.judgements))
        return
    ends = [*([""] if groups else []), *_notes(report, NOTES), *_next(groups)]
    yield from _causes(report, groups, SUMMARY - 1 - len(more) - len(ends), context)
    yield from ends


def _causes(report: Report, groups: Sequence[Group], room: int, context: Context) -> Iterator[str]:
    """The first groups, in so many lines; the first one is always shown."""
    blocks = [list(_brief(report, number, group, context)) for number, group in enumerate(groups, 1)]
    sizes = list(accumulate(map(len, blocks)))
    # One line is blank, and one names the causes for which there is no room.
    count = max(1, sum(size <= room - 1 - (number < len(blocks)) for number, size in enumerate(sizes, 1)))
    if blocks:
        yield ""
        yield from chain.from_iterable(blocks[:count])
    if blocks[count:]:
        left = ", ".join(group.head.id for group in groups[count:])
        yield _cut(f"and {len(blocks) - count} more: {left}")


def _counts(report: Report, context: Context) -> str:
    failed = len([each for each in report.with_verdict("fail") if each.known is None])
    unjudged = [each for each in report.with_verdict("could-not-run", "harness-error") if each.known is None]
    counts = {"failed": failed, "could not be judged": len(unjudged), "known": len(causes.known(report))}
    told = scores(report) + "".join(f", {count} {name}" for name, count in counts.items() if count) + "."
    absent = inapplicable(report)
    return f"{told} {absent}{'' if context.verbose else '; -v lists them'}." if absent else told


def _brief(report: Report, number: int, group: Group, context: Context) -> Iterator[str]:
    """A cause in a few lines: what to do, what fails, what the port did."""
    color = f"1;{COLORS[report.severity(group.head)]}"
    yield from (_painted(line, color, context) for line in _short(group.advice, f"{number}. "))
    if not group.broken:
        listed = ", ".join(judgement.id for judgement in group.unjudged)
        yield _cut(f"   {WORDS['could-not-run']}  {listed}")
        return
    more = f" and {len(group.broken) - 1} more" if len(group.broken) > 1 else ""
    unjudged = f"; {len(group.unjudged)} {WORDS['could-not-run']} for it" if group.unjudged else ""
    yield _cut(f"   {WORDS[group.head.verdict]}  {group.head.id}  ({group.level}){more}{unjudged}")
    if group.head.message and group.head.message != group.advice:
        name = "port" if group.head.verdict == "fail" else "why "
        yield from _short(group.head.message, f"   {name}  ", 3 if number == 1 else 1)


def _short(text: str, first: str, count: int = 2) -> list[str]:
    """The text in so many lines at most."""
    others = " " * len(first)
    return wrap(one_line(text), WIDTH, initial_indent=first, subsequent_indent=others, max_lines=count, placeholder="…")


def _notes(report: Report, most: int) -> Iterator[str]:
    """The notes, what no check decides, and the known failures, so many of each."""
    for note in report.notes[:most]:
        yield from _wrapped(note, "NOTE  ", "      ")
    if report.notes[most:]:
        yield f"NOTE  There are {len(report.notes) - most} more notes in the reports."
    undecided = [judgement.id for judgement in report.with_verdict("undecided")]
    if undecided:
        yield from _wrapped(f"No check decides {', '.join(undecided)}.", "NOTE  ", "      ")
    known = causes.known(report)
    if len(known) > most:
        yield _cut(f"KNOWN  {', '.join(judgement.id for judgement in known)}")
    else:
        yield from (_cut(f"KNOWN  {each.id}  ({each.level})  {each.known}") for each in known)


def _next(groups: Sequence[Group]) -> Iterator[str]:
    """How to see the first failure again, and where the rest is."""
    replay = next((group.head.replay for group in groups if group.head.replay), None)
    if replay is not None:
        yield f"Again: {printable(replay)}"
    if groups:
        yield "Add -v for every failure, or --report html=FILE for a page with all messages."


def _group(report: Report, number: int, group: Group, context: Context) -> str:
    color = f"1;{COLORS[report.severity(group.head)]}"
    lines = list(_wrapped(f"{number}. {group.advice}", "", "   "))
    blocks = ["\n".join(_painted(line, color, context) for line in lines)]
    blocks += ["\n".join(_block(report, judgement, context)) for judgement in group.broken]
    if group.unjudged:
        blocks.append("\n".join(_unjudged(group)))
    return "\n\n".join(blocks)


def _unjudged(group: Group) -> Iterator[str]:
    ids = [judgement.id for judgement in group.unjudged]
    yield f"{WORDS['could-not-run']}  {len(ids)} requirement{'s' if len(ids) > 1 else ''}"
    yield from _wrapped(", ".join(ids), "  ", "  ")
    for reason in dict.fromkeys(judgement.message or "" for judgement in group.unjudged):
        yield from _detail("why", reason)


def _block(report: Report, judgement: Judgement, context: Context) -> Iterator[str]:
    head = _painted(f"{WORDS[judgement.verdict]}  {judgement.id}", f"1;{COLORS[report.severity(judgement)]}", context)
    yield f"{head}  ({judgement.level})"
    yield from _wrapped(judgement.sentence, "  ", "  ")
    for name, text in _details(judgement):
        yield from _detail(name, text)
    if judgement.replay:
        yield f"  {'replay':<7} {printable(judgement.replay)}"


def _detail(name: str, text: str) -> Iterator[str]:
    for number, line in enumerate(printable(text).split("\n")):
        begin = f"  {name:<7} " if number == 0 else f"  {'':<7} | "
        yield from _wrapped(line, begin, f"  {'':<7} | ") or [begin]


def _details(judgement: Judgement) -> Iterator[tuple[str, str]]:
    evidence = judgement.evidence
    if evidence is not None:
        yield "suite", evidence.did
        asked = [evidence.sent[at] for at in evidence.asked] or evidence.sent
        yield from (("sent", one_line(_brief_values(line), 3 * WIDTH)) for line in asked[-LINES:])
    if judgement.message:
        yield "port" if judgement.verdict == "fail" else "why", judgement.message
    if evidence is not None:
        runs = (json.dumps(run.argv, ensure_ascii=False) for run in evidence.runs[-LINES:])
        yield from (("gemini", one_line(run, WIDTH - 12)) for run in runs)
    if judgement.witness:
        yield "seen", judgement.witness


def _brief_values(line: str) -> str:
    """A line of JSON, its long texts without their middle."""
    return LONG.sub(r'"\1…\2"', line)


def _rest(report: Report) -> Iterator[str]:
    """What needs no attention, a line for each."""
    for judgement in report.with_verdict("pass", "not-applicable", "undecided"):
        why = f"  {judgement.message}" if judgement.message else ""
        yield _cut(f"{WORDS[judgement.verdict]}  {judgement.id}  ({judgement.level}){why}")
    for covered in report.coverage:
        yield from _wrapped(str(covered), "COVERED  ", "         ")


def _wrapped(text: str, first: str, others: str) -> list[str]:
    return wrap(one_line(text), WIDTH, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)


def _cut(text: str) -> str:
    return one_line(text, WIDTH)


def _painted(text: str, code: str, context: Context) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if context.color else text
