"""Combined calls: made from the specification, each of another form, and told of in the reports."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.command.main import start
from gemini_mcp_conformance.spec import specification
from gemini_mcp_conformance.talk import sources
from gemini_mcp_conformance.talk.circumstances import CANCELLED_EARLY, SAME_SESSION, impossible
from gemini_mcp_conformance.talk.forms import CallForms
from gemini_mcp_conformance.talk.sources import combinations, concurrency
from gemini_mcp_conformance.talk.steps import Request

ROOT = Path(__file__).parents[2]


def test_every_value_of_a_form_must_be_served() -> None:
    spec = specification.load(None)
    for tool in spec.names:
        for name, forms in CallForms(spec, tool).arguments().items():
            short = [value for values in forms.values() for value in values if value is not None and len(value) < 9999]
            assert all(spec.settles(tool, name, value) for value in short)


def test_ids_and_sessions_are_told_apart() -> None:
    made = list(combinations.conversations(sources.read()))
    asked = [step for each in made for step in each.steps if isinstance(step, Request)]
    ids = [repr(step.id) for step in asked if step.id != Request("").id]
    assert len(ids) > 100
    assert len(set(ids)) == len(ids)


def test_all_pairs_and_triples_of_arguments_and_outcome_meet_and_in_a_thorough_run_all_triples() -> None:
    for thorough in (False, True):
        for covered in combinations.coverage(sources.read(thorough=thorough)):
            assert covered.pairs.met == covered.pairs.possible
            assert covered.core.met == covered.core.possible > 0
            assert (covered.triples.met == covered.triples.possible) == thorough


def test_an_argument_that_is_new_in_the_specification_is_a_dimension(tmp_path: Path) -> None:
    tone = {"tone": {"type": "string", "enum": ["kind", "terse"], "description": "x"}}
    assert "tone" in combinations.dimensions_of_tools(sources.read(changed(tmp_path, properties=tone)))["chat"]


def test_what_is_cancelled_at_once_has_a_prompt_where_none_is_required(tmp_path: Path) -> None:
    made = combinations.conversations(sources.read(changed(tmp_path, required=[])))
    asked = [step for each in made for step in each.steps if isinstance(step, Request) and step.until == "sent"]
    cancelled = [step for step in asked if step.name.startswith("cancelled before")]
    assert len(cancelled) > 10
    assert all("prompt" in step.params["arguments"] for step in cancelled)


def test_no_relative_directory_is_combined_where_the_schema_forbids_it(tmp_path: Path) -> None:
    spec = specification.load(changed(tmp_path, properties={"cwd": {"type": "string", "pattern": "^/"}}))
    values = [value for values in CallForms(spec, "chat").arguments()["cwd"].values() for value in values]
    assert len(values) > 10
    assert not any(isinstance(value, str) for value in values)


def test_calls_that_look_the_same_are_not_combined_with_others(tmp_path: Path) -> None:
    choice = {"type": "string", "enum": ["Sing.", "Dance."]}
    spec = specification.load(changed(tmp_path, properties={"prompt": choice}))
    assert set(impossible(spec, "chat")) == {CANCELLED_EARLY, SAME_SESSION}
    assert set(impossible(spec, "chat-reply")) == set[str]()


def changed(folder: Path, **keywords: Json) -> Path:
    """A copy of the specification in which the schema of `chat` has these keywords."""
    shutil.copytree(ROOT / "spec", folder / "spec")
    file = folder / "spec/server/tools/chat.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    schema = document["inputSchema"]
    schema["properties"].update(keywords.pop("properties", {}))
    schema.update(keywords)
    file.write_text(json.dumps(document), encoding="utf-8")
    return folder / "spec"


def test_what_cannot_meet_a_tool_is_said_with_the_reason() -> None:
    chat, reply = combinations.coverage(sources.read(None))
    assert chat.never == ("`its session`: the tool resumes none",)
    assert reply.never == ()


def test_the_page_of_the_coverage_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert start(["coverage", "--markdown"]) == 0
    printed = capsys.readouterr().out
    page = (ROOT / "docs/spec/coverage.md").read_text(encoding="utf-8")
    assert printed == page, "Run: gemini-mcp-conformance coverage --markdown > docs/spec/coverage.md"


@pytest.mark.slow
def test_a_thorough_run_generates_more() -> None:
    usual, thorough = (sources.offered(None, 10, None, each)[0] for each in (False, True))
    assert len(thorough) > 2 * len([each for each in usual if each.phase == "combinations"])


def test_no_prompt_that_is_refused_is_left_unread(tmp_path: Path) -> None:
    spec = changed(tmp_path)
    file = spec / "server/invocation.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    document["refusals"]["too-long"]["maxBytes"] = 60
    file.write_text(json.dumps(document), encoding="utf-8")
    ids = [[each.id for each in concurrency.conversations(sources.read(root))] for root in (None, spec)]
    assert ["concurrency-unread" in each for each in ids] == [True, False]
