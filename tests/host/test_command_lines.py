"""Lines of `gemini mcp` whose whole answer no vector can hold, since Gemini CLI adds what it misses of its terminal."""

import json

import pytest

from gemini_mcp.host.command.mcp_commands import EXIT_NO_INPUT, NO_INPUT, run
from gemini_mcp.host.rules.profiles import profiles


@pytest.mark.parametrize("words", [["--", "x"], ["remove", "a", "help"], ["help"]])
def test_a_line_that_runs_no_command_goes_on_and_finds_no_input(words: list[str]) -> None:
    ran = run(words, {}, profiles()["current"])
    assert (ran.exit, ran.warned) == (EXIT_NO_INPUT, NO_INPUT)


def test_help_as_the_last_word_is_shown_before_it_goes_on() -> None:
    rules = profiles()["current"]
    assert run(["remove", "a", "help"], {}, rules).said == run(["remove", "--help"], {}, rules).said


def test_what_javascript_cannot_do_is_a_complaint() -> None:
    ran = run(["add", "a", "b", "--env.x=1"], {}, profiles()["current"])
    assert (ran.exit, ran.said) == (
        1,
        "An unexpected critical error occurred:TypeError: env2?.reduce is not a function\n",
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            '{"mcpServers": {"a": {"command": "c"}, "b": {"command": "c", "args": "x"}}}',
            "Configured MCP servers:\n\n✗ a: c  (stdio) - Disconnected\n"
            "An unexpected critical error occurred:TypeError: server.args?.join is not a function\n",
        ),
        (
            '{"mcpServers": {"a": null}, "mcp": {"allowed": 1}}',
            "An unexpected critical error occurred:TypeError: Cannot read properties of null (reading 'trust')\n",
        ),
        (
            '{"mcp": {"excluded": {}}}',
            "An unexpected critical error occurred:TypeError: settings.mcp.excluded is not iterable\n",
        ),
        (
            '{"mcp": {"excluded": [null], "allowed": ["b"]}, "mcpServers": {"a": {"command": "c"}, "b": {}}}',
            "Configured MCP servers:\n\n⛔ a: c  (stdio) - Blocked\n"
            "An unexpected critical error occurred:TypeError: Cannot read properties of null (reading 'toLowerCase')\n",
        ),
    ],
)
def test_settings_that_javascript_cannot_use_end_a_list(settings: str, said: str) -> None:
    ran = run(["list"], {"project": settings}, profiles()["current"])
    assert (ran.exit, ran.said) == (1, said)


@pytest.mark.parametrize("words", [["list"], ["add", "x", "y"], ["remove", "x"], ["enable", "x"], ["--", "x"]])
@pytest.mark.parametrize(
    ("settings", "source"),
    [
        ('{"mcp": {"allowed": [""], "excluded": [""]}}', "MCP Excluded"),
        ('{"mcp": {"allowed": [""]}, "mcpServers": {"": {"command": "c", "trust": true}}}', "MCP Trusted"),
        ('{"mcp": {"allowed": ["a", ""]}}', "MCP Allowed"),
        ('{"mcp": {"autoAllowInHeadless": true}, "mcpServers": {"": {}}}', "Headless MCP Auto-Allow"),
    ],
)
def test_a_rule_for_a_server_without_a_name_ends_every_command(words: list[str], settings: str, source: str) -> None:
    ran = run(words, {"project": settings}, profiles()["current"])
    assert (ran.exit, ran.texts) == (1, {})
    assert ran.said.startswith("An unexpected critical error occurred:Error: Invalid policy rule: mcpName is required")
    assert ran.said.endswith(f"Rule source: Settings ({source})\n")


def test_null_in_the_file_of_the_project_leaves_no_server_of_the_user() -> None:
    texts = {"user": '{"mcpServers": {"a": null}}', "project": '{"mcpServers": null}'}
    assert run(["list"], texts, profiles()["current"]).said == "No MCP servers configured.\n"


def test_help_is_shown_before_settings_end_the_command() -> None:
    ran = run(["remove", "a", "help"], {"project": '{"mcp": {"allowed": 5}}'}, profiles()["current"])
    assert (ran.exit, ran.is_help) == (1, True)
    assert ran.warned.endswith("settings.mcp.allowed is not iterable\n")


def test_an_underscore_among_letters_is_a_word() -> None:
    ran = run(["remove", "-mcp_s", "user", "s"], {}, profiles()["current"])
    assert ran.said.startswith("Unknown arguments: m, c, p, s\n")


def test_a_letter_takes_what_follows_it_when_that_is_no_word() -> None:
    ran = run(["add", "-s\U0001f600", "a"], {}, profiles()["current"])
    assert ran.said.startswith("Not enough non-option arguments: got 1")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["list", "-S", "X: y", "X: y"], "Unknown arguments: S, X: y"),
        (["remove", "a", "--args=b", "--foo-bar"], "Unknown arguments: args, foo-bar, fooBar"),
        (["remove", "--", "a"], "Not enough non-option arguments: got 0, need at least 1"),
        (["other", "--no-x=A"], "Unknown arguments: no-x, noX, other"),
        (["add", "--timeout", "abc", "a", "b"], "Given: NaN, Choices: a number of milliseconds"),
    ],
)
def test_the_documented_profile_reads_lines_as_yargs(words: list[str], complaint: str) -> None:
    ran = run(words, {}, profiles()["documented"])
    assert ran.exit == 1
    assert ran.said.rstrip().endswith(complaint)


@pytest.mark.parametrize(
    ("words", "server"),
    [
        (["--no-trust", "a", "b", "-s", "user"], '"command": "b", "args": ["-s", "user"], "trust": false'),
        (["a", "--", "b", "-1", "--", "0x10"], '"command": "b", "args": ["-1", "--", "16"]'),
        (["-e=X=1=2", "a", "b", "--trust"], '"command": "b", "args": ["--trust"], "env": {"X": "1=2"}'),
        (["-t=http", "a", "b", "--exclude-tools", "c, d"], '"httpUrl": "b", "excludeTools": ["c", "d"]'),
    ],
)
def test_the_documented_profile_gives_the_server_all_behind_its_command(words: list[str], server: str) -> None:
    ran = run(["add", *words], {}, profiles()["documented"])
    assert json.loads(ran.texts["project"]) == json.loads(f'{{"mcpServers": {{"a": {{{server}}}}}}}')
