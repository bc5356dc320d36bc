"""GitHub-flavoured Markdown: a table of counts, then folded tables of what needs attention. Pure."""

from collections.abc import Iterator, Sequence

from gemini_mcp_conformance.tell.report import LEVELS, VERDICTS, Judgement, Report
from gemini_mcp_conformance.tell.reports.context import Context, conclusion, run_facts, title
from gemini_mcp_conformance.tell.reports.printable import one_line

WIDTH = 400
"""Characters of a cell at most, because summaries in CI have a limit."""

SECTIONS = {
    "fail": ("requirement is broken", "requirements are broken"),
    "could-not-run": ("requirement could not be judged", "requirements could not be judged"),
    "undecided": ("requirement is decided by no check", "requirements are decided by no check"),
    "harness-error": ("fault of the suite", "faults of the suite"),
}


def render(report: Report, context: Context) -> str:
    facts = (f"{name} {code(value)}" for name, value in run_facts(report).items())
    notes = tuple(f"> {code(note)}" for note in report.notes)
    blocks = [
        f"## {plain(title(report))}",
        f"**{conclusion(report, context)}**",
        " · ".join(facts),
        *notes,
        _counts(report),
    ]
    for verdict, (one, many) in SECTIONS.items():
        found = tuple(judgement for judgement in report.judgements if judgement.verdict == verdict)
        if found:
            blocks.append(_folded(f"{len(found)} {one if len(found) == 1 else many}", found))
    return "\n\n".join(blocks) + "\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = (head, ["---"] * len(head), *rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def code(text: str) -> str:
    """`text` as code that neither ends its cell nor mentions anybody."""
    return f"<code>{plain(text)}</code>"


def plain(text: str) -> str:
    """`text` on one line without any meaning to Markdown or HTML: a character reference is never markup."""
    return "".join(_reference(character) for character in one_line(text, WIDTH))


def _reference(character: str) -> str:
    return character if character.isalnum() or character in " ,;()/'-" else f"&#{ord(character)};"


def _counts(report: Report) -> str:
    counts = report.counts()
    return table(("", *VERDICTS), [(level, *(str(counts[level][verdict]) for verdict in VERDICTS)) for level in LEVELS])


def _folded(summary: str, judgements: Sequence[Judgement]) -> str:
    rows = [tuple(_cells(judgement)) for judgement in judgements]
    listed = table(("requirement", "level", "what happened", "replay"), rows)
    return f"<details>\n<summary>{summary}</summary>\n\n{listed}\n\n</details>"


def _cells(judgement: Judgement) -> Iterator[str]:
    yield f"{code(judgement.id)}<br>{plain(judgement.sentence)}"
    yield judgement.level
    known = "" if judgement.known is None else f"<br>known: {plain(judgement.known)}"
    yield f"{code(judgement.message or '')}{known}"
    yield code(judgement.replay) if judgement.replay else ""
