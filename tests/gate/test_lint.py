"""Lint: every seeded mistake is named with its rule and its place."""

import json

import pytest
from editing import SPEC, Edit, Json, changed, deleted, document, replaced, requirement, small, without, written
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from gemini_mcp_spec.files.reader import read_directory
from gemini_mcp_spec.lint.complaint import located
from gemini_mcp_spec.lint.linter import RULES, lint
from gemini_mcp_spec.report.complaints import FORMATS
from gemini_mcp_spec.schema.validation import schema_violation

REQUIREMENTS = "requirements.json"
CHAT, REPLY = "server/tools/chat.json", "server/tools/chat-reply.json"
CASE, SCENARIO = "server/cases/chat-model.json", "server/scenarios/cancel.json"
INVOCATION, OUTCOME, KO = "server/invocation.json", "server/outcome.json", "server/locales/ko.json"
VECTORS, META = "host/vectors/tool-filter.json", "meta/case.schema.json"
FIRST = ["requirements", 0]
ENTRIES: list[Json] = document(REQUIREMENTS)["requirements"]
FROZEN: Json = {"version": "1.0.0", "requirements": ENTRIES}
INITIALIZE, DASH = requirement("lifecycle:initialize"), requirement("prompt:verbatim:dash")
DECISION = requirement("rpc:error:parse")

