"""Lint: every seeded mistake is named with its rule and its place."""

import json
import re

import pytest
from editing import SPEC, Edit, Json, changed, deleted, document, replaced, requirement, small, without, written
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from gemini_mcp.schema.validation import by_id, schema_violation
from gemini_mcp_spec.files.reader import read_directory
from gemini_mcp_spec.lint.complaint import located
from gemini_mcp_spec.lint.linter import RULES, lint
from gemini_mcp_spec.report.complaints import FORMATS

REQUIREMENTS, MANIFEST = "requirements.json", "manifest.json"
CHAT, KO, META = "server/tools/chat.json", "server/locales/ko.json", "meta/case.schema.json"
STREAM = "server/streams/tool.json"
CASE, SCENARIO, SCRIPT = "server/cases/chat-model.json", "server/scenarios/cancel.json", "server/scripts/success.json"
UNSIGNED, NO_PROMPT = "server/cases/exit-41.json", "server/cases/arguments-missing.json"
INVOCATION, OUTCOME, VECTORS = "server/invocation.json", "server/outcome.json", "host/vectors/tool-filter.json"
PROPERTIES = ["inputSchema", "properties"]
FIRST = ["requirements", 0]
ENTRIES: list[Json] = document(REQUIREMENTS)["requirements"]
DOCUMENT: Json = ENTRIES[0]["source"]
VECTOR: Json = document(VECTORS)[0]
QUOTED = re.compile(r"(?<!\w)'[^']*'(?!\w)")
SENTENCES = len(document(OUTCOME)["sentences"])
INITIALIZE, DASH, DECISION = (
    ["requirements", requirement(name)] for name in ("lifecycle:initialize", "prompt:verbatim:dash", "rpc:error:parse")
)


def first(key: str, value: Json) -> Edit:
    """The first requirement says something else under `key`."""
    return changed(REQUIREMENTS, [*FIRST, key], value)


def frozen(entries: list[Json]) -> Edit:
    """The released list holds these requirements."""
    return written("released/1.0.0.json", {"version": "1.0.0", "requirements": entries})


def schema(value: Json) -> Edit:
    """The schema of an argument is another."""
    return changed(CHAT, [*PROPERTIES, "cwd"], value)


