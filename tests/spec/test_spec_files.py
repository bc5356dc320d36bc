"""The files of `spec/` against their schemas and against each other. A rule that a schema cannot say is a test here."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pytest
from jsonschema import Draft202012Validator, ValidationError
from referencing import Registry, Resource

Json: TypeAlias = Any

SPEC = Path(__file__).parents[2] / "spec"

KINDS = {
    "manifest.json": "manifest",
    "sources.json": "sources",
    "requirements.json": "requirements",
    "server/tools/*.json": "tool",
    "server/locales/*.json": "locale",
    "server/invocation.json": "invocation",
    "server/outcome.json": "outcome",
    "server/cases/*.json": "case",
    "server/scripts/*.json": "script",
    "server/scenarios/*.json": "scenario",
}

LEVEL = re.compile(r"\b(MUST|SHOULD|MAY)\b")


def read(path: Path) -> Json:
    return json.loads(path.read_text(encoding="utf-8"))


META: Mapping[str, Json] = {path.name.removesuffix(".schema.json"): read(path) for path in SPEC.glob("meta/*.json")}
REGISTRY: Registry[Json] = Registry[Json]().with_resources(
    (schema["$id"], Resource[Json].from_contents(schema)) for schema in META.values()
)
FILES = [(kind, path) for pattern, kind in KINDS.items() for path in sorted(SPEC.glob(pattern))]
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


@pytest.mark.parametrize("path", sorted(SPEC.glob("server/results/*.schema.json")), ids=lambda path: path.stem)
def test_every_schema_of_a_result_is_valid(path: Path):
    Draft202012Validator.check_schema(read(path))


@pytest.mark.parametrize("path", sorted(SPEC.rglob("*.json")), ids=lambda path: path.relative_to(SPEC).as_posix())
def test_every_file_is_utf_8_and_ends_with_a_newline(path: Path):
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    assert "\t" not in text
    assert "\r" not in text


def test_every_file_has_a_kind():
    with_kind = {path for _, path in FILES} | set(SPEC.glob("meta/*")) | set(SPEC.glob("server/results/*"))
    assert sorted({path for path in SPEC.rglob("*.json") if SPEC / "host" not in path.parents} - with_kind) == []


@pytest.mark.parametrize("kind", ["case", "script", "scenario"])
def test_every_id_is_the_name_of_its_file(kind: str):
    paths = [path for found, path in FILES if found == kind]
    assert {path: read(path)["id"] for path in paths} == {path: path.stem for path in paths}


def test_the_ids_of_requirements_are_unique():
    ids = [requirement["id"] for requirement in REQUIREMENTS]
    assert sorted({name for name in ids if ids.count(name) > 1}) == []


def test_the_server_profile_has_its_requirements():
    assert sum(requirement["profile"] == "server" for requirement in REQUIREMENTS) >= 100


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


@pytest.mark.parametrize("kind", ["case", "scenario"])
def test_every_requirement_that_a_file_names_exists(kind: str):
    known = {requirement["id"] for requirement in REQUIREMENTS}
    paths = [path for found, path in FILES if found == kind]
    assert {path.stem: unknown for path in paths if (unknown := set(read(path)["requirements"]) - known)} == {}


def test_every_script_that_a_scenario_names_exists():
    scripts = {path.stem for kind, path in FILES if kind == "script"}
    steps = [step for kind, path in FILES if kind == "scenario" for step in read(path)["steps"]]
    assert {step["script"] for step in steps if isinstance(step.get("script"), str)} <= scripts


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
