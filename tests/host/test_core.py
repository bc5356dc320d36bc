"""Claims about the pure core that vectors cannot make: texts edited, secrets kept, searches that end."""

import contextlib
import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_mcp import spec
from gemini_mcp.host.prompts.prompts import fill, format_arguments, prompt_of
from gemini_mcp.host.rules import messages
from gemini_mcp.host.rules.javascript import as_parsed, locale_key, number_text, stringify, trim
from gemini_mcp.host.rules.profiles import profiles
from gemini_mcp.host.servers.discovery import Ask, Refusal, interview
from gemini_mcp.host.servers.secrecy import shown_address, shown_words
from gemini_mcp.host.settings.expansion import Unexpandable, expand_late
from gemini_mcp.host.settings.jsonc import BrokenJson, read, with_value, without_value
from gemini_mcp.host.settings.loading import Layer, ServerConfig, load
from gemini_mcp.host.settings.server_command import UnusableCommand, split
from gemini_mcp.host.settings.validation import problems
from gemini_mcp.host.tools import schema
from gemini_mcp.host.tools.registry import OfferedTool, build
from gemini_mcp.spec.values import JsonObject, object_of

DOCUMENTED = profiles()["documented"]
CURRENT = profiles()["current"]
KEYS = st.text('abc é"\\/', max_size=5)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 99), st.text('ab\n"\\/*,{}[]: é', max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


@given(VALUES)
def test_json_is_read_as_json(value: Any) -> None:
    assert read(json.dumps(value)) == value
    assert read(f"// c\n{stringify(value, 2)} /* , */ ") == value


@given(OBJECTS, KEYS, KEYS, VALUES)
def test_setting_a_value_changes_nothing_else(value: Any, outer: str, inner: str, new: Any) -> None:
    text = with_value(json.dumps(value, indent=2), ("servers", outer), {inner: new})
    servers = object_of(value.get("servers")) or {}
    assert read(text) == {**value, "servers": {**servers, outer: {inner: new}}}


@given(st.dictionaries(st.text("abc", min_size=1, max_size=2), VALUES, min_size=1, max_size=4), st.data())
def test_removing_a_value_changes_nothing_else(value: Any, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(value)))
    for text in (json.dumps(value), json.dumps(value, indent=2), json.dumps(value, indent=4).replace("\n", " // c\n")):
        assert read(without_value(text, (name,))) == {key: inner for key, inner in value.items() if key != name}


@given(st.lists(st.text("abc", min_size=1, max_size=3), unique=True, max_size=4), VALUES)
def test_adding_and_removing_gives_the_same_values(names: list[str], new: Any) -> None:
    text = '{\n  // mine\n  "z": 1, // one\n}'
    for name in names:
        text = with_value(text, (name,), new)
    assert read(text) == {"z": 1, **dict.fromkeys(names, new)}
    for name in names:
        text = without_value(text, (name,))
    assert read(text) == {"z": 1}
    assert "// mine" in text
    assert "// one" in text


@pytest.mark.parametrize(
    "text", ["", "{", '{"a":}', '{"a" 1}', "{'a': 1}", '{"a": 1 "b": 2}', "[1 2]", "nul", '"a', "[" * 999]
)
def test_a_broken_text_says_where(text: str) -> None:
    with pytest.raises(BrokenJson) as raised:
        read(text)
    assert raised.value.line >= 1


@given(
    st.dictionaries(
        st.text("abc", min_size=1), st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1)
    )
)
def test_prompt_arguments_survive_being_written_and_read(arguments: dict[str, str]) -> None:
    declared = prompt_of({"arguments": [{"name": name, "required": True} for name in arguments]}).arguments
    assert fill(format_arguments(arguments), declared, CURRENT) == arguments


@given(st.text("$V{}:-+a\\", max_size=14), st.dictionaries(st.sampled_from(["V", "a"]), st.text("$V{}a", max_size=6)))
def test_the_late_expansion_ends(text: str, environment: dict[str, str]) -> None:
    with suppress(Unexpandable):
        assert isinstance(expand_late(text, environment), str)