MISTAKES: dict[str, tuple[str, Edit]] = {
    "a file is no JSON": ("json", replaced(CHAT, '"name":', '"name"')),
    "a key is there twice": ("json", replaced(CHAT, '"name":', '"title": "Chat",\n  "name":')),
    "a file has tabs": ("text", replaced(CHAT, "  ", "\t")),
    "a file has no last newline": ("text", Edit(CHAT, lambda content: content.rstrip())),
    "a file is no UTF-8": ("text", Edit(KO, lambda content: content.decode().encode("cp949"))),
    "a needed file is missing": ("file-missing", deleted(OUTCOME)),
    "the requirements are missing": ("file-missing", deleted(REQUIREMENTS)),
    "a file has no kind": ("file-kind", written("server/notes.json", {})),
    "a file is named otherwise": ("file-name", changed(CASE, ["id"], "chat-other")),
    "a schema has another id": ("file-name", changed(META, ["$id"], "urn:gemini-mcp:meta:other")),
    "the manifest lists what is not there": ("manifest-files", changed(MANIFEST, ["files"], [*small().files, "a"])),
    "a schema is none": ("schema-valid", changed(CHAT, [*PROPERTIES, "cwd", "type"], "text")),
    "a reference leads out": ("schema-reference", schema({"$ref": "http://127.0.0.1:9/a.json"})),
    "a reference names a file": ("schema-reference", schema({"$ref": "file:///etc/passwd"})),
    "a reference leads nowhere": ("schema-reference", schema({"$ref": "#/$defs/a"})),
    "a reference leads to itself": ("schema-reference", schema({"$ref": "#/properties/cwd"})),
    "a rule is misspelt": ("gate-rule", written("gate.json", {"severities": {"tool-descriptoin": "notice"}})),
    "an exception is of no rule": (
        "gate-rule",
        written("gate.json", {"exceptions": [{"rule": "nothing", "file": "*", "reason": "Nobody asked."}]}),
    ),
    "what is deprecated is not there": (
        "gate-deprecated",
        written("gate.json", {"deprecated": [{"tool": "chat", "argument": "seed", "until": "2.0.0"}]}),
    ),
    "a key is misspelt": ("meta-schema", changed(CASE, ["tittle"], "A case.")),
    "others may read files": ("meta-schema", changed(INVOCATION, ["temporary", "fileMode"], "0640")),
    "nothing is inherited": ("meta-schema", changed(INVOCATION, ["environment", "inherit"], False)),
    "a level is unknown": ("meta-schema", first("profile", "client")),
    "an id has capitals": ("id-form", first("id", "Identity:Name")),
    "an id denies its profile": ("id-profile", first("id", "host-name:kind")),
    "an id is there twice": ("id-unique", changed(REQUIREMENTS, ["requirements", 1, "id"], "identity:name")),
    "two ids are one": ("id-apart", first("id", "command:chat:model")),
    "a removed id returns": (
        "id-removed",
        changed(REQUIREMENTS, ["removed"], [{"id": "identity:name", "version": "1.0.0"}]),
    ),
    "the level is not the keyword": ("level-keyword", first("level", "SHOULD")),
    "a sentence has two keywords": ("level-keyword", first("sentence", "It MUST report its name and MAY report more.")),
    "a requirement is two sentences": ("one-sentence", first("sentence", "It MUST report a name. It is short.")),
    "a requirement is younger than the specification": ("since-version", first("since", "1.1.0")),
    "a requirement claims to be younger than the frozen list": (
        "frozen-set",
        changed(REQUIREMENTS, [*FIRST, "since"], "1.0.1"),
    ),
    "a placeholder is misspelt": ("placeholder-known", first("sentence", "The server MUST report `{sevrer}`.")),
    "a document is unknown": ("source-exists", first("source", {**DOCUMENT, "document": "another-spec"})),
    "a heading is unknown": ("source-exists", first("source", {**DOCUMENT, "heading": "Overviews"})),
    "a page is unknown": ("source-exists", changed(REQUIREMENTS, [*INITIALIZE, "source", "page"], "basic/lifecycles")),
    "a version was never observed": ("source-exists", changed(REQUIREMENTS, [*DASH, "source", "version"], "0.99.0")),
    "a decision has no reason": ("source-exists", changed(REQUIREMENTS, [*DECISION, "source", "reason"], " ")),
    "a page is cited by nobody": ("source-cited", changed("sources.json", ["mcp", 0, "pages", 1], "basic/nothing")),
    "a case names no requirement": ("requirement-unknown", changed(CASE, ["requirements", 0], "command:chat:none")),
    "a vector names no requirement": (
        "requirement-unknown",
        changed(VECTORS, [0, "requirements"], ["host-tools:none"]),
    ),
    "a vector names a requirement of the other profile": (
        "requirement-unknown",
        changed(VECTORS, [0, "requirements"], ["identity:name"]),
    ),
    "a frozen id is lost": ("frozen-set", frozen([*ENTRIES, {**ENTRIES[0], "id": "identity:gone"}])),
    "a requirement claims to be older than the frozen list": ("frozen-set", frozen(ENTRIES[1:])),
    "a required argument is not described": ("tool-required", changed(CHAT, ["inputSchema", "required", 1], "none")),
    "a default is not valid": ("tool-example", changed(CHAT, [*PROPERTIES, "model", "default"], 5)),
    "a locale lacks an argument": ("locale-coverage", without(KO, ["tools", "chat", "properties", "cwd"])),
    "a locale has an argument more": ("locale-coverage", changed(KO, ["tools", "chat", "properties", "more"], "더")),
    "a tool has no template": ("template-tool", without(INVOCATION, ["tools", "chat"])),
    "a template names no argument": ("template-argument", changed(INVOCATION, ["tools", "chat", "cwd"], "folder")),
    "a template leaves an argument out": (
        "template-argument",
        changed(CHAT, [*PROPERTIES, "extra"], {"type": "string"}),
    ),
    "a template resumes what it does not hand over": (
        "template-resumes",
        changed(INVOCATION, ["tools", "chat-reply", "resumes", "default"], "1"),
    ),
    "a prompt in a form is a number": ("template-type", changed(CHAT, [*PROPERTIES, "prompt", "type"], "integer")),
    "a template names no form": ("template-name", changed(INVOCATION, ["tools", "chat", "argv", 0], {"form": "promt"})),
    "a variable names no file": (
        "template-name",
        changed(INVOCATION, ["tools", "chat", "env", "GEMINI_SYSTEM_MD"], {"file": "OTHER.md"}),
    ),
    "a rule names no refusal": (
        "template-name",
        changed(INVOCATION, ["arguments", "model", "refuse", 0], "optionlike"),
    ),
    "a text is asked for": ("output-format", replaced(INVOCATION, '"--output-format",', '"-o", "text", "--debug",')),
    "no format is asked for": ("output-format", changed(INVOCATION, ["tools", "chat", "argv"], [{"form": "prompt"}])),
    "a form hands a dash over behind a flag": (
        "value-option",
        changed(INVOCATION, ["forms", "prompt", 1, "argv"], ["-p", {"argument": "prompt"}]),
    ),
    "a form forgets dashes": ("value-option", replaced(INVOCATION, '"^-|^(?:mcp', '"^(?:mcp')),
    "a form forgets a command": ("value-option", replaced(INVOCATION, "|help|", "|")),
    "a form hands a long option over": (
        "value-option",
        changed(INVOCATION, ["forms", "prompt", 0], {"title": "a", "longerThan": 9, "argv": [{"argument": "prompt"}]}),
    ),
    "a session may be an option": ("value-option", changed(INVOCATION, ["arguments", "sessionId"], {"absent": "^$"})),
    "a model may be an option": (
        "value-option",
        changed(INVOCATION, ["arguments", "model", "refuse"], ["control-character"]),
    ),
    "a value names an option": (
        "value-option",
        changed(INVOCATION, ["tools", "chat", "argv", 3, "argv"], [{"join": ["--m", {"argument": "model"}]}]),
    ),
    "two values have one key": ("key-apart", changed(OUTCOME, ["meta", "warnings"], "sessionId")),
    "a file lies outside its directory": (
        "meta-schema",
        replaced(INVOCATION, '"files": { "SYSTEM.md"', '"files": { "../SYSTEM.md"'),
    ),
    "an element is longer than the system takes": (
        "meta-schema",
        changed(INVOCATION, ["forms", "prompt", 0, "longerThan"], 200_000),
    ),
    "a command line holds a NUL": ("meta-schema", changed(INVOCATION, ["tools", "chat", "argv", 1], "--output\u0000")),
    "a sentence is there twice": ("sentence-reached", changed(OUTCOME, ["sentences", 1, "id"], "argument-missing")),
    "a sentence is never reached": (
        "sentence-reached",
        changed(OUTCOME, ["sentences", SENTENCES], {"id": "late", "when": "exit", "sentence": "a"}),
    ),
    "a kind of failure has no sentence": (
        "sentence-missing",
        changed(OUTCOME, ["sentences", SENTENCES - 1, "exit"], [60]),
    ),
    "a field has no name": (
        "sentence-fields",
        changed(OUTCOME, ["sentences", 0, "sentence"], "`{argument is missing."),
    ),
    "a sentence does not tell which argument is missing": (
        "sentence-says",
        changed(OUTCOME, ["sentences", 0, "sentence"], "An argument is missing."),
    ),
    "what gemini says is not told": ("sentence-says", changed(OUTCOME, ["said"], " Gemini CLI complains.")),
    "the separator is a part of the prefix": ("separator-apart", changed(OUTCOME, ["separator"], ": ")),
    "a case calls no tool": ("call-tool", changed(CASE, ["call", "name"], "talk")),
    "a case sends a number for a text": ("call-arguments", changed(CASE, ["call", "arguments", "model"], 3)),
    "a scenario leaves the prompt out": (
        "call-arguments",
        without(SCENARIO, ["steps", 0, "call", "arguments", "prompt"]),
    ),
    "an error lacks its prefix": (
        "call-result",
        changed(CASE, ["result"], {"content": [{"type": "text", "text": "no"}], "isError": True}),
    ),
    "a case expects another command line": (
        "example-contradicts",
        changed(CASE, ["invocation", "argv", 1], "Hello"),
    ),
    "a case expects another directory": ("example-contradicts", changed(CASE, ["invocation", "cwd"], "/srv")),
    "a case expects another text": ("example-contradicts", changed(CASE, ["result", "content", 0, "text"], "Rome.")),
    "a case asks for a list that nobody needs": (
        "example-contradicts",
        changed(CASE, ["listing"], {"exit": 0, "stdout": "", "stderr": ""}),
    ),
    "a case expects another code": (
        "example-contradicts",
        written(CASE, {**document(CASE), "call": {"name": "talk"}, "invocation": None, "error": {"code": -32600}}),
    ),
    "a scenario expects another text": (
        "example-contradicts",
        changed(SCENARIO, ["steps", 2, "result", "content", 0, "text"], "Rome."),
    ),
    "two cases contradict each other": (
        "example-twice",
        written("server/cases/chat-other.json", {**document(CASE), "id": "chat-other", "result": {"content": []}}),
    ),
    "a case shows a requirement on another tool": (
        "example-requirement",
        changed(CASE, ["requirements", 1], "command:chat-reply:model"),
    ),
    "a case shows a requirement on another exit code": (
        "example-requirement",
        changed(UNSIGNED, ["outcome", "exit"], 42),
    ),
    **{
        f"JavaScript does not read {pattern}": (
            "pattern-readable",
            changed(INVOCATION, ["refusals", "option-like", "pattern"], pattern),
        )
        for pattern in ("(?P<dash>-)", "\\A-", "a\\-b", "(?#dash)-", "-++", "a{,3}", "(-)(?(1)a)", "[]-]", "x(?i)-")
    },
    "JavaScript does not read a mask": ("pattern-readable", changed(OUTCOME, ["stderr", "masks", 0], "AIza\\Z")),
    "JavaScript does not read an argument's pattern": (
        "pattern-readable",
        changed(CHAT, [*PROPERTIES, "model", "pattern"], "\\Agemini"),
    ),
    "a case has no outcome": ("case-outcome", without(CASE, ["outcome"])),
    "a listing follows a failure": (
        "case-outcome",
        written(CASE, {**document(CASE), "outcome": {"exit": 1}, "listing": {"exit": 0}}),
    ),
    "a scenario names no script": ("script-exists", changed(SCENARIO, ["steps", 0, "script"], "none")),
    "a script has an unknown step": ("script-plays", changed(SCRIPT, ["play", 0], {"shout": "text"})),
    "bytes of a script are no Base64": ("script-plays", changed(SCRIPT, ["play", 0], {"stdoutBase64": "a"})),
    "a step cancels nothing": ("step-name", changed(SCENARIO, ["steps", 1], {"cancel": "nobody"})),
    "a step releases nothing": ("step-name", changed(SCENARIO, ["steps", 1], {"release": "nobody"})),
    "a stream tells another answer": (
        "stream-contradicts",
        changed(STREAM, ["plain", "stdout"], '{"session_id": "a", "response": "Lyon."}'),
    ),
    "an event is told with a key that its lines lack": (
        "stream-contradicts",
        changed("server/live.json", ["events", 4, "value"], "name"),
    ),
    "a script that hangs gives a result": ("example-contradicts", changed(SCENARIO, ["steps", 0, "result"], {})),
    "a vector is there twice": ("vector-id", changed(VECTORS, [1, "id"], VECTOR["id"])),
    "an exception expects what was observed": (
        "vector-exception",
        changed(
            VECTORS, [0], {**VECTOR, "exception": "a", "observed": {"version": "a 1", "output": VECTOR["expected"]}}
        ),
    ),
    "a vector has no known profile": ("profile-known", changed(VECTORS, [0, "profile"], "newest")),
}


