"""The HTML page: what to mend first with an index, then everything else, folded, with the conversations. Pure.

It is one file that works without a network and without its script.
"""

from collections.abc import Iterator, Mapping, Sequence

from gemini_mcp_conformance.judge.judgement import LEVELS, VERDICTS, Evidence, Judgement, Run, Verdict
from gemini_mcp_conformance.tell import causes
from gemini_mcp_conformance.tell.causes import Group
from gemini_mcp_conformance.tell.report import Report
from gemini_mcp_conformance.tell.reports.context import Context, conclusion, run_facts, scores, title
from gemini_mcp_conformance.tell.reports.filters import controls, row_attributes
from gemini_mcp_conformance.tell.reports.markup import Markup, definitions, element, joined, page, prose

SECTIONS: dict[Verdict, str] = {
    "undecided": "Decided by no check",
    "pass": "Kept",
    "not-applicable": "Not applicable",
}
UNREADABLE = {"null": "/dev/null", "closed": "closed"}


def render(report: Report, context: Context) -> str:
    groups = causes.groups(report)
    levels = (judgement.level for judgement in report.judgements)
    verdicts = (judgement.verdict for judgement in report.judgements)
    return page(
        f"{title(report)}: {conclusion(report, context)}",
        element("header", *_summary(report, context), _index(groups), _folded("The run", _facts(report))),
        element("main", controls(levels, verdicts), *_sections(report, groups)),
    )


def _summary(report: Report, context: Context) -> Iterator[Markup]:
    yield element("h1", title(report))
    yield element("p", conclusion(report, context), " ", scores(report), ".", class_=f"conclusion exit-{report.exit}")
    yield from (element("p", note, class_="note") for note in report.notes)


def _index(groups: Sequence[Group]) -> Markup:
    """A link to each cause, in the order in which to mend them."""
    if not groups:
        return Markup()
    links = (
        element("li", element("a", prose(group.advice), href=f"#{group.anchor}"), " ", element("small", _size(group)))
        for group in groups
    )
    return element("nav", element("h2", "To mend, in this order"), element("ol", *links), aria_label="Causes")


def _size(group: Group) -> str:
    counts = {"failed": len(group.broken), "could not be judged": len(group.unjudged)}
    return f"{group.level}: {', '.join(f'{count} {name}' for name, count in counts.items() if count)}"


def _facts(report: Report) -> Markup:
    return joined((definitions(run_facts(report)), _counts(report)))


def _sections(report: Report, groups: Sequence[Group]) -> Iterator[Markup]:
    """The causes, the first failure unfolded; then what is known, and what needs no attention."""
    told = {judgement.id for group in groups for judgement in group.all}
    for number, group in enumerate(groups, 1):
        heading = element("h2", f"{number}. ", prose(group.advice), " ", element("small", _size(group)))
        broken = (_article(judgement, number == 1 and judgement is group.head) for judgement in group.broken)
        unjudged = _list_folded("Could not be judged", group.unjudged)
        yield element("section", heading, *broken, unjudged, id=group.anchor)
    known = causes.known(report)
    told |= {judgement.id for judgement in known}
    left = [each for each in report.judgements if each.id not in told and each.verdict not in SECTIONS]
    rest = {"Known failures": known, "Told by the notes above": left}
    rest |= {heading: report.with_verdict(verdict) for verdict, heading in SECTIONS.items()}
    yield from (element("section", _list_folded(heading, found)) for heading, found in rest.items() if found)


def _list_folded(heading: str, judgements: Sequence[Judgement]) -> Markup:
    if not judgements:
        return Markup()
    return _folded(f"{heading} ({len(judgements)})", joined(map(_article, judgements)))


def _folded(heading: str, content: Markup) -> Markup:
    return element("details", element("summary", heading), content, class_="fold")


def _counts(report: Report) -> Markup:
    counts = report.counts()
    head = element("tr", element("td"), *(element("th", level, scope="col") for level in LEVELS))
    rows = (
        element(
            "tr", element("th", verdict, scope="row"), *(element("td", str(counts[level][verdict])) for level in LEVELS)
        )
        for verdict in VERDICTS
    )
    return element("table", element("thead", head), element("tbody", *rows))


def _article(judgement: Judgement, is_open: bool = False) -> Markup:
    link = element("a", judgement.id, href=f"#{judgement.id}")
    known = () if judgement.known is None else (element("span", "known", class_="tag"),)
    tags = (element("span", judgement.verdict, class_="tag"), element("span", judgement.level, class_="tag"), *known)
    return element(
        "article",
        element("h3", link, *tags),
        element("p", prose(judgement.sentence)),
        _story(judgement, is_open),
        id=judgement.id,
        class_=judgement.verdict,
        **row_attributes(judgement.level, (judgement.verdict,)),
    )


def _story(judgement: Judgement, is_open: bool) -> Markup:
    facts = {
        "What the suite did": judgement.evidence and prose(judgement.evidence.did),
        "What the port did" if judgement.verdict == "fail" else "Why": judgement.message and prose(judgement.message),
        "Witness": judgement.witness and prose(judgement.witness),
        "Known": judgement.known,
        "Replay": judgement.replay and element("code", judgement.replay),
    }
    story = joined((definitions({name: text for name, text in facts.items() if text}), *_evidence(judgement.evidence)))
    return story if is_open else _folded("Details", story)


def _evidence(evidence: Evidence | None) -> Iterator[Markup]:
    if evidence is not None:
        yield _unfolded("Sent by the suite", _list(evidence.sent))
        yield _unfolded("Sent by the port", _list(evidence.received))
        yield from (_run(number, run) for number, run in enumerate(evidence.runs, 1))


def _run(number: int, run: Run) -> Markup:
    facts = {
        "Arguments": _list(run.argv),
        "Directory": _text(run.cwd),
        **_stdin(run),
        "System file": element("em", "nothing") if run.system_file is None else _text(run.system_file),
    }
    return _unfolded(f"Run {number} of gemini", definitions(facts))


def _stdin(run: Run) -> Mapping[str, Markup]:
    """What gemini could read from stdin, and what kind of file stdin was; some kinds cannot be read."""
    if run.stdin_kind in UNREADABLE:
        return {"stdin": element("em", UNREADABLE[run.stdin_kind])}
    return {f"stdin ({run.stdin_kind})": element("em", "nothing") if run.stdin is None else _text(run.stdin)}


def _list(texts: Sequence[str]) -> Markup:
    return element("ol", *(element("li", _text(text)) for text in texts)) if texts else element("em", "none")


def _text(text: str) -> Markup:
    return element("code", text) if text else element("em", "empty")


def _unfolded(heading: str, content: Markup) -> Markup:
    return element("details", element("summary", heading), content, open=True)
