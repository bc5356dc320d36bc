"""GitHub-flavoured Markdown that reads as plain text too: what to mend, cause by cause, then the counts. Pure."""

import re
from collections.abc import Iterator, Sequence

from gemini_mcp_conformance.judge.judgement import LEVELS, VERDICTS, Judgement
from gemini_mcp_conformance.tell import causes
from gemini_mcp_conformance.tell.causes import Group
from gemini_mcp_conformance.tell.report import Report
from gemini_mcp_conformance.tell.reports.context import Context, conclusion, counted, run_facts, scores, title
from gemini_mcp_conformance.tell.reports.printable import one_line

WIDTH = 400
"""Characters of a text at most, because summaries in CI have a limit."""
NAMED = 12
"""Requirements that are named where nothing but their number matters."""
PADDED = 60
"""Columns are padded to that width at most."""


def render(report: Report, context: Context) -> str:
    facts = [f"- {name}: {code(value)}" for name, value in run_facts(report).items()]
    return "\n\n".join(filter(None, (
        f"## {plain(title(report))}",
        f"**{plain(conclusion(report, context))}** {scores(report)}.",
        "\n".join(f"> {code(note)}" for note in report.notes),
        *(_cause(number, group) for number, group in enumerate(causes.groups(report), 1)),
        "\n".join(_listed("Known failures", causes.known(report))),
        "\n".join(_listed("Decided by no check", report.with_verdict("undecided"))),
        "### The run",
        _counts(report),
        "\n".join(facts),
    ))) + "\n"  # fmt: skip


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are Markdown already; its columns are aligned, unless they are wide."""
    widths = [min(PADDED, max(3, *(len(cells[n]) for cells in (head, *rows)))) for n in range(len(head))]
    lines = (head, ["-" * width for width in widths], *rows)
    return "\n".join(
        f"| {' | '.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))} |" for cells in lines
    )


def code(text: str) -> str:
    """`text` as code that neither ends its cell nor mentions anybody."""
    line = one_line(text, WIDTH)
    # `|` ends the cell of a table even within backticks.
    if re.search(r"\A\Z|[<@|]|``|\A[` ]|[` ]\Z", line):
        return tagged(line)
    fence = "``" if "`" in line else "`"
    return f"{fence}{line}{fence}"


def tagged(text: str) -> str:
    """`text` as code that is HTML, for places in which backticks mean nothing."""
    return f"<code>{''.join(map(_reference, one_line(text, WIDTH)))}</code>"


def plain(text: str) -> str:
    """`text` on one line without any meaning to Markdown or HTML."""
    line = re.sub(r"[\\`*_\[\]<>|#~!]", r"\\\g<0>", one_line(text, WIDTH))
    # GitHub makes links of addresses and mentions of names that stand in plain text.
    return re.sub(r"[&@]|:(?=//)|(?<=www)\.", lambda found: f"&#{ord(found[0])};", line)


def _reference(character: str) -> str:
    return character if character.isalnum() or character in " .,;:()/'\"-={}" else f"&#{ord(character)};"


def _counts(report: Report) -> str:
    counts = report.counts()
    return table(("", *VERDICTS), [(level, *(str(counts[level][verdict]) for verdict in VERDICTS)) for level in LEVELS])


def _cause(number: int, group: Group) -> str:
    lines = [f"### {number}. {prose(group.advice)}", *map(_failure, group.broken)]
    if group.unjudged:
        ids = ", ".join(code(judgement.id) for judgement in group.unjudged[:NAMED])
        others = f", and {len(group.unjudged) - NAMED} more" if group.unjudged[NAMED:] else ""
        lines.append(f"- {counted(group.unjudged)} could not be judged: {ids}{others}")
    return "\n\n".join((lines[0], "\n".join(lines[1:])))


def _failure(judgement: Judgement) -> str:
    lines = [f"- {code(judgement.id)} ({judgement.level}): {prose(judgement.sentence)}"]
    told = {"seen": judgement.message, "replay": judgement.replay}
    lines += [f"  - {name}: {code(text)}" for name, text in told.items() if text]
    return "\n".join(lines)


def prose(text: str) -> str:
    """Sentences in which backticks mark code."""
    parts = re.split(r"`([^`]+)`", text)
    return "".join(code(part) if number % 2 else plain(part) for number, part in enumerate(parts))


def _listed(heading: str, judgements: Sequence[Judgement]) -> Iterator[str]:
    if judgements:
        yield f"### {heading}\n"
    for judgement in judgements:
        yield f"- {code(judgement.id)} ({judgement.level}): {plain(judgement.known or judgement.message or '')}"