def test_what_the_mistakes_are_seeded_in_has_none() -> None:
    assert lint(small()) == []


LEFT_BEHIND: dict[str, tuple[Edit, str]] = {
    "a prefix leaves cases behind": (
        replaced(OUTCOME, "Error executing gemini", "gemini"),
        UNSIGNED,
    ),
    "a flag leaves cases behind": (replaced(INVOCATION, '"-m", {', '"--model", {'), CASE),
    "a sentence leaves cases behind": (
        replaced(OUTCOME, "gemini is not signed in", "Nobody is signed in"),
        UNSIGNED,
    ),
    "a key leaves cases behind": (replaced(OUTCOME, '"sessionId"', '"session"'), SCENARIO),
    "the prompt may be left out": (changed(CHAT, ["inputSchema", "required"], []), NO_PROMPT),
    "a script prints what no scenario expects": (
        changed(SCRIPT, ["play", 1], {"stdout": "{}"}),
        SCENARIO,
    ),
}
"""Edits of one file that leave another behind, which contradicts it then."""


@pytest.mark.parametrize(("rule", "edit"), MISTAKES.values(), ids=list(MISTAKES))
def test_a_seeded_mistake_is_named_in_its_file_and_in_no_quotes_of_python(rule: str, edit: Edit) -> None:
    found = lint(edit.of(small()))
    assert (rule, edit.file) in {(complaint.rule, complaint.file) for complaint in found}
    assert [text for one in found for text in (one.message, one.fix) if QUOTED.search(text)] == []