MISTAKES: dict[str, tuple[str, str, Edit]] = {
    "a file is no JSON": ("json", CHAT, replaced(CHAT, '"name":', '"name"')),
    "a key is there twice": ("json", CHAT, replaced(CHAT, '"name":', '"title": "Chat",\n  "name":')),
    "a file has tabs": ("text", CHAT, replaced(CHAT, "  ", "\t")),
    "a file has no last newline": ("text", CHAT, Edit(CHAT, lambda content: content.rstrip())),
    "a file is no UTF-8": ("text", KO, Edit(KO, lambda content: content.decode().encode("cp949"))),
    "a needed file is missing": ("file-missing", "server/outcome.json", deleted("server/outcome.json")),
    "a file has no kind": ("file-kind", "server/notes.json", written("server/notes.json", {})),
    "a kind has no schema": ("file-kind", CASE, deleted(META)),
    "a file is named otherwise": ("file-name", CASE, changed(CASE, ["id"], "chat-other")),
    "a schema has another id": (
        "file-name",
        "meta/case.schema.json",
        changed("meta/case.schema.json", ["$id"], "urn:x"),
    ),
    "the manifest lists a file that is not there": (
        "manifest-files",
        "manifest.json",
        changed("manifest.json", ["files"], [*small().files, "server/cases/none.json"]),
    ),
    "a schema is none": ("schema-valid", CHAT, changed(CHAT, ["inputSchema", "properties", "cwd", "type"], "text")),
    "a key is misspelt": ("meta-schema", CASE, changed(CASE, ["tittle"], "A case.")),
    "a level is unknown": ("meta-schema", REQUIREMENTS, changed(REQUIREMENTS, [*FIRST, "profile"], "client")),
    "an id has capitals": ("id-form", REQUIREMENTS, changed(REQUIREMENTS, [*FIRST, "id"], "Identity:Name")),
    "an id denies its profile": ("id-profile", REQUIREMENTS, changed(REQUIREMENTS, [*FIRST, "id"], "host-name:kind")),
    "an id is there twice": (
        "id-unique",
        REQUIREMENTS,
        changed(REQUIREMENTS, ["requirements", 1, "id"], "identity:name"),
    ),
    "a removed id returns": (
        "id-removed",
        REQUIREMENTS,
        changed(REQUIREMENTS, ["removed"], [{"id": "identity:name", "version": "1.0.0"}]),
    ),
    "the level is not the keyword": ("level-keyword", REQUIREMENTS, changed(REQUIREMENTS, [*FIRST, "level"], "SHOULD")),
    "a sentence has two keywords": (
        "level-keyword",
        REQUIREMENTS,
        changed(REQUIREMENTS, [*FIRST, "sentence"], "The server MUST report its name and MAY report more."),
    ),
    "a requirement is two sentences": (
        "one-sentence",
        REQUIREMENTS,
        changed(REQUIREMENTS, [*FIRST, "sentence"], "The server MUST report a name. It is short."),
    ),
    "a requirement is younger than the specification": (
        "since-version",
        REQUIREMENTS,
        changed(REQUIREMENTS, [*FIRST, "since"], "1.1.0"),
    ),
    "a document is unknown": (
        "source-exists",
        REQUIREMENTS,
        changed(REQUIREMENTS, [*FIRST, "source", "document"], "another-spec"),
    ),
    "a heading is unknown": (
        "source-exists",
        REQUIREMENTS,
        changed(REQUIREMENTS, [*FIRST, "source", "heading"], "Overviews"),
    ),
    "a page is unknown": (
        "source-exists",
        REQUIREMENTS,
        changed(REQUIREMENTS, ["requirements", INITIALIZE, "source", "page"], "basic/lifecycles"),
    ),
    "a version was never observed": (
        "source-exists",
        REQUIREMENTS,
        changed(REQUIREMENTS, ["requirements", DASH, "source", "version"], "0.99.0"),
    ),
    "a decision has no reason": (
        "source-exists",
        REQUIREMENTS,
        changed(REQUIREMENTS, ["requirements", DECISION, "source", "reason"], " "),
    ),
    "a page is cited by nobody": (
        "source-cited",
        "sources.json",
        changed("sources.json", ["mcp", 0, "pages", 1], "basic/nothing"),
    ),
    "a case names no requirement": (
        "requirement-unknown",
        CASE,
        changed(CASE, ["requirements", 0], "command:chat:none"),
    ),
    "a vector names a requirement of the other profile": (
        "requirement-unknown",
        VECTORS,
        changed(VECTORS, [0, "requirements"], ["identity:name"]),
    ),
    "a vector names no requirement": (
        "requirement-unknown",
        VECTORS,
        changed(VECTORS, [0, "requirements"], ["host-tools:none"]),
    ),
    "a frozen id is lost": (
        "frozen-set",
        "released/1.0.0.json",
        written(
            "released/1.0.0.json",
            {**FROZEN, "requirements": [*ENTRIES, {**ENTRIES[0], "id": "identity:gone"}]},
        ),
    ),
    "a requirement claims to be older than the frozen list": (
        "frozen-set",
        "released/1.0.0.json",
        written("released/1.0.0.json", {**FROZEN, "requirements": ENTRIES[1:]}),
    ),
    "a required argument is not described": (
        "tool-required",
        CHAT,
        changed(CHAT, ["inputSchema", "required", 1], "none"),
    ),
    "a default is not valid": (
        "tool-example",
        CHAT,
        changed(CHAT, ["inputSchema", "properties", "model", "default"], 5),
    ),
    "a locale lacks an argument": ("locale-coverage", KO, without(KO, ["tools", "chat", "properties", "cwd"])),
    "a locale has an argument more": (
        "locale-coverage",
        KO,
        changed(KO, ["tools", "chat", "properties", "more"], "더"),
    ),
    "a tool has no template": ("template-tool", INVOCATION, without(INVOCATION, ["tools", "chat"])),
    "a template names no argument": (
        "template-argument",
        INVOCATION,
        changed(INVOCATION, ["tools", "chat", "cwd"], "folder"),
    ),
    "a template leaves an argument out": (
        "template-argument",
        CHAT,
        changed(CHAT, ["inputSchema", "properties", "extra"], {"type": "string"}),
    ),
    "a template names no form": (
        "template-name",
        INVOCATION,
        changed(INVOCATION, ["tools", "chat", "argv", 0], {"form": "promt"}),
    ),
    "a variable names no file": (
        "template-name",
        INVOCATION,
        changed(INVOCATION, ["tools", "chat", "env", "GEMINI_SYSTEM_MD"], {"file": "OTHER.md"}),
    ),
    "a rule names no refusal": (
        "template-name",
        INVOCATION,
        changed(INVOCATION, ["arguments", "model", "refuse", 0], "optionlike"),
    ),
    "a sentence is there twice": (
        "sentence-reached",
        OUTCOME,
        changed(OUTCOME, ["sentences", 1, "id"], "argument-missing"),
    ),
    "a sentence is never reached": (
        "sentence-reached",
        OUTCOME,
        changed(
            OUTCOME, ["sentences", len(document(OUTCOME)["sentences"])], {"id": "late", "when": "exit", "sentence": "a"}
        ),
    ),
    "a field has no name": (
        "sentence-fields",
        OUTCOME,
        changed(OUTCOME, ["sentences", 0, "sentence"], "`{argument is missing."),
    ),
    "a case calls no tool": ("call-tool", CASE, changed(CASE, ["call", "name"], "talk")),
    "a case sends a number for a text": ("call-arguments", CASE, changed(CASE, ["call", "arguments", "model"], 3)),
    "a scenario leaves the prompt out": (
        "call-arguments",
        SCENARIO,
        without(SCENARIO, ["steps", 0, "call", "arguments", "prompt"]),
    ),
    "an error lacks its prefix": (
        "call-result",
        CASE,
        changed(CASE, ["result"], {"content": [{"type": "text", "text": "no"}], "isError": True}),
    ),
    "a scenario names no script": ("script-exists", SCENARIO, changed(SCENARIO, ["steps", 0, "script"], "none")),
    "a script has an unknown step": (
        "script-plays",
        "server/scripts/success.json",
        changed("server/scripts/success.json", ["play", 0], {"shout": "text"}),
    ),
    "a case has no outcome": ("case-outcome", CASE, without(CASE, ["outcome"])),
    "a listing follows a failure": (
        "case-outcome",
        CASE,
        Edit(
            CASE,
            lambda content: content.replace(b'"exit": 0', b'"exit": 1').replace(
                b'"outcome"', b'"listing": {}, "outcome"'
            ),
        ),
    ),
    "bytes of a script are no Base64": (
        "script-plays",
        "server/scripts/success.json",
        changed("server/scripts/success.json", ["play", 0], {"stdoutBase64": "a"}),
    ),
    "a step cancels nothing": ("step-name", SCENARIO, changed(SCENARIO, ["steps", 1], {"cancel": "nobody"})),
    "a step releases nothing": ("step-name", SCENARIO, changed(SCENARIO, ["steps", 1], {"release": "nobody"})),
    "a vector is there twice": ("vector-id", VECTORS, changed(VECTORS, [1, "id"], document(VECTORS)[0]["id"])),
    "an exception expects what was observed": (
        "vector-exception",
        VECTORS,
        changed(
            VECTORS,
            [0],
            {
                **document(VECTORS)[0],
                "exception": "It differs.",
                "observed": {"version": "a 1", "output": document(VECTORS)[0]["expected"]},
            },
        ),
    ),
    "a vector has no known profile": ("profile-known", VECTORS, changed(VECTORS, [0, "profile"], "newest")),
}


