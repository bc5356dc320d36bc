"""Every format says what the report says, and nothing that a port answers escapes from the text it is shown in."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from sample_report import (
    CONTEXT,
    EVERY,
    HOSTILE,
    SAMPLE,
    broken,
    foreign,
    kept,
    report_of,
    undecided,
    unrun,
)
from syrupy.assertion import SnapshotAssertion

from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.judge.judgement import LEVELS, Judgement, Level, Verdict
from gemini_mcp_conformance.tell.reports import FORMATS, Context, Destination, destination, write
from gemini_mcp_conformance.tell.reports.markup import VOID
from gemini_mcp_conformance.tell.reports.printable import one_line, printable

KNOWN = 1
"""Failures of the sample that its baseline lists."""


def rendered(name: str) -> str:
    return FORMATS[name](SAMPLE, CONTEXT)


def count(verdict: Verdict) -> int:
    return len(SAMPLE.with_verdict(verdict))


def test_text_of_a_port_is_shown_without_what_acts():
    assert printable("a\x1b[31m\r\x85\ud800\u202e\ufffe\tb\n") == "a\\x1b[31m\\x0d\\x85\\ud800\\u202e\\ufffe\tb\n"


def test_one_line_is_cut_to_its_width():
    assert one_line("a\nbcdef", 5) == "a\\nb…"


def test_junit_counts_equal_the_reports():
    suites = ET.fromstring(rendered("junit"))
    assert {name: int(suites.attrib[name]) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": len(EVERY),
        "failures": count("fail") - KNOWN,
        "errors": count("could-not-run") + count("harness-error"),
        "skipped": count("not-applicable") + count("undecided") + KNOWN,
    }


def test_junit_skips_a_known_failure_with_its_reason():
    case = ET.fromstring(rendered("junit")).find(".//testcase[@name='area:known']")
    assert case is not None
    assert [(told.tag, told.attrib["message"]) for told in case] == [("skipped", "Known: The next release mends it.")]


def test_junit_says_how_long_the_conversation_of_a_verdict_took():
    timed = report_of(replace(kept("one"), seconds=1.23456), kept("two"))
    cases = ET.fromstring(FORMATS["junit"](timed, CONTEXT)).findall(".//testcase")
    assert [case.get("time") for case in cases] == ["1.235", None]


@pytest.mark.parametrize("level", LEVELS)
def test_junit_counts_of_a_level_equal_its_cases(level: Level):
    suite = next(suite for suite in ET.fromstring(rendered("junit")) if suite.attrib["name"] == level)
    cases = suite.findall("testcase")
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    assert int(suite.attrib["tests"]) == len(cases) == sum(SAMPLE.counts()[level].values())
    assert {key: int(suite.attrib[key]) for key in kinds} == {
        key: sum(case.find(kind) is not None for case in cases) for key, kind in kinds.items()
    }


def test_junit_holds_hostile_text_as_text():
    failure = ET.fromstring(rendered("junit")).find(".//testcase[@name='area:hostile']/failure")
    assert failure is not None
    assert failure.attrib["message"] == printable(HOSTILE)


def test_sarif_has_a_result_for_every_failure_at_the_file_of_the_port():
    results = json.loads(FORMATS["sarif"](SAMPLE, replace(CONTEXT, source="a server.mjs")))["runs"][0]["results"]
    places = {json.dumps(result["locations"]) for result in results}
    assert {result["ruleId"] for result in results} == {judgement.id for judgement in SAMPLE.with_verdict("fail")}
    assert places == {
        '[{"physicalLocation": {"artifactLocation": {"uri": "a%20server.mjs"}, "region": {"startLine": 1}}}]'
    }


@pytest.mark.parametrize("name", ["sarif", "github"])
def test_without_a_file_of_the_port_no_file_is_named(name: str):
    assert not re.search(
        r"\.json|file=|locations", rendered(name).replace("known.json", "").replace("schema-2.1.0.json", "")
    )


def test_sarif_results_name_their_rule():
    run = json.loads(rendered("sarif"))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [r["ruleId"] for r in run["results"]]


def test_sarif_levels_follow_the_requirement():
    run = json.loads(rendered("sarif"))["runs"][0]
    levels = {result["ruleId"]: result["level"] for result in run["results"]}
    assert levels == {"area:two": "error", "area:hostile": "warning", "area:known": "note"}


def test_sarif_suppresses_what_the_baseline_knows():
    results: list[Any] = json.loads(rendered("sarif"))["runs"][0]["results"]
    suppressed = {result["ruleId"]: result["suppressions"] for result in results if "suppressions" in result}
    assert suppressed == {"area:known": [{"kind": "external", "justification": "The next release mends it."}]}


def test_sarif_tells_what_could_not_be_judged_as_notifications():
    invocation = json.loads(rendered("sarif"))["runs"][0]["invocations"][0]
    notifications = invocation["toolExecutionNotifications"]
    told = [found["associatedRule"]["id"] for found in notifications if "associatedRule" in found]
    unjudged = ["area:three", "area:five", "area:seven", "area:eight"]
    assert (told, invocation["executionSuccessful"]) == (unjudged, False)


def test_there_is_an_annotation_for_each_cause_at_the_file_of_the_port():
    told = FORMATS["github"](SAMPLE, replace(CONTEXT, source="server.mjs"))
    assert re.findall(r"^::(\w+) file=server.mjs,line=1,title=([\w%]+)", told, re.MULTILINE) == [
        ("error", "area%3Afive"),
        ("error", "area%3Atwo"),
        ("warning", "area%3Ahostile"),
        ("warning", "area%3Athree"),
        ("notice", "area%3Aknown"),
    ]


def test_a_port_cannot_write_a_workflow_command_of_its_own():
    lines = rendered("github").splitlines()
    assert len(lines) == len(SAMPLE.with_verdict("fail", "could-not-run", "harness-error")) + len(SAMPLE.notes)
    assert "%0A::error::no" in next(line for line in lines if "hostile" in line)


def test_a_percent_sign_of_a_port_stays_one():
    assert "%250A ]]>" in rendered("github")


def test_the_properties_of_an_annotation_escape_colons_and_commas():
    odd = replace(broken("one"), id="area:one,line=7")
    assert "title=area%3Aone%2Cline=7 (MUST)%3A fail::" in FORMATS["github"](report_of(odd), CONTEXT)


class Page(HTMLParser):
    """The elements of a page in order, whether each is closed, and the text outside of style and script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def test_the_page_closes_every_element():
    assert Page(rendered("html")).open == []