@pytest.mark.parametrize(("edit", "file"), LEFT_BEHIND.values(), ids=list(LEFT_BEHIND))
def test_what_an_edit_leaves_behind_is_named_with_the_file_that_it_contradicts(edit: Edit, file: str) -> None:
    found = [one.message for one in lint(edit.of(small())) if (one.rule, one.file) == ("example-contradicts", file)]
    assert any(one in message for message in found for one in (INVOCATION, OUTCOME))


def test_a_call_that_its_schema_forbids_contradicts_the_tool() -> None:
    found = lint(changed(CHAT, ["inputSchema", "properties", "model", "maxLength"], 3).of(small()))
    messages = [one.message for one in found if (one.rule, one.file) == ("example-contradicts", CASE)]
    assert [message.startswith(f"`{CHAT}` makes nothing of it") for message in messages] == [True]


@pytest.mark.parametrize(
    ("keywords", "is_refused"),
    [
        ({}, True),
        ({"minLength": 90}, True),
        ({"pattern": "^[-a-z]+$"}, True),
        ({"enum": ["pro", "--of-no-list"]}, True),
        ({"pattern": "^[a-z]"}, False),
        ({"enum": ["pro", "flash"]}, False),
    ],
)
def test_a_text_behind_a_flag_is_kept_from_being_an_option_by_its_schema(keywords: Json, is_refused: bool) -> None:
    spec = changed(INVOCATION, ["arguments", "model"], {}).of(small())
    for file in (CHAT, "server/tools/chat-reply.json"):
        spec = changed(file, [*PROPERTIES, "model"], {"type": "string", **keywords}).of(spec)
    assert any(one.rule == "value-option" for one in lint(spec)) == is_refused


