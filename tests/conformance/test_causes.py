"""One cause is one failure: what fails together is one group, which says what to do, and the first to mend is first."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from command import port, suite
from sample_report import broken, faulty, kept, report_of, unrun

from gemini_mcp.spec import load_requirements
from gemini_mcp_conformance.command import places
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.judge.explanation import explained
from gemini_mcp_conformance.judge.finding import Finding
from gemini_mcp_conformance.judge.judgement import DIED, FOREIGN, LONG_LINE, SILENT, Judgement, Level
from gemini_mcp_conformance.tell import causes, report_file


def failing(id: str, level: Level = "MUST", cause: str | None = None, message: str = "It is wrong.") -> Judgement:
    return replace(broken("x", level, f"{message} {id}"), id=id, cause=cause or id, sentence=f"{id} {level} hold.")


def unseen(id: str, cause: str | None = None) -> Judgement:
    return replace(unrun("x"), id=id, cause=cause)


def grouped(*judgements: Judgement) -> list[tuple[str, list[str]]]:
    return [
        (group.advice, [judgement.id for judgement in group.all]) for group in causes.groups(report_of(*judgements))
    ]


def test_what_ended_the_port_is_one_cause_whatever_failed_with_it():
    ended = (
        failing("rpc:batch", cause=DIED),
        failing("error:exit", "SHOULD", DIED),
        unseen("error:exit:41", "error:exit"),
    )
    assert grouped(*ended) == [(causes.ADVICE[DIED], ["rpc:batch", "error:exit", "error:exit:41"])]


def test_what_the_port_did_alike_is_one_cause():
    did = "The port answered 'bad JSON', and should answer"
    alike = (
        failing("result:plain", message=did),
        failing("result:json", message=did),
        failing("error:json", message=did),
    )
    assert [ids for _, ids in grouped(*alike)] == [["result:plain", "result:json"], ["error:json"]]


def test_the_variants_of_a_feature_are_one_cause():
    assert [ids for _, ids in grouped(*map(failing, ("a:b:one", "a:c", "a:b", "a:b:two")))] == [
        ["a:b:one", "a:b", "a:b:two"],
        ["a:c"],
    ]


def test_must_comes_before_should_and_what_explains_most_first():
    found = failing("a:should", "SHOULD"), failing("b:must"), failing("c:must"), unseen("d:must", "c:must")
    assert [ids[0] for _, ids in grouped(*found, faulty("ours"))] == ["area:ours", "c:must", "b:must", "a:should"]


def test_a_cause_of_a_cause_is_the_cause():
    chain = failing("a:b"), unseen("c:d", "a:b"), unseen("e:f", "c:d")
    assert [ids for _, ids in grouped(*chain)] == [["a:b", "c:d", "e:f"]]


def test_a_known_failure_is_in_no_group():
    assert grouped(replace(failing("a:b"), known="later")) == []


def test_a_cause_is_written_and_a_report_without_one_is_read():
    text = report_file.dump(report_of(failing("a:b", cause=DIED), kept("one"), exit=1))
    assert [entry.get("cause") for entry in json.loads(text)["requirements"]] == [DIED, None]
    old = text.replace('      "cause": "died",\n', "")
    assert report_file.parse(old).judgements[0].cause is None


def finding(requirement: str, cause: str = "", about: str = "unanswered") -> Finding:
    return Finding(requirement, f"conversation-{requirement}", "", "fail", about=about, cause=cause)


def settled(*findings: Finding) -> list[tuple[str, str]]:
    return [(each.outcome, each.cause) for each in explained(findings, load_requirements())]


def test_of_a_port_of_something_else_only_that_counts():
    assert settled(finding("tools:chat", FOREIGN), finding("identity:name")) == [
        ("fail", FOREIGN),
        ("could-not-run", FOREIGN),
    ]


@pytest.mark.parametrize(("others", "cause"), [((), LONG_LINE), ((DIED,), DIED), ((SILENT,), SILENT)])
def test_a_long_line_is_the_cause_only_where_short_ones_are_read(others: tuple[str, ...], cause: str):
    found = settled(finding("rpc:alive:long-line", LONG_LINE), *(finding("lifecycle:ping", other) for other in others))
    assert found[0][1] == cause


def test_a_long_line_is_not_the_cause_where_others_are_read():
    read = replace(finding("rpc:alive:long-line"), outcome="pass")
    assert settled(finding("rpc:alive:malformed", LONG_LINE), read)[0] == ("fail", "")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("foreign", "1. The port offers ask-gemini, brainstorm; it is not a port of this specification."),
        ("no-tools", "port  The port offers no tools, and should offer 'chat' and 'chat-reply'."),
        ("ends-after-list", f"1. {causes.ADVICE[DIED]}"),
    ],
)
def test_a_port_is_told_its_cause_first(tmp_path: Path, name: str, told: str):
    ended = suite(tmp_path, "smoke", to=port(name))
    first = ended.out.partition("\n2. ")[0]
    assert (ended.code, " ".join(told.split()) in " ".join(first.split())) == (1, True)


def test_a_replay_shows_what_was_said_and_what_gemini_printed(tmp_path: Path):
    run = suite(tmp_path, "run", "--only", "lifecycle:ping", to=port("wrong-ping"))
    assert "Again: gemini-mcp-conformance replay ping --only lifecycle:ping -- " in run.out
    lines = suite(tmp_path, "replay", "ping", "-v", to=port("wrong-ping")).out.splitlines()
    assert any(line.startswith("< {") and '"pong":true' in line for line in lines)


def test_annotations_point_at_the_file_that_is_named_or_the_workflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    workflow = tmp_path / ".github/workflows/ci.yml"
    workflow.parent.mkdir(parents=True)
    here = {"GITHUB_WORKSPACE": str(tmp_path), "GITHUB_REPOSITORY": "me/port"}
    ref = {**here, "GITHUB_WORKFLOW_REF": "me/port/.github/workflows/ci.yml@refs/heads/main"}
    assert places.source(None, ref) is None
    workflow.write_text("", encoding="utf-8")
    assert places.source(None, ref) == ".github/workflows/ci.yml"
    assert places.source(str(workflow), here) == ".github/workflows/ci.yml"
    assert places.source(None, {}) is None
    with pytest.raises(UsageError, match=r"--source 'gone' is no file\."):
        places.source("gone", here)
