"""The report itself: what follows from its verdicts, and its JSON, which is the same for the same report."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator
from sample_report import EVERY, SAMPLE, broken, faulty, foreign, kept, report_of, undecided, unrun

from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.judge.evidence import HEAD, TAIL, evidence, shown
from gemini_mcp_conformance.judge.judgement import Evidence, Judgement, Run
from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.tell import report_file
from gemini_mcp_conformance.tell.report import Score, Url, exit_code
from gemini_mcp_conformance.tell.reports import FORMATS
from gemini_mcp_conformance.tell.reports.context import Context

GOOD = report_file.dump(report_of(kept("a")))
SCHEMA: Any = json.loads((Path(__file__).parents[2] / "spec/meta/report.schema.json").read_text(encoding="utf-8"))


def test_a_report_is_valid_against_its_published_schema():
    validator = cast(Any, Draft202012Validator(SCHEMA))
    assert list(validator.iter_errors(json.loads(report_file.dump(SAMPLE)))) == []


def test_a_report_reads_back_as_it_was_written():
    assert report_file.parse(report_file.dump(SAMPLE).encode("utf-8", "backslashreplace")) == SAMPLE


def test_a_report_of_a_port_that_never_answered_reads_back():
    silent = replace(report_of(unrun("one"), exit=4), target=Url("http://127.0.0.1:1/mcp"), port=None, protocol=None)
    assert report_file.parse(report_file.dump(silent)) == silent


def test_keys_come_in_the_order_of_the_schema():
    document = json.loads(report_file.dump(SAMPLE))
    assert list(document) == [key for key in SCHEMA["properties"] if key in document]


@pytest.mark.parametrize("name", FORMATS)
def test_equal_reports_give_equal_texts(name: str):
    again = report_file.parse(report_file.dump(SAMPLE))
    assert FORMATS[name](SAMPLE, Context("")) == FORMATS[name](again, Context(""))


@pytest.mark.parametrize(
    ("judgements", "strict", "code"),
    [
        ((kept("a"), foreign("b")), False, 0),
        ((kept("a"), undecided("b")), True, 0),
        ((undecided("a"), unrun("b")), False, 3),
        ((broken("a", "SHOULD"),), False, 0),
        ((broken("a", "SHOULD"),), True, 1),
        ((broken("a", "MAY"),), True, 0),
        ((kept("a"), unrun("b", "SHOULD")), False, 3),
        ((broken("a"), unrun("b")), False, 1),
        ((broken("a"), unrun("b"), faulty("c")), False, 5),
        ((replace(broken("a"), known="later"), unrun("b")), False, 3),
        ((replace(broken("a"), known="later"),), True, 0),
    ],
)
def test_the_worst_verdict_decides_the_exit_code(judgements: tuple[Judgement, ...], strict: bool, code: int):
    assert exit_code(judgements, strict) == code


def test_a_score_counts_what_could_not_run_and_leaves_out_what_is_not_applicable_or_undecided():
    judgements = (kept("a"), unrun("b"), foreign("c", "MUST"), broken("d"), undecided("e"))
    assert report_of(*judgements).score("MUST") == Score(1, 3)


def test_counts_hold_every_verdict():
    counts = SAMPLE.counts()
    assert sum(sum(by_verdict.values()) for by_verdict in counts.values()) == len(EVERY)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "Expecting property name"),
        ("{}", "$: 'counts' is a required property"),
        (GOOD.replace('"pass": 1', '"pass": 2'), "$.counts: it does not agree"),
        (GOOD.replace('"strict": false', '"strict": 0'), "$.strict: 0 is not of type"),
    ],
)
def test_a_file_that_is_no_report_is_named_with_what_is_wrong(tmp_path: Path, text: str, complaint: str):
    path = tmp_path / "report.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        report_file.load(path)
    assert str(path) in str(caught.value)
    assert complaint in str(caught.value)


def test_a_report_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match=r"missing\.json' cannot be read"):
        report_file.load(tmp_path / "missing.json")


def test_evidence_holds_what_gemini_was_given(tmp_path: Path):
    system = tmp_path / "SYSTEM.md"
    system.write_text("Be brief.", encoding="utf-8")
    with Fake.create(tmp_path / "fake") as fake:
        environ = fake.environ({**os.environ, "GEMINI_SYSTEM_MD": str(system)})
        argv = ("gemini", b"-p", b"\xff", os.fsencode(tmp_path))
        subprocess.run(argv, cwd=tmp_path, env=environ, input=b"more", capture_output=True, timeout=30, check=False)
        found = evidence("It called `chat`.", [b"{}"], [], fake.calls(), {str(tmp_path): "{tmp}"})
    run = Run(("-p", "\\xff", "{tmp}"), "{tmp}", "pipe", "more", "Be brief.")
    assert found == Evidence("It called `chat`.", ("{}",), (), (run,))


def test_evidence_escapes_what_is_no_utf_8():
    assert shown(b"a\xffb", {}) == "a\\xffb"


def test_evidence_escapes_half_a_character():
    assert shown("a\ud800b", {}) == "a\\ud800b"


def test_evidence_names_places_that_differ_from_run_to_run():
    assert shown("/t/a/home/x /t/a", {"/t/a": "{tmp}", "/t/a/home": "{home}"}) == "{home}/x {tmp}"


def test_long_evidence_is_cut_and_says_so():
    text = shown("x" * (HEAD + TAIL + 1234), {})
    assert "1,234 characters left out" in text
    assert len(text) < HEAD + TAIL + 50