def test_the_page_has_a_row_for_every_requirement_with_what_its_controls_need():
    rows = [row for row in Page(rendered("html")).all("article") if "data-row" in row]
    assert {(row["id"], row["data-level"], row["data-verdict"]) for row in rows} == {
        (judgement.id, judgement.level, judgement.verdict) for judgement in EVERY
    }


def test_the_page_offers_every_level_and_verdict_that_occurs():
    boxes = [box for box in Page(rendered("html")).all("input") if box["type"] == "checkbox"]
    offered = {(box["name"], box["value"]) for box in boxes}
    levels = {("level", judgement.level) for judgement in EVERY}
    assert offered == levels | {("verdict", judgement.verdict) for judgement in EVERY}


def test_the_page_needs_no_other_file():
    page = Page(rendered("html"))
    named = [value for _, attributes in page.elements for key, value in attributes.items() if key in ("src", "href")]
    assert all(value and value.startswith("#") for value in named)
    assert "url(" not in rendered("html")


def test_a_port_cannot_add_an_element_to_the_page():
    page = Page(rendered("html"))
    assert len(page.all("script")) == 1
    assert printable(HOSTILE) in page.text


def test_the_page_allows_only_its_own_script_and_style():
    policies = [meta["content"] for meta in Page(rendered("html")).all("meta") if "http-equiv" in meta]
    assert len(policies) == 1
    assert re.fullmatch(r"default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'", policies[0] or "")


def test_the_page_opens_with_the_worst_has_an_index_and_folds_the_rest():
    should = broken("one", "SHOULD", "It did else.")
    page = FORMATS["html"](report_of(kept("five"), should, broken("two"), unrun("three")), CONTEXT)
    assert re.findall(r'<li><a href="#([^"]*)">', page) == ["cause-area:two", "cause-area:one", "cause-area:three"]
    assert re.findall(r'<article id="([^"]*)"', page) == ["area:two", "area:one", "area:three", "area:five"]
    opened = re.search(r'<article id="area:two".*?</article>', page, re.DOTALL)
    assert opened is not None
    assert [part.count('class="fold"') for part in (opened[0], page)] == [0, 6]


