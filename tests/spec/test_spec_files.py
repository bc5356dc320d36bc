"""The files of `spec/` against their schemas and against each other. A rule that a schema cannot say is a test here."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pytest
from jsonschema import Draft202012Validator, ValidationError
from referencing import Registry, Resource

from gemini_mcp.spec import written_out

Json: TypeAlias = Any

SPEC = Path(__file__).parents[2] / "spec"

KINDS = {
    "manifest.json": "manifest",
    "sources.json": "sources",
    "requirements.json": "requirements",
    "approved-breaks.json": "approved-breaks",
    "released/*.json": "released",
    "server/tools/*.json": "tool",
    "server/locales/*.json": "locale",
    "server/invocation.json": "invocation",
    "server/outcome.json": "outcome",
    "server/cases/*.json": "case",
    "server/scripts/*.json": "script",
    "server/scenarios/*.json": "scenario",
    "host/vectors/*.json": "vector",
    "host/scenarios/*.json": "host-scenario",
}

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
    "concurrency:ping": "a ping is no call",
    "concurrency:list": "`tools/list` is no call",
}
"""Requirements of these areas that no case and no scenario can show."""

LEVEL = re.compile(r"\b(MUST|SHOULD|MAY)\b")


def read(path: Path) -> Json:
    return json.loads(path.read_text(encoding="utf-8"))


META: Mapping[str, Json] = {path.name.removesuffix(".schema.json"): read(path) for path in SPEC.glob("meta/*.json")}
REGISTRY: Registry[Json] = Registry[Json]().with_resources(
    (schema["$id"], Resource[Json].from_contents(schema)) for schema in META.values()
)
FILES = [(kind, path) for pattern, kind in KINDS.items() for path in sorted(SPEC.glob(pattern))]
CASES = [path for kind, path in FILES if kind == "case"]
SCENARIOS = [path for kind, path in FILES if kind == "scenario"]
REQUIREMENTS: list[Json] = read(SPEC / "requirements.json")["requirements"]
SOURCES: Json = read(SPEC / "sources.json")


def named(requirement: Json) -> str:
    return requirement["id"]


class Validator(Protocol):
    def is_valid(self, instance: Json) -> bool: ...

    def iter_errors(self, instance: Json) -> Iterator[ValidationError]: ...


def validator(schema: Json) -> Validator:
    return Draft202012Validator(schema, registry=REGISTRY, format_checker=Draft202012Validator.FORMAT_CHECKER)


@pytest.mark.parametrize("kind", sorted({*KINDS.values(), "report"}))
def test_every_kind_of_file_has_a_valid_schema(kind: str):
    Draft202012Validator.check_schema(META[kind])
    assert META[kind]["$id"] == f"urn:gemini-mcp:meta:{kind}"


@pytest.mark.parametrize(("kind", "path"), FILES, ids=lambda value: value.stem if isinstance(value, Path) else value)
def test_every_file_is_valid(kind: str, path: Path):
    complaints = [f"{error.json_path}: {error.message}" for error in validator(META[kind]).iter_errors(read(path))]
    assert complaints == []


@pytest.mark.parametrize(
    "path",
    [*sorted(SPEC.glob("server/results/*.schema.json")), SPEC / "host/settings.schema.json"],
    ids=lambda path: path.stem,
)
def test_every_schema_that_is_no_meta_schema_is_valid(path: Path):
    Draft202012Validator.check_schema(read(path))


@pytest.mark.parametrize("path", sorted(SPEC.rglob("*.json")), ids=lambda path: path.relative_to(SPEC).as_posix())
def test_every_file_is_utf_8_and_ends_with_a_newline(path: Path):
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    assert "\t" not in text
    assert "\r" not in text


def test_every_file_has_a_kind():
    schemas = {*SPEC.glob("meta/*"), *SPEC.glob("server/results/*"), SPEC / "host/settings.schema.json"}
    assert sorted({*SPEC.rglob("*.json")} - {path for _, path in FILES} - schemas) == []


@pytest.mark.parametrize("kind", ["case", "script", "scenario", "host-scenario"])
def test_every_id_is_the_name_of_its_file(kind: str):
    paths = [path for found, path in FILES if found == kind]
    assert {path: read(path)["id"] for path in paths} == {path: path.stem for path in paths}


def test_the_ids_of_requirements_are_unique():
    ids = [requirement["id"] for requirement in REQUIREMENTS]
    assert sorted({name for name in ids if ids.count(name) > 1}) == []


@pytest.mark.parametrize(("profile", "least"), [("server", 100), ("host", 120)])
def test_a_profile_has_its_requirements(profile: str, least: int):
    assert sum(requirement["profile"] == profile for requirement in REQUIREMENTS) >= least


def test_the_ids_of_the_host_profile_say_so():
    assert [
        entry["id"] for entry in REQUIREMENTS if entry["id"].startswith("host-") != (entry["profile"] == "host")
    ] == []


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=named)
def test_the_level_is_the_only_keyword_of_the_sentence(requirement: Json):
    assert LEVEL.findall(requirement["sentence"]) == [requirement["level"]]


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=named)
def test_a_requirement_is_one_sentence(requirement: Json):
    assert re.findall(r"[.!?](?=\s+[A-Z`])", requirement["sentence"]) == []


def test_no_sentence_is_said_twice():
    sentences = [requirement["sentence"] for requirement in REQUIREMENTS]
    assert sorted({sentence for sentence in sentences if sentences.count(sentence) > 1}) == []


def cited(source: Json) -> bool:
    match source:
        case {"kind": "document", "document": document, "heading": heading}:
            return any(entry["id"] == document and heading in entry["headings"] for entry in SOURCES["documents"])
        case {"kind": "mcp", "revision": revision, "page": page}:
            return any(entry["revision"] == revision and page in entry["pages"] for entry in SOURCES["mcp"])
        case {"kind": "observed", "package": package, "version": version}:
            return any(entry["package"] == package and version in entry["versions"] for entry in SOURCES["packages"])
        case _:
            return source["kind"] == "decision"


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=named)
def test_a_requirement_cites_what_the_sources_list(requirement: Json):
    assert cited(requirement["source"])


def test_the_pages_of_the_sources_are_cited():
    pages = {(entry["revision"], page) for entry in SOURCES["mcp"] for page in entry["pages"]}
    sources = [requirement["source"] for requirement in REQUIREMENTS]
    assert pages == {(source["revision"], source["page"]) for source in sources if source["kind"] == "mcp"}


def test_the_revisions_of_the_manifest_are_sources():
    protocol = read(SPEC / "manifest.json")["protocol"]
    assert {entry["revision"] for entry in SOURCES["mcp"]} == {*protocol["handshake"], *protocol["stateless"]}


@pytest.mark.parametrize("path", [path for kind, path in FILES if kind == "vector"], ids=lambda path: path.stem)
def test_the_vectors_of_a_file_have_names_of_their_own_and_requirements_that_exist(path: Path):
    ids = [vector["id"] for vector in read(path)]
    assert sorted({name for name in ids if ids.count(name) > 1}) == []
    known = {requirement["id"] for requirement in REQUIREMENTS if requirement["profile"] == "host"}
    assert {name for vector in read(path) for name in vector["requirements"]} - known == set()


@pytest.mark.parametrize("path", [path for kind, path in FILES if kind == "vector"], ids=lambda path: path.stem)
def test_an_exception_expects_something_else_than_was_observed(path: Path):
    exceptions = [vector for vector in read(path) if "exception" in vector]
    assert [vector["id"] for vector in exceptions if vector["observed"]["output"] == vector["expected"]] == []


@pytest.mark.parametrize("kind", ["case", "scenario", "host-scenario"])
def test_every_requirement_that_a_file_names_exists(kind: str):
    known = {requirement["id"] for requirement in REQUIREMENTS}
    paths = [path for found, path in FILES if found == kind]
    assert {path.stem: unknown for path in paths if (unknown := set(read(path)["requirements"]) - known)} == {}


def test_every_script_that_a_scenario_names_exists():
    scripts = {path.stem for kind, path in FILES if kind == "script"}
    steps = [step for kind, path in FILES if kind == "scenario" for step in read(path)["steps"]]
    assert {step["script"] for step in steps if isinstance(step.get("script"), str)} <= scripts


def test_every_requirement_on_a_call_is_shown_by_a_case_or_a_scenario():
    shown = {name for kind, path in FILES if kind in ("case", "scenario") for name in read(path)["requirements"]}
    ids = [requirement["id"] for requirement in REQUIREMENTS if requirement["profile"] == "server"]
    assert {name for name in ids if name.partition(":")[0] in CALL_AREAS} - shown == set(NOT_A_CALL)


def test_the_examples_of_the_tool_specification_are_cases():
    examples = read(EXAMPLES)
    cases = {name: read(SPEC / f"server/cases/tool-spec-{name}.json") for name in examples}
    assert {name: cases[name]["call"] for name in ("chat", "chat-reply")} == {
        name: examples[name]["request"]["params"] for name in ("chat", "chat-reply")
    }
    assert {name: case["result"] for name, case in cases.items()} == {
        name: example["response"] for name, example in examples.items()
    }


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_call_that_runs_agrees_with_the_schema_of_its_tool(path: Path):
    case = written_out(read(path))
    if case["invocation"] is not None:
        schema = read(SPEC / f"server/tools/{case['call']['name']}.json")["inputSchema"]
        assert validator(schema).is_valid(case["call"]["arguments"])


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_has_an_outcome_when_it_has_an_invocation(path: Path):
    case = read(path)
    assert ("outcome" in case) == (case["invocation"] is not None)
    assert "listing" not in case or case["outcome"]["exit"] == 0


def steps_of(path: Path) -> list[Json]:
    """The steps of a scenario; a case is its only step."""
    document = written_out(read(path))
    return document.get("steps", [document])


@pytest.mark.parametrize("path", [*CASES, *SCENARIOS], ids=lambda path: path.stem)
def test_every_result_agrees_with_its_schema(path: Path):
    for result in [step["result"] for step in steps_of(path) if step.get("result") is not None]:
        schema = read(SPEC / f"server/results/{'error' if 'isError' in result else 'success'}.schema.json")
        assert [error.message for error in validator(schema).iter_errors(result)] == []


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_steps_of_a_scenario_refer_to_what_is_there(path: Path):
    steps = steps_of(path)
    named = [(number, step["id"]) for number, step in enumerate(steps) if "id" in step]
    assert len({name for _, name in named}) == len(named)
    for number, step in enumerate(steps):
        assert "cancel" not in step or step["cancel"] in {name for earlier, name in named if earlier < number}
        assert "release" not in step or {"release": step["release"]} in plays(steps[:number])


def plays(steps: list[Json]) -> list[Json]:
    """What the scripts do that stand in these steps themselves."""
    scripts = [step["script"] for step in steps if isinstance(step.get("script"), dict)]
    return [play for script in scripts for play in script["play"]]


@pytest.mark.parametrize("path", sorted(SPEC.glob("server/locales/*.json")), ids=lambda path: path.stem)
def test_a_locale_covers_the_tools_and_their_properties(path: Path):
    tools = [read(tool) for tool in SPEC.glob("server/tools/*.json")]
    locale = read(path)
    assert locale["locale"] == path.stem
    assert {name: set(texts["properties"]) for name, texts in locale["tools"].items()} == {
        tool["name"]: set(tool["inputSchema"]["properties"]) for tool in tools
    }


def test_every_tool_has_an_invocation_that_uses_its_properties():
    invocation = read(SPEC / "server/invocation.json")
    tools = [read(path) for path in SPEC.glob("server/tools/*.json")]
    assert {name: used(template, invocation["forms"]) for name, template in invocation["tools"].items()} == {
        tool["name"]: set(tool["inputSchema"]["properties"]) for tool in tools
    }


def used(template: Json, forms: Json) -> set[str]:
    """The arguments that the template of a command line names, those of the forms included."""
    return set(re.findall(r'"(?:argument|with|cwd)": "(\w+)"', json.dumps([template, forms])))


def test_the_property_keywords_of_a_tool_are_those_that_are_validated():
    tool = {"name": "t", "description": "d", "inputSchema": {"type": "object", "properties": {"p": {"type": "string"}}}}
    assert validator(META["tool"]).is_valid(tool)
    tool["inputSchema"] = {"type": "object", "properties": {"p": {"type": "string", "format": "uri"}}}
    assert not validator(META["tool"]).is_valid(tool)


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