@pytest.mark.parametrize(
    ("text", "environment"),
    [("$constructor", {}), ("a${constructor:-d}", {}), ("x$A", {"A": "$B", "B": "$A"}), ("x$A", {"A": "y$A"})],
)
def test_a_variable_that_leads_to_itself_is_named(text: str, environment: dict[str, str]) -> None:
    with pytest.raises(Unexpandable, match="puts it in for ever"):
        expand_late(text, environment)


def test_a_variable_that_is_set_is_no_member_of_every_object() -> None:
    assert expand_late("$valueOf ${constructor+set}", {"valueOf": "own"}) == "own set"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_written_so_that_they_read_back(number: float) -> None:
    assert float(number_text(number)) == number


@given(st.text(max_size=30))
def test_a_server_command_is_split_or_refused(line: str) -> None:
    with contextlib.suppress(UnusableCommand):
        assert all(word == trim(word) or "'" in line or '"' in line or "\\" in line for word in split(line, {}))


def test_sanitising_shares_what_was_shared() -> None:
    node: dict[str, Any] = {"type": "object", "$schema": "x", "properties": {}}
    node["properties"]["self"] = node
    sanitised = schema.sanitise(node)
    assert sanitised["properties"]["self"] is sanitised
    assert "$schema" not in sanitised


def test_a_deep_schema_does_not_exhaust_the_stack() -> None:
    deep: Any = {"type": "string"}
    for _ in range(5000):
        deep = {"type": "object", "additionalProperties": False, "properties": {"a": deep}}
    assert "additionalProperties" not in schema.sanitise(deep)["properties"]["a"]


def test_a_server_that_repeats_its_cursor_is_left() -> None:
    steps = interview(ServerConfig("s"), {"tools": {}}, DOCUMENTED)
    again: Any = {"tools": [], "nextCursor": "again"}
    assert [next(steps), steps.send(again)] == [Ask("tools/list"), Ask("tools/list", "again")]
    with pytest.raises(StopIteration) as ended:
        steps.send(again)
    assert ended.value.value.messages == ("Error discovering tools from s: tools/list repeats the cursor 'again'",)


def test_a_refused_list_is_told() -> None:
    steps = interview(ServerConfig("s"), {}, DOCUMENTED)
    next(steps)
    with pytest.raises(StopIteration) as ended:
        steps.send(Refusal("MCP error -32603: kaput", -32603))
    assert ended.value.value.messages == ("Error discovering tools from s: MCP error -32603: kaput",)


def test_members_of_what_a_server_lists_come_in_the_order_of_javascript() -> None:
    members: dict[str, JsonObject] = {"b": {}, "10": {}, "9": {}}
    tool: JsonObject = {"name": "t", "inputSchema": {"type": "object", "properties": members}}
    properties = messages.read("tools/list", {"tools": [tool]}, CURRENT).value["tools"][0]["inputSchema"]["properties"]
    assert list(properties) == ["9", "10", "b"]


@pytest.mark.parametrize(
    ("number", "text"),
    [(-0.0, "0"), (1e3, "1000"), (12345678901234567890, "12345678901234567000"), (-(2**53) - 1, "-9007199254740992")],
)
def test_numbers_of_json_are_doubles(number: float, text: str) -> None:
    assert str(as_parsed([number])[0]) == number_text(number) == text


def test_a_number_too_large_for_a_double_is_written_as_nothing() -> None:
    assert stringify(as_parsed({"a": 10**400, "b": -(10**400)})) == '{"a":null,"b":null}'


@pytest.mark.parametrize("kept", [{"constructor": 1}, {"constructor": None}])
def test_a_record_with_a_constructor_is_refused_by_the_newer_profile(kept: JsonObject) -> None:
    answer: JsonObject = {"content": [], "structuredContent": kept}
    assert messages.read("tools/call", answer, CURRENT).issues
    assert not messages.read("tools/call", answer, DOCUMENTED).issues


def test_an_emoji_is_sorted_before_digits_and_letters() -> None:
    assert sorted(["z", "1", "\U0001f600é", "B", "-"], key=locale_key) == ["-", "\U0001f600é", "1", "B", "z"]