def test_the_page_unfolds_the_conversation_and_the_journal_of_the_first_failure():
    page = FORMATS["html"](report_of(broken("one")), CONTEXT)
    assert len([details for details in Page(page).all("details") if "open" in details]) == 3
    for text in ("Sent by the suite", "Sent by the port", "Run 1 of gemini", "stdin (pipe)", "Be brief."):
        assert text in page


@pytest.mark.parametrize(("kind", "told"), [("null", "/dev/null"), ("closed", "closed")])
def test_the_page_names_a_stdin_that_nobody_can_read(kind: str, told: str):
    found = broken("one")
    assert found.evidence is not None
    run = replace(found.evidence.runs[0], stdin_kind=kind)
    page = FORMATS["html"](report_of(replace(found, evidence=replace(found.evidence, runs=(run,)))), CONTEXT)
    assert f"<dt>stdin</dt><dd><em>{told}</em></dd>" in page


@pytest.mark.parametrize("judgement", [kept("one"), foreign("four")])
def test_no_label_of_the_page_is_said_twice(judgement: Judgement):
    page = FORMATS["html"](report_of(judgement), CONTEXT)
    labels = re.findall(r"<(?:summary|dt)>(.*?)</", page)
    assert len(labels) == len(set(labels))


def test_markdown_gives_a_port_no_markup():
    markdown = rendered("markdown")
    assert "<script" not in markdown
    assert "@someone" not in markdown
    assert "\n::error" not in markdown


def test_every_row_of_a_markdown_table_has_as_many_cells():
    tables = re.findall(r"(?:^\|.*\|\n)+", rendered("markdown"), re.MULTILINE)
    assert len(tables) == 1
    for table in tables:
        assert len({line.count(" | ") for line in table.splitlines()}) == 1


@pytest.mark.parametrize("judgement", SAMPLE.with_verdict("fail", "could-not-run", "undecided", "harness-error"))
def test_markdown_names_everything_that_needs_attention(judgement: Judgement):
    assert f"`{judgement.id}`" in rendered("markdown")


def test_markdown_reads_as_text(snapshot: SnapshotAssertion):
    found = replace(broken("two", message='The port answered {"a": "`b`"}, and should not.'), evidence=None)
    assert (
        FORMATS["markdown"](report_of(kept("one"), found, replace(found, known="later"), exit=1), CONTEXT) == snapshot
    )


def test_the_badge_is_the_ports():
    badge = json.loads(rendered("badge"))
    assert (badge["label"], badge["message"]) == ("gemini-mcp-server 1.0.0", "Gemini MCP server 1.0.0: MUST 1/4")


def test_the_badge_of_a_port_that_conforms_is_green():
    assert json.loads(FORMATS["badge"](report_of(kept("one")), CONTEXT))["color"] == "brightgreen"


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_says_that_a_run_is_incomplete(name: str):
    cut = replace(report_of(kept("one"), unrun("three"), exit=3), notes=("This report is incomplete.",))
    assert "incomplete" in FORMATS[name](cut, CONTEXT)


def test_markdown_names_a_dozen_of_what_could_not_be_judged():
    told = FORMATS["markdown"](report_of(*(unrun(f"n{number}") for number in range(15))), CONTEXT)
    assert "15 requirements could not be judged: `area:n0`" in told
    assert "`area:n11`, and 3 more" in told


DETAILS = replace(CONTEXT, details=True)


def test_the_terminal_sums_up_what_to_mend(snapshot: SnapshotAssertion):
    assert rendered("terminal") == snapshot


def test_the_details_of_a_failure_tell_the_whole_story(snapshot: SnapshotAssertion):
    assert FORMATS["terminal"](report_of(broken("one"), unrun("two"), exit=1), DETAILS) == snapshot


@pytest.mark.parametrize("number", [1, 9, 99])
def test_the_summary_fits_on_a_small_screen(number: int):
    areas = [replace(broken("x"), id=f"area{each}:x", message=f"It did {each} {HOSTILE}") for each in range(number)]
    notes = tuple(f"{'A note about something. ' * 4}{each}" for each in range(number))
    lines = FORMATS["terminal"](replace(report_of(*areas, exit=1), notes=notes), CONTEXT).splitlines()
    assert len(lines) <= 20
    assert [line for line in lines if len(line) > 80 and not line.startswith("Again: ")] == []


