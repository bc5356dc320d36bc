"""The words about one change: both values, what differs of long ones, the line, and a value that shows it."""

import pytest
from editing import SPEC, Edit, changed, document, replaced, requirement, small, without

from gemini_mcp.report.values import shown_beside
from gemini_mcp.spec.values import Json
from gemini_mcp_spec.diff.change import Change
from gemini_mcp_spec.diff.comparison import diff
from gemini_mcp_spec.diff.rules import Severity
from gemini_mcp_spec.files.reader import read_directory
from gemini_mcp_spec.lint.complaint import Complaint
from gemini_mcp_spec.lint.linter import lint

CHAT, INVOCATION, OUTCOME = "server/tools/chat.json", "server/invocation.json", "server/outcome.json"
SETTINGS, RULES = "host/settings.schema.json", "host/profiles/current.json"
PROPERTIES = ["inputSchema", "properties"]
REQUIREMENTS, MUST = "requirements.json", requirement("identity:name")
MASKS = document(OUTCOME)["stderr"]["masks"]
OAUTH = ["$defs", "oauth", "properties", "redirectUri", "default"]


def changes(*edits: Edit) -> dict[str, Change]:
    """The changes of some edits by their rules."""
    new = small()
    for edit in edits:
        new = edit.of(new)
    return {change.rule: change for change in diff(small(), new).changes}


def complaints(edit: Edit) -> list[Complaint]:
    return lint(edit.of(small()))


TOLD: dict[str, tuple[Edit, str, str]] = {
    "a hint that goes": (without(CHAT, ["annotations", "readOnlyHint"]), "tool-hint", "was false and is absent"),
    "a key that comes": (
        changed(CHAT, ["outputSchema"], {"type": "object"}),
        "tool-outputSchema",
        'It was absent and is {"type": "object"}',
    ),
    "a key that goes": (
        without(INVOCATION, ["tools", "chat", "cwd"]),
        "template-cwd",
        'It was "cwd" and is absent',
    ),
    "null that goes": (without(RULES, ["missingMethod"]), "rules-changed", "was null and is absent"),
    "a sentence that says something else": (
        changed(REQUIREMENTS, ["requirements", MUST, "sentence"], "The server MUST report `gemini` as its name."),
        "requirement-sentence",
        "It said: The server MUST report",
    ),
    "an entry of an array": (
        changed(CHAT, ["inputSchema", "required"], ["cwd"]),
        "argument-optional",
        '`required.0` was "prompt" and is "cwd"',
    ),
    "a refusal": (
        changed(INVOCATION, ["refusals", "nul", "everywhere"], False),
        "refusal-wider",
        "`everywhere` was true and is false",
    ),
    "what differs of a long pattern": (replaced(INVOCATION, "|gemma|", "|"), "invocation-forms", "hooks?|gemma|help"),
    "what differs of a long array": (
        changed(INVOCATION, ["tools", "chat", "argv", 4], "--yolo"),
        "template-argv",
        '"--yolo"',
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_a_change_is_told_with_both_values(name: str) -> None:
    edit, rule, words = TOLD[name]
    assert words in changes(edit)[rule].message


@pytest.mark.parametrize(("at", "count"), [(0, 1), (40, 120), (119, 120)])
def test_of_two_long_values_the_difference_is_shown(at: int, count: int) -> None:
    old = "a" * at + "b" + "c" * (count - at)
    new = "a" * at + "d" + "c" * (count - at)
    assert "b" in shown_beside(old, new)
    assert "d" in shown_beside(new, old)


PLACED: dict[str, tuple[Edit, str, list[Json]]] = {
    "a mask comes": (changed(OUTCOME, ["stderr", "masks"], [*MASKS, "new-[0-9]+"]), "mask-added", [len(MASKS)]),
    "a mask goes": (changed(OUTCOME, ["stderr", "masks"], [*MASKS[:2], *MASKS[3:]]), "mask-removed", [2]),
    "the last mask goes": (changed(OUTCOME, ["stderr", "masks"], MASKS[:-1]), "mask-removed", [len(MASKS) - 2]),
}


@pytest.mark.parametrize("name", PLACED)
def test_an_entry_is_told_where_it_came_or_went(name: str) -> None:
    edit, rule, place = PLACED[name]
    assert list(changes(edit)[rule].place) == ["stderr", "masks", *place]


def test_the_fingerprint_of_an_entry_does_not_depend_on_its_place() -> None:
    first, last = ([*MASKS[:at], "new-[0-9]+", *MASKS[at:]] for at in (0, len(MASKS)))
    found = [changes(changed(OUTCOME, ["stderr", "masks"], masks))["mask-added"] for masks in (first, last)]
    assert found[0].place != found[1].place
    assert found[0].fingerprint == found[1].fingerprint


def test_a_tool_that_is_renamed_is_told_at_its_name() -> None:
    assert changes(changed(CHAT, ["name"], "talk"))["tool-removed"].path == ("name",)


def test_an_argument_that_goes_is_shown_by_a_call_that_holds_it() -> None:
    renamed = [without(CHAT, [*PROPERTIES, "cwd"]), changed(CHAT, [*PROPERTIES, "folder"], {"type": "string"})]
    witness = changes(*renamed)["request-property-removed"].witness
    assert witness is not None
    assert "cwd" in witness.value
    assert witness.new == "accepted and ignored"


def test_a_default_is_shown_by_a_value_that_could_hold_it() -> None:
    witness = changes(changed(SETTINGS, OAUTH, "http://localhost/"))["request-default"].witness
    assert witness is not None
    [server] = witness.value["mcpServers"].values()
    assert "redirectUri" not in server["oauth"]
    assert witness.new == 'stands for "http://localhost/"'


def test_an_exit_code_is_told_in_json() -> None:
    sentences = document(OUTCOME)["sentences"]
    index = next(index for index, one in enumerate(sentences) if one["id"] == "exit-53")
    witness = changes(changed(OUTCOME, ["sentences", index, "exit"], [56]))["sentence-condition"].witness
    assert witness is not None
    assert witness.old == 'says "exit-53"'


def test_a_key_that_is_not_allowed_is_complained_of_where_it_stands() -> None:
    found = complaints(changed(CHAT, ["inputSchema", "additionalProperties"], True))
    assert [(one.rule, one.path) for one in found] == [("meta-schema", ("inputSchema", "additionalProperties"))]


def test_what_makes_the_files_no_specification_is_complained_of_alone() -> None:
    found = complaints(without(CHAT, ["inputSchema", "type"]))
    assert [(one.rule, one.path) for one in found] == [("meta-schema", ("inputSchema",))]


def test_a_version_that_is_none_is_complained_of_as_such() -> None:
    found = complaints(changed("manifest.json", ["version"], "1.1"))
    assert [(one.rule, one.path) for one in found] == [("meta-schema", ("version",))]


def test_a_schema_that_forbids_what_a_rule_only_recommends_to_refuse_breaks_ports() -> None:
    whole = read_directory(SPEC)
    edit = changed(CHAT, ["inputSchema", "properties", "prompt", "minLength"], 1)
    (found,) = diff(whole, edit.of(whole)).changes
    assert (found.rule, found.severity) == ("argument-refused", Severity.PORTS)
    assert "`minLength` of `prompt` of `chat` is 1 now: that `empty` refuses was a SHOULD." in found.message