def test_secrets_of_a_command_line_are_masked() -> None:
    words = ["run", "--api-key", "k", "--token=t", "-e", "API_KEY=v", "https://u:p@h/x?q=1", "plain"]
    assert shown_words(words) == "run --api-key *** --token=*** -e API_KEY=*** https://***@h/x?q=*** plain"
    assert shown_address("https://h/mcp?key=secret&x=y") == "https://h/mcp?key=***&x=***"


def test_an_error_about_a_secret_does_not_show_it() -> None:
    [problem] = problems(
        {"mcpServers": {"s": {"command": "x", "env": {"KEY": ["sekret"]}}}}, DOCUMENTED.settings_schema
    )
    assert "sekret" not in str(problem)
    assert "`env`" in str(problem)


def test_an_error_names_file_server_key_value_and_fix() -> None:
    loaded = load([Layer("project", "the-file", '{"mcpServers": {"s": {"command": 5}}}')], {}, DOCUMENTED)
    said = str(loaded.problems[0])
    for part in ("the-file", "'s'", "`command`", "5", "should be a string", "Make"):
        assert part in said


def test_the_project_wins_server_by_server() -> None:
    layers = [
        Layer("user", "u", '{"mcpServers": {"a": {"command": "ua"}, "b": {"command": "ub"}}}'),
        Layer("project", "p", '{"mcpServers": {"b": {"command": "pb"}}}'),
    ]
    assert [(s.name, s.values["command"], s.file) for s in load(layers, {}, DOCUMENTED).servers] == [
        ("a", "ua", "u"),
        ("b", "pb", "p"),
    ]


def test_the_server_of_a_command_line_stands_where_one_of_its_name_was_configured() -> None:
    text = '{"mcpServers": {"mcp": {"command": "old"}, "s": {"command": "x"}}, "mcp": {"serverCommand": "new"}}'
    servers = load([Layer("user", "F", text)], {}, DOCUMENTED).servers
    assert [(server.name, server.values["command"]) for server in servers] == [("mcp", "new"), ("s", "x")]


def test_a_third_profile_is_a_file(tmp_path: Path) -> None:
    shutil.copytree(spec.default_root() / "host", tmp_path / "host")
    third = {**spec.read(tmp_path / "host/profiles/documented.json"), "name": "third", "nameLimit": 9, "nameHead": 3}
    third |= {"nameTail": 3, "toolName": "{server}.{tool}", "builtinTools": ["own"], "faultySettings": "warn"}
    (tmp_path / "host/profiles/third.json").write_text(json.dumps(third), encoding="utf-8")
    rules = spec.load_profiles(tmp_path)["third"]
    offers = [OfferedTool("server", "tool"), OfferedTool("s", "t")]
    assert [tool.name for tool in build(rules.builtin_tools, offers, rules).tools] == ["own", "ser___ool", "s.t"]
    faulty = load([Layer("user", "f", '{"mcpServers": {"s": {"command": 5}}}')], {}, rules)
    assert (len(faulty.servers), len(faulty.problems), len(faulty.warnings)) == (1, 0, 1)


def test_a_profile_that_lacks_a_rule_is_refused(tmp_path: Path) -> None:
    shutil.copytree(spec.default_root() / "host", tmp_path / "host")
    (tmp_path / "host/profiles/third.json").write_text('{"name": "third"}', encoding="utf-8")
    with pytest.raises(spec.SpecError, match=r"third\.json"):
        spec.load_profiles(tmp_path)


def test_what_is_wrong_is_told_in_the_order_of_the_file() -> None:
    names = [f"s{number}" for number in range(20)]
    settings = {"mcpServers": {name: {"command": 5} for name in names}}
    assert [problem.server for problem in problems(settings, DOCUMENTED.settings_schema)] == names


@pytest.mark.parametrize(("more", "is_trusted"), [("", False), (', "command": 5', True)])
def test_a_text_is_read_as_a_boolean_only_in_a_file_without_faults(more: str, is_trusted: bool) -> None:
    text = f'{{"mcpServers": {{"s": {{"trust": "false"{more}}}}}}}'
    assert load([Layer("user", "F", text)], {}, profiles()["current"]).servers[0].is_trusted is is_trusted
