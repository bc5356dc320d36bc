"""The HTML page: every requirement, failures first, with the conversation and the journal of the fake. Pure.

It is one file that works without a network and without its script.
"""

from collections.abc import Iterator, Mapping, Sequence

from gemini_mcp_conformance.tell.report import LEVELS, VERDICTS, Evidence, Judgement, Report, Run, Verdict
from gemini_mcp_conformance.tell.reports.context import Context, conclusion, run_facts, scores, title
from gemini_mcp_conformance.tell.reports.filters import controls, row_attributes
from gemini_mcp_conformance.tell.reports.markup import Markup, definitions, element, joined, page, prose

SECTIONS: dict[Verdict, str] = {
    "harness-error": "Faults of the suite",
    "fail": "Broken",
    "could-not-run": "Could not be judged",
    "undecided": "Decided by no check",
    "pass": "Kept",
    "not-applicable": "Not applicable",
}
UNREADABLE = {"null": "/dev/null", "closed": "closed"}
OPEN = ("harness-error", "fail", "could-not-run")


def render(report: Report, context: Context) -> str:
    sections = (_section(report, verdict, heading) for verdict, heading in SECTIONS.items())
    levels = (judgement.level for judgement in report.judgements)
    verdicts = (judgement.verdict for judgement in report.judgements)
    return page(
        f"{title(report)}: {conclusion(report, context)}",
        element("header", *_summary(report, context)),
        element("main", controls(levels, verdicts), *sections),
    )


def _summary(report: Report, context: Context) -> Iterator[Markup]:
    yield element("h1", title(report))
    yield element("p", conclusion(report, context), " ", scores(report), ".", class_=f"conclusion exit-{report.exit}")
    yield from (element("p", note, class_="note") for note in report.notes)
    yield definitions(run_facts(report))
    yield _counts(report)


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


def _section(report: Report, verdict: Verdict, heading: str) -> Markup:
    judgements = report.with_verdict(verdict)
    if not judgements:
        return Markup()
    return element(
        "section",
        element("h2", f"{heading} ", element("small", str(len(judgements)))),
        *(_article(judgement) for judgement in judgements),
    )


def _article(judgement: Judgement) -> Markup:
    link = element("a", judgement.id, href=f"#{judgement.id}")
    known = () if judgement.known is None else (element("span", "known", class_="tag"),)
    tags = (element("span", judgement.verdict, class_="tag"), element("span", judgement.level, class_="tag"), *known)
    return element(
        "article",
        element("h3", link, *tags),
        element("p", prose(judgement.sentence)),
        _story(judgement),
        id=judgement.id,
        class_=judgement.verdict,
        **row_attributes(judgement.level, (judgement.verdict,)),
    )


def _story(judgement: Judgement) -> Markup:
    facts = {
        "What the suite did": judgement.evidence and prose(judgement.evidence.did),
        "What the port did" if judgement.verdict == "fail" else "Why": judgement.message and prose(judgement.message),
        "Witness": judgement.witness and prose(judgement.witness),
        "Known": judgement.known,
        "Replay": judgement.replay and element("code", judgement.replay),
    }
    story = definitions({name: text for name, text in facts.items() if text})
    if judgement.verdict in OPEN:
        return joined((story, *_evidence(judgement.evidence)))
    return element("details", element("summary", "Details"), story)


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