@pytest.mark.parametrize(
    ("declared", "rules"),
    [
        ({"type": ["string", "null"], "pattern": "^[a-z]"}, set[str]()),
        ({"type": ["null", "integer"], "multipleOf": 5, "minimum": 0}, set[str]()),
        ({"type": ["string", "null"]}, {"value-option"}),
        ({"type": "array", "items": {"type": "string", "pattern": "^[a-z]"}, "maxItems": 3}, set[str]()),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, {"value-option"}),
        ({"type": ["string", "integer"]}, {"meta-schema"}),
        ({"type": "number", "multipleOf": 0}, {"schema-valid"}),
    ],
)
def test_what_a_schema_says_of_a_value_is_known(declared: Json, rules: set[str]) -> None:
    spec = changed(CHAT, [*PROPERTIES, "mood"], declared).of(small())
    spec = changed(KO, ["tools", "chat", "properties", "mood"], "mood").of(spec)
    argv = document(INVOCATION)["tools"]["chat"]["argv"]
    line = [*argv, {"with": "mood", "argv": ["--policy", {"argument": "mood"}]}]
    found = {one.rule for one in lint(changed(INVOCATION, ["tools", "chat", "argv"], line).of(spec))}
    assert found >= rules
    assert rules or not found


@pytest.mark.parametrize("kind", [["string", "null"], ["null", "array"]])
def test_a_directory_may_be_null_and_no_list(kind: Json) -> None:
    found = lint(changed(CHAT, [*PROPERTIES, "cwd", "type"], kind).of(small()))
    assert [one.rule for one in found] == (["template-type"] if "array" in kind else [])


