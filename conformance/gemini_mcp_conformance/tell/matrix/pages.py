"""The matrix as one HTML page or as Markdown: requirements are rows, ports are columns. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gemini_mcp_conformance.judge.judgement import Judgement, Verdict
from gemini_mcp_conformance.tell.matrix.ports import Failure, Port
from gemini_mcp_conformance.tell.report import Report
from gemini_mcp_conformance.tell.reports import markdown
from gemini_mcp_conformance.tell.reports.context import CONCLUSIONS, scores
from gemini_mcp_conformance.tell.reports.filters import controls, row_attributes
from gemini_mcp_conformance.tell.reports.markup import Markup, definitions, element, joined, page, prose

SIGNS: Mapping[Verdict, str] = {
    "pass": "✓",
    "fail": "✗",
    "not-applicable": "–",
    "could-not-run": "?",
    "undecided": "·",
    "harness-error": "!",
}
LEGEND: Mapping[str, str] = {
    "✓": "the port meets the requirement",
    "✗": "it breaks the requirement",
    "–": "the requirement does not bind it",
    "?": "it could not be judged",
    "·": "no check decides the requirement",
    "!": "the suite itself failed",
}
ATTENTION: tuple[Verdict, ...] = ("fail", "could-not-run", "harness-error")


@dataclass(frozen=True)
class Column:
    """One port and its result."""

    port: Port
    result: Report | Failure

    def verdicts(self) -> Mapping[str, Judgement]:
        judgements = self.result.judgements if isinstance(self.result, Report) else ()
        return {judgement.id: judgement for judgement in judgements}


@dataclass(frozen=True)
class Row:
    """One requirement and each column's judgement of it; None where there is none."""

    requirement: Judgement
    judgements: tuple[Judgement | None, ...]

    def verdicts(self) -> tuple[Verdict, ...]:
        """Each verdict that occurs, once."""
        return tuple(dict.fromkeys(_verdict(judgement) for judgement in self.judgements))


def told(result: Report | Failure) -> str:
    """A result in one sentence."""
    match result:
        case Report() as report:
            return " ".join((f"{CONCLUSIONS[report.exit]} {scores(report)}.", *report.notes))
        case Failure(reason):
            return reason


def rows(columns: Sequence[Column]) -> tuple[Row, ...]:
    """A row for every requirement that a report holds, in the order in which the reports name them."""
    by_column = [column.verdicts() for column in columns]
    first = {judgement.id: judgement for found in reversed(by_column) for judgement in found.values()}
    ids = dict.fromkeys(requirement for found in by_column for requirement in found)
    return tuple(Row(first[requirement], tuple(found.get(requirement) for found in by_column)) for requirement in ids)


def render_markdown(columns: Sequence[Column]) -> str:
    ports = [(markdown.code(column.port.name), markdown.plain(told(column.result))) for column in columns]
    names = [name for name, _ in ports]
    verdicts = [
        (markdown.code(row.requirement.id), row.requirement.level, *(SIGNS[_verdict(j)] for j in row.judgements))
        for row in rows(columns)
    ]
    blocks = (
        "## Gemini MCP conformance",
        markdown.table(("port", "result"), ports),
        "\n".join(f"- {sign} {meaning}" for sign, meaning in LEGEND.items()),
        markdown.table(("requirement", "level", *names), verdicts),
    )
    return "\n\n".join(blocks) + "\n"


def render_html(columns: Sequence[Column]) -> str:
    listed, results = rows(columns), {column.port.name: told(column.result) for column in columns}
    verdicts = {verdict for row in listed for verdict in row.verdicts()}
    return page(
        "Gemini MCP conformance",
        element("header", element("h1", "Gemini MCP conformance"), definitions(results), _legend()),
        element("main", controls((row.requirement.level for row in listed), verdicts), _table(columns, listed)),
    )


def _legend() -> Markup:
    signs = definitions(LEGEND)
    return element("details", element("summary", "What the signs mean"), signs, class_="legend", open=True)


def _table(columns: Sequence[Column], listed: Sequence[Row]) -> Markup:
    names = (element("th", column.port.name, scope="col") for column in columns)
    head = element("tr", element("th", "Requirement", scope="col"), *names)
    body = element("tbody", *(_row(columns, row) for row in listed))
    table = element("table", element("thead", head), body, class_="matrix")
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label="Ports by requirement")


def _row(columns: Sequence[Column], row: Row) -> Markup:
    requirement = row.requirement
    name = element("summary", element("code", requirement.id), f" {requirement.level}")
    more = joined((element("p", prose(requirement.sentence)), *_messages(columns, row)))
    head = element("th", element("details", name, more), scope="row")
    cells = (_cell(judgement) for judgement in row.judgements)
    return element("tr", head, *cells, **row_attributes(requirement.level, row.verdicts()))


def _messages(columns: Sequence[Column], row: Row) -> Iterator[Markup]:
    for column, judgement in zip(columns, row.judgements, strict=True):
        if judgement is not None and judgement.verdict in ATTENTION and judgement.message:
            yield element("p", element("strong", column.port.name), f": {judgement.message}")


def _cell(judgement: Judgement | None) -> Markup:
    verdict = _verdict(judgement)
    sign = element("span", SIGNS[verdict], role="img", aria_label=verdict, title=verdict)
    return element("td", sign, class_=verdict)


def _verdict(judgement: Judgement | None) -> Verdict:
    """The verdict of a judgement; where there is none, the port could not be judged."""
    return "could-not-run" if judgement is None else judgement.verdict