def test_a_known_failure_is_told_in_one_line():
    known = replace(broken("known"), known="The next release mends it.")
    told = FORMATS["terminal"](report_of(known), replace(CONTEXT, verbose=True))
    assert [line for line in told.splitlines() if "area:known  " in line] == [
        "KNOWN  area:known  (MUST)  The next release mends it."
    ]
    assert "The port MUST not break known." not in told


def test_a_port_with_known_failures_is_not_said_to_conform():
    known = replace(broken("known"), known="The next release mends it.")
    told = FORMATS["terminal"](report_of(known, exit=0), CONTEXT)
    assert told.startswith("Nothing fails but what the baseline lists. MUST 0/1")


def test_an_outdated_baseline_is_not_taken_for_a_port_that_does_not_conform():
    told = FORMATS["terminal"](report_of(kept("one"), exit=1, strict=True), CONTEXT)
    assert told.startswith("The baseline is out of date, which fails a strict run; ")


def test_a_part_of_the_requirements_does_not_speak_for_the_port():
    every = Context('[{"id": "area:one", "profile": "server"}, {"id": "area:two", "profile": "server"}]')
    part, whole = (
        FORMATS["terminal"](report_of(*found), every) for found in ((kept("one"),), (kept("one"), kept("two")))
    )
    assert part.startswith("What was selected conforms. ")
    assert whole.startswith("The port conforms. ")


def test_the_terminal_shows_passes_only_when_asked():
    report = report_of(kept("one"), unrun("two"), exit=3)
    assert "area:one" not in FORMATS["terminal"](report, CONTEXT)
    assert "PASS  area:one" in FORMATS["terminal"](report, replace(CONTEXT, verbose=True))


def test_the_terminal_lists_what_no_check_decides_in_one_line():
    assert FORMATS["terminal"](report_of(kept("one"), undecided("two"), undecided("three")), CONTEXT).splitlines() == [
        "The port conforms. MUST 1/1, SHOULD 0/0.",
        "NOTE  No check decides area:two, area:three.",
    ]


def test_the_terminal_has_colours_only_when_asked():
    report = report_of(broken("one"), exit=1)
    assert "\x1b" not in FORMATS["terminal"](report, CONTEXT)
    assert "\x1b[1;31m1. The port MUST not break one.\x1b[0m" in FORMATS["terminal"](
        report, replace(CONTEXT, color=True)
    )


def test_no_line_of_the_terminal_begins_with_what_a_port_says():
    assert not re.search(r"^\s*::", rendered("terminal"), re.MULTILINE)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_as_utf_8(tmp_path: Path, name: str):
    path = tmp_path / name
    write(SAMPLE, CONTEXT, destination(f"{name}={path}"))
    assert path.read_text(encoding="utf-8") == rendered(name).replace("\ud800", "\\ud800")


def test_a_dash_is_standard_output():
    program = (
        "from gemini_mcp_conformance.tell.reports import *; from sample_report import SAMPLE, CONTEXT;"
        "write(SAMPLE, CONTEXT, destination('badge=-'))"
    )
    environ = {"PYTHONPATH": ":".join(path for path in (*sys.path, str(Path(__file__).parent)) if path)}
    process = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, timeout=60, check=True)
    assert process.stdout.decode() == rendered("badge")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("yaml=x", "no report format 'yaml'. The formats are json, junit,"),
        ("junit", "The report 'junit' has no path. Write junit=PATH"),
        ("junit=", "The report 'junit=' has no path."),
        ("junit=.", "The report '.' cannot be written: it is a directory."),
        ("junit=no/such/file", "its directory does not exist"),
    ],
)
def test_a_report_that_cannot_be_written_is_told_before_the_run(text: str, complaint: str):
    with pytest.raises(UsageError) as caught:
        destination(text)
    assert complaint in str(caught.value)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match=r"gone/x' cannot be written: No such file or directory"):
        write(SAMPLE, CONTEXT, Destination("json", tmp_path / "gone" / "x"))
