"""The impact of a change as text, Markdown or one HTML page: which verdicts flip for each port. Pure.

All pages say the same. A sentence that they share is a function before the first page.
"""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from gemini_mcp_conformance.judge.judgement import Judgement
from gemini_mcp_conformance.tell.impact import Flip, Impact
from gemini_mcp_conformance.tell.matrix.ports import Failure
from gemini_mcp_conformance.tell.report import INCOMPLETE, NO_ANSWER, OUR_FAULT, Report
from gemini_mcp_conformance.tell.reports import markdown
from gemini_mcp_conformance.tell.reports.context import CONCLUSIONS, scores
from gemini_mcp_conformance.tell.reports.filters import controls, row_attributes
from gemini_mcp_conformance.tell.reports.markup import Markup, definitions, element, page, prose
from gemini_mcp_conformance.tell.reports.printable import one_line, printable
from gemini_mcp_conformance.tell.reports.terminal import WIDTH

TITLE = "Whom the change breaks"


def closing(impacts: Sequence[Impact]) -> str:
    """How many ports break, and their names."""
    names = [one_line(impact.port.name) for impact in impacts if impact.breaks]
    verb = "breaks" if len(names) == 1 else "break"
    return f"{len(names)} of {len(impacts)} ports {verb}{': ' if names else ''}{', '.join(names)}."


def told(impact: Impact) -> str:
    """What the change does to the port, in a few words."""
    if not impact.is_compared:
        return "The port could not be tested by both."
    if not impact.flips:
        return "Nothing flips."
    directions = [flip.direction for flip in impact.flips]
    counts = ", ".join(f"{directions.count(each)} {each}" for each in dict.fromkeys(directions))
    return f"{'The port breaks' if impact.breaks else 'Nothing breaks'}: {counts}."


def side(result: Report | Failure) -> str:
    """What one specification's run says."""
    match result:
        case Failure(reason):
            return reason
        case Report(exit=exit) if exit in (INCOMPLETE, NO_ANSWER, OUR_FAULT):
            return f"{CONCLUSIONS[exit]} {scores(result)}"
        case Report():
            return scores(result)


def change(flip: Flip) -> str:
    """The verdict before and after; with the level where that changes too."""
    is_other = flip.old is not None and flip.new is not None and flip.old.level != flip.new.level
    return " → ".join(_verdict(each, is_other) for each in (flip.old, flip.new))


def _verdict(judgement: Judgement | None, is_level_shown: bool) -> str:
    if judgement is None:
        return "none"
    return f"{judgement.level} {judgement.verdict}" if is_level_shown else judgement.verdict


def render_text(impacts: Sequence[Impact]) -> str:
    blocks = ["\n".join(_block(impact)) for impact in impacts]
    return "\n\n".join((*blocks, closing(impacts))) + "\n"


def _block(impact: Impact) -> Iterator[str]:
    yield f"{one_line(impact.port.name)}: {told(impact)}"
    yield from (f"  {name}  {one_line(side(result))}" for name, result in (("old", impact.old), ("new", impact.new)))
    for flip in impact.flips:
        yield f"  {flip.direction.upper()}  {flip.judgement.id}  ({flip.judgement.level}, {change(flip)})"
        yield from wrap(flip.judgement.sentence, WIDTH, initial_indent="    ", subsequent_indent="    ")
        for number, line in enumerate(printable(flip.why or "").split("\n") if flip.why else ()):
            begin = "         | " if number else "    why  "
            yield from wrap(line, WIDTH, initial_indent=begin, subsequent_indent="         | ", break_on_hyphens=False)


def render_markdown(impacts: Sequence[Impact]) -> str:
    ports = [
        (markdown.code(impact.port.name), *map(markdown.plain, (told(impact), side(impact.old), side(impact.new))))
        for impact in impacts
    ]
    blocks = [
        f"## {TITLE}",
        f"**{markdown.plain(closing(impacts))}**",
        markdown.table(("port", "impact", "old", "new"), ports),
    ]
    for impact in impacts:
        blocks += _tables(impact)
    return "\n\n".join(blocks) + "\n"


def _tables(impact: Impact) -> Iterator[str]:
    """What breaks the port in sight, the rest folded."""
    head = ("requirement", "level", "change", "verdict", "why")
    breaks = [_cells(flip) for flip in impact.flips if flip.is_break]
    rest = [_cells(flip) for flip in impact.flips if not flip.is_break]
    if breaks:
        yield f"### {markdown.code(impact.port.name)}"
        yield markdown.table(head, breaks)
    if rest:
        summary = f"{markdown.tagged(impact.port.name)}: what flips and breaks nothing ({len(rest)})"
        yield f"<details>\n<summary>{summary}</summary>\n\n{markdown.table(head, rest)}\n\n</details>"


def _cells(flip: Flip) -> tuple[str, ...]:
    judgement = flip.judgement
    name = f"{markdown.code(judgement.id)}<br>{markdown.prose(judgement.sentence)}"
    return name, judgement.level, flip.direction, change(flip), markdown.code(flip.why) if flip.why else ""


def render_html(impacts: Sequence[Impact]) -> str:
    shown = [flip.judgement for impact in impacts for flip in impact.flips]
    filters = controls((each.level for each in shown), (each.verdict for each in shown))
    return page(
        f"{TITLE}: {closing(impacts)}",
        element("header", element("h1", TITLE), _conclusion(impacts)),
        element("main", filters, *_sections(impacts)),
    )


def _conclusion(impacts: Sequence[Impact]) -> Markup:
    is_broken = any(impact.breaks for impact in impacts)
    return element("p", closing(impacts), class_=f"conclusion exit-{int(is_broken)}")


def _sections(impacts: Sequence[Impact]) -> Iterator[Markup]:
    for impact in impacts:
        facts = {"Impact": told(impact), "Old": side(impact.old), "New": side(impact.new)}
        yield element("section", element("h2", impact.port.name), definitions(facts), *map(_article, impact.flips))


def _article(flip: Flip) -> Markup:
    judgement = flip.judgement
    tags = (element("span", text, class_="tag") for text in (flip.direction, judgement.level, change(flip)))
    why = definitions({"Why": prose(flip.why)}) if flip.why else Markup()
    return element(
        "article",
        element("h3", element("code", judgement.id), *tags),
        element("p", prose(judgement.sentence)),
        why,
        class_=judgement.verdict,
        **row_attributes(judgement.level, (judgement.verdict,)),
    )
