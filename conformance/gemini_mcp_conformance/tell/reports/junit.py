"""JUnit XML: one test suite for each level, one test case for each requirement; pure.

A fail is a failure; could-not-run and harness-error are errors; not-applicable, undecided and what the baseline lists
are skipped. So only a pass looks like a pass. The time of a case is that of the conversation that decided it.
"""

import xml.etree.ElementTree as ET

from gemini_mcp_conformance.judge.judgement import LEVELS, Judgement, Level, Verdict
from gemini_mcp_conformance.tell.report import Report
from gemini_mcp_conformance.tell.reports.context import Context, run_facts, title
from gemini_mcp_conformance.tell.reports.printable import printable

KINDS: dict[Verdict, str] = {
    "fail": "failure",
    "could-not-run": "error",
    "harness-error": "error",
    "not-applicable": "skipped",
    "undecided": "skipped",
}


def render(report: Report, context: Context) -> str:
    root = ET.Element("testsuites", {"name": title(report), **_counts(report.judgements)})
    for level in LEVELS:
        if any(judgement.level == level for judgement in report.judgements):
            root.append(_suite(report, level))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(report: Report, level: Level) -> ET.Element:
    judgements = tuple(judgement for judgement in report.judgements if judgement.level == level)
    suite = ET.Element("testsuite", {"name": level, **_counts(judgements)})
    properties = ET.SubElement(suite, "properties")
    for name, value in (*run_facts(report).items(), *(("Note", note) for note in report.notes)):
        ET.SubElement(properties, "property", {"name": name, "value": printable(value)})
    suite.extend(_case(report.profile, judgement) for judgement in judgements)
    return suite


def _case(profile: str, judgement: Judgement) -> ET.Element:
    area = judgement.id.partition(":")[0]
    case = ET.Element("testcase", {"name": judgement.id, "classname": f"gemini-mcp.{profile}.{area}"})
    if judgement.seconds is not None:
        case.set("time", f"{judgement.seconds:.3f}")
    kind = _kind(judgement)
    if kind is not None:
        told = f"Known: {judgement.known}" if judgement.known else judgement.message
        attributes = {"message": printable(told or ""), "type": judgement.verdict}
        ET.SubElement(case, kind, attributes).text = printable(_details(judgement))
    return case


def _kind(judgement: Judgement) -> str | None:
    return KINDS.get(judgement.verdict) if judgement.known is None else "skipped"


def _details(judgement: Judgement) -> str:
    parts = {
        "": judgement.sentence,
        "Seen: ": judgement.known and judgement.message,
        "Witness: ": judgement.witness,
        "Replay: ": judgement.replay,
    }
    return "\n".join(f"{name}{text}" for name, text in parts.items() if text)


def _counts(judgements: tuple[Judgement, ...]) -> dict[str, str]:
    kinds = [_kind(judgement) for judgement in judgements]
    return {
        "tests": str(len(kinds)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
        "skipped": str(kinds.count("skipped")),
    }