def test_what_the_mistakes_are_seeded_in_has_none() -> None:
    assert lint(small()) == []


@pytest.mark.parametrize(("rule", "file", "edit"), MISTAKES.values(), ids=list(MISTAKES))
def test_a_seeded_mistake_is_named(rule: str, file: str, edit: Edit) -> None:
    assert (rule, file) in {(complaint.rule, complaint.file) for complaint in lint(edit.of(small()))}


def test_every_rule_has_a_seeded_mistake() -> None:
    assert {rule for rule, _, _ in MISTAKES.values()} == set(RULES)


def test_a_complaint_stands_where_the_mistake_is() -> None:
    spec = changed(REQUIREMENTS, [*FIRST, "level"], "SHOULD").of(small())
    found = next(found for found in located(spec, lint(spec)) if found.complaint.rule == "level-keyword")
    line = spec.files[REQUIREMENTS].decode().splitlines()[found.line - 1]
    assert line[found.column - 1 :].startswith('"The server MUST report')


def test_a_syntax_error_does_not_hide_the_mistakes_of_other_files() -> None:
    spec = replaced(CHAT, '"name":', '"name"').of(changed(CASE, ["id"], "chat-other").of(small()))
    assert {"json", "file-name"} <= {complaint.rule for complaint in lint(spec)}


def test_a_missing_key_is_complained_of_once() -> None:
    spec = changed(REQUIREMENTS, [*FIRST, "id"], "Identity:Name").of(small())
    places = [(complaint.file, complaint.path) for complaint in lint(spec) if complaint.path == (*FIRST, "id")]
    assert places == [(REQUIREMENTS, (*FIRST, "id"))]


@pytest.mark.parametrize("document", [None, True, 3, "text", [], {}, [[]], {"requirements": {}}, {"tools": []}])
@pytest.mark.parametrize(
    "file", [REQUIREMENTS, CHAT, CASE, INVOCATION, OUTCOME, KO, VECTORS, "manifest.json", "sources.json"]
)
def test_a_file_of_any_shape_ends_in_complaints(file: str, document: object) -> None:
    assert written(file, document).of(small()).files == small().files or lint(written(file, document).of(small()))


def test_annotations_escape_what_would_end_them() -> None:
    spec = changed(REQUIREMENTS, [*FIRST, "id"], "a\n::error::b").of(small())
    lines = FORMATS["github"](list(located(spec, lint(spec)))).splitlines()
    assert all(line.startswith("::error file=") and line.count("::error") <= 2 for line in lines)


def test_sarif_names_the_rule_and_the_place() -> None:
    spec = changed(CASE, ["id"], "chat-other").of(small())
    run = json.loads(FORMATS["sarif"](list(located(spec, lint(spec)))))["runs"][0]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert run["results"][0]["ruleId"] == "file-name"
    assert place["artifactLocation"]["uri"].endswith(CASE)
    assert place["region"] == {"startLine": 2, "startColumn": 9}
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == set(RULES)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "text"},
        {"required": "a"},
        {"properties": {"a": {"minLength": -1}}},
        {"anyOf": []},
        {"items": [True]},
        {"$defs": {"a": 3}},
        {"pattern": "("},
        {"$ref": 1},
    ],
)
def test_what_the_published_meta_schema_refuses_is_refused(schema: Json) -> None:
    assert schema_violation(schema) is not None
    with pytest.raises(SchemaError):
        Draft202012Validator.check_schema(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


@pytest.mark.parametrize("file", sorted(read_directory(SPEC).folder("meta")))
def test_what_the_published_meta_schema_accepts_is_accepted(file: str) -> None:
    schema = read_directory(SPEC).documents[file]
    Draft202012Validator.check_schema(schema)
    assert schema_violation(schema) is None