@pytest.mark.parametrize(
    ("elements", "limits", "is_refused"),
    [
        (["--heat", {"argument": "heat"}], {}, False),
        (["--policy", {"argument": "heat"}], {}, True),
        (["--policy", {"argument": "heat"}], {"minimum": 0}, False),
        ([{"join": ["--policy=", {"argument": "heat"}]}], {}, False),
    ],
)
def test_a_number_with_an_exponent_may_be_an_option_behind_a_flag_with_several_values(
    elements: Json, limits: Json, is_refused: bool
) -> None:
    spec = changed(CHAT, [*PROPERTIES, "heat"], {"type": "number", **limits}).of(small())
    spec = changed(KO, ["tools", "chat", "properties", "heat"], "heat").of(spec)
    argv = document(INVOCATION)["tools"]["chat"]["argv"]
    line = [*argv, {"with": "heat", "argv": elements}]
    found = lint(changed(INVOCATION, ["tools", "chat", "argv"], line).of(spec))
    assert {one.rule for one in found} == ({"value-option"} if is_refused else set())


def test_an_entry_that_cannot_be_filled_in_makes_no_other_one_unreadable() -> None:
    entries = document(REQUIREMENTS)["requirements"]
    family = next(index for index, entry in enumerate(entries) if entry.get("for") == "required-argument")
    found = lint(without(REQUIREMENTS, ["requirements", family, "for"]).of(small()))
    assert [one.path for one in found if one.rule == "placeholder-known"] == [("requirements", family, "sentence")]


def test_a_kind_without_a_schema_is_named_in_the_files_of_that_kind() -> None:
    assert ("file-kind", CASE) in {(complaint.rule, complaint.file) for complaint in lint(deleted(META).of(small()))}


def test_every_rule_has_a_seeded_mistake() -> None:
    assert {rule for rule, _ in MISTAKES.values()} == set(RULES)


def test_a_complaint_stands_where_the_mistake_is() -> None:
    spec = changed(REQUIREMENTS, [*FIRST, "level"], "SHOULD").of(small())
    found = next(found for found in located(spec, lint(spec)) if found.complaint.rule == "level-keyword")
    line = spec.files[REQUIREMENTS].decode().splitlines()[found.line - 1]
    assert line[found.column - 1 :].startswith('"The server MUST report')


UNREADABLE = {
    "invalid JSON": (replaced(CHAT, '"name":', '"name"'), "Expecting `:` delimiter", (2, 10)),
    "a key twice": (replaced(CHAT, '"name":', '"title": "Chat",\n  "name":'), 'the key "title" twice', (4, 12)),
    "a byte order mark": (Edit(CHAT, lambda content: b"\xef\xbb\xbf" + content), "byte order mark", (1, 1)),
    "no UTF-8": (Edit(CHAT, lambda content: content.replace(b"Chat", b"Ch\xe4t", 1)), "is no UTF-8", (3, 15)),
    "no number": (replaced(CHAT, "false", "NaN"), "NaN is no JSON value", (29, 21)),
    "a number without end": (replaced(CHAT, "false", "1e999"), "a number", (1, 1)),
    "an array": (written(CHAT, []), "should hold an object", (1, 1)),
    "an object": (written(VECTORS, {}), "should hold an array", (1, 1)),
    "too deep": (changed(CHAT, ["title"], json.loads("[" * 90 + "]" * 90)), "nests more than 64", (67, 131)),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_unreadable_file_is_reported_alone_at_its_place(name: str) -> None:
    edit, message, place = UNREADABLE[name]
    spec = edit.of(changed(CASE, ["id"], "chat-other").of(small()))
    [found] = located(spec, lint(spec))
    assert (found.file, found.line, found.column) == (spec.shown(edit.file), *place)
    assert message in found.complaint.message


def test_a_reference_that_leads_away_is_told_alone() -> None:
    schema = {"type": "string", "$ref": "https://example.org/model.json"}
    found = lint(changed(CHAT, [*PROPERTIES, "model"], schema).of(small()))
    assert {(one.rule, one.file) for one in found} == {("schema-reference", CHAT)}


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
    metas = read_directory(SPEC).folder("meta")
    Draft202012Validator.check_schema(metas[file])
    assert schema_violation(metas[file], by_id(metas)) is None
