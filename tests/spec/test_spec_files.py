"""Our specification: it passes `lint`, and what only this one promises is a test here. What any must obey is a rule."""

import json
from pathlib import Path

import pytest

from gemini_mcp.schema.validation import by_kind, validator
from gemini_mcp.spec import load_documents, load_requirements
from gemini_mcp.spec.values import Json
from gemini_mcp_spec.files.reader import read_directory
from gemini_mcp_spec.lint.complaint import located
from gemini_mcp_spec.lint.linter import lint
from gemini_mcp_spec.report.complaints import FORMATS

SPEC = Path(__file__).parents[2] / "spec"

EXAMPLES = Path(__file__).parents[1] / "data" / "tool_spec_examples.json"
"""The requests and responses of the tool specification, letter for letter."""

CALL_AREAS = {
    *("command", "prompt", "injection", "arguments", "process", "cwd", "system", "result", "fallback", "error"),
    *("cancel", "concurrency", "shutdown"),
}
"""The areas of requirements on what a call does."""

NOT_A_CALL = {
    "process:environment": "the environment is the server's",
    "cancel:unknown": "a step cancels a call that was made",
    "cancel:falsy-id": "a step does not say which id its request has",
    "concurrency:ping": "a ping is no call",
    "concurrency:list": "`tools/list` is no call",
}
"""Requirements of these areas that no case and no scenario can show."""

REQUIREMENTS = load_requirements(SPEC)


def read(path: Path) -> Json:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_specification_has_no_mistake() -> None:
    spec = read_directory(SPEC)
    assert FORMATS["text"](list(located(spec, lint(spec)))) == "no mistakes"


@pytest.mark.parametrize(("profile", "least"), [("server", 100), ("host", 120)])
def test_a_profile_has_its_requirements(profile: str, least: int):
    assert sum(requirement.profile == profile for requirement in REQUIREMENTS) >= least


def test_every_requirement_on_a_call_is_shown_by_a_case_or_a_scenario():
    examples = [*load_documents("server/cases", SPEC).values(), *load_documents("server/scenarios", SPEC).values()]
    shown = {name for example in examples for name in example["requirements"]}
    ids = {requirement.id for requirement in REQUIREMENTS if requirement.id.partition(":")[0] in CALL_AREAS}
    assert ids - shown == set(NOT_A_CALL)


def test_the_examples_of_the_tool_specification_are_cases():
    examples = read(EXAMPLES)
    cases = {name: read(SPEC / f"server/cases/tool-spec-{name}.json") for name in examples}
    assert {name: cases[name]["call"] for name in ("chat", "chat-reply")} == {
        name: examples[name]["request"]["params"] for name in ("chat", "chat-reply")
    }
    assert {name: case["result"] for name, case in cases.items()} == {
        name: example["response"] for name, example in examples.items()
    }


def test_the_property_keywords_of_a_tool_are_those_that_are_validated():
    is_tool = by_kind(read_directory(SPEC).folder("meta"))["tool"]
    tool = {"name": "t", "description": "d", "inputSchema": {"type": "object", "properties": {"p": {"type": "string"}}}}
    assert is_tool.is_valid(tool)
    tool["inputSchema"] = {"type": "object", "properties": {"p": {"type": "string", "format": "uri"}}}
    assert not is_tool.is_valid(tool)


@pytest.mark.parametrize(
    ("schema", "result", "valid"),
    [
        ("success", {"content": [{"type": "text", "text": ""}]}, True),
        ("success", {"content": [{"type": "text", "text": "a"}], "_meta": {"sessionId": "b", "c": 1}}, True),
        ("success", {"content": [{"type": "text", "text": "a"}], "isError": True}, False),
        ("success", {"content": [{"type": "image", "text": "a"}]}, False),
        ("success", {"content": []}, False),
        (
            "error",
            {"content": [{"type": "text", "text": "Error executing gemini: a\nStderr: "}], "isError": True},
            True,
        ),
        ("error", {"content": [{"type": "text", "text": "a"}], "isError": True}, False),
        ("error", {"content": [{"type": "text", "text": "Error executing gemini: a"}]}, False),
    ],
)
def test_the_schemas_of_results_tell_good_from_bad(schema: str, result: Json, valid: bool):
    document = read(SPEC / f"server/results/{schema}.schema.json")
    assert validator(document).is_valid(result) is valid
