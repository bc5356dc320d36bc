"""`gemini-mcp-host` as its user meets it."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from stand_in import Desk, desk

GREETER: dict[str, Any] = {
    "tools": [
        {
            "name": "say hello",
            "description": "Greets.",
            "inputSchema": {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "type": "object",
                "properties": {"who": {"type": "string"}, "times": {"type": "integer"}},
                "required": ["who"],
            },
        }
    ],
    "resources": [{"uri": "resource/path", "name": "n"}],
    "reads": {"resource/path": {"contents": [{"uri": "resource/path", "text": "the text"}]}},
}


@pytest.fixture
def greeting(tmp_path: Path) -> Desk:
    here = desk(tmp_path)
    here.stand_in("greeter", GREETER)
    here.settings('{"mcpServers": {"srv": {"command": "greeter"}}}')
    return here


def test_status_is_the_view_of_the_guide(greeting: Desk) -> None:
    ran = greeting.run("status")
    assert ran.stdout == (
        "MCP Servers Status:\n📡 srv (CONNECTED)\n  Command: greeter\n  Tools: mcp_srv_say_hello\n"
        "  Resources: resource/path\nDiscovery State: COMPLETED\n"
    )
    assert ran.returncode == 0


def test_a_failed_server_is_exit_4_with_its_cause_and_one_remedy(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.settings('{"mcpServers": {"dead": {"command": "/nonexistent/server"}}}')
    ran = here.run("status")
    assert ran.returncode == 4
    assert (
        "  Error: '/nonexistent/server' was not found\n    - Install it, or give its whole path as `command`.\n"
        in ran.stdout
    )


@pytest.mark.parametrize(
    "words",
    [
        ("tools",),
        ("call", "dead:t", "--yes"),
        ("prompts",),
        ("prompt", "/p"),
        ("resources",),
        ("read", "@dead:u"),
        ("expand", "see @dead:u"),
        ("context",),
        ("policy",),
    ],
    ids=lambda words: words[0],
)
def test_why_a_server_failed_is_told_to_people_and_to_programs(tmp_path: Path, words: tuple[str, ...]) -> None:
    here = desk(tmp_path)
    here.settings('{"mcpServers": {"dead": {"command": "/nonexistent/server"}}}')
    told, shown = here.run(*words), json.loads(here.run(*words, "--json").stdout)
    assert "dead: '/nonexistent/server' was not found. Install it" in told.stderr
    assert [(one["server"], one["cause"]["kind"]) for one in shown["failed"]] == [("dead", "not-found")]


def test_each_call_of_a_session_tells_programs_which_server_failed(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.settings('{"mcpServers": {"dead": {"command": "/nonexistent/server"}}}')
    ran = _session(here, '{"name": "dead:t"}\n')
    assert json.loads(ran.stdout)["failed"][0]["server"] == "dead"


def test_list_tells_programs_why_a_server_is_not_connected(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.settings('{"mcpServers": {"dead": {"command": "/nonexistent/server"}, "odd": {"url": "no address"}}}')
    causes = [one["cause"]["kind"] for one in json.loads(here.run("list", "--json").stdout)]
    assert causes == ["not-found", "settings"]


def test_the_guide_advises_at_length(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.settings('{"mcpServers": {"dead": {"command": "/nonexistent/server"}}}')
    ran = here.run_documented("status")
    assert "Error: spawn /nonexistent/server ENOENT" in ran.stdout
    assert "Check configuration: Verify `command`, `args`, and `cwd` are correct" in ran.stdout


def test_a_bad_server_is_exit_2_and_the_others_are_there(greeting: Desk) -> None:
    greeting.settings('{"mcpServers": {"bad": {"url": "http://h/", "command": "x"}, "srv": {"command": "greeter"}}}')
    ran = greeting.run_documented("tools")
    assert ran.returncode == 2
    assert ran.stdout == "say_hello  (srv: say hello)\n"
    assert "server 'bad'" in ran.stderr
    assert "settings.json" in ran.stderr


def test_a_call_without_a_terminal_is_refused(greeting: Desk) -> None:
    ran = greeting.run("call", "mcp_srv_say_hello", "--arg", "who=me")
    assert ran.returncode == 1
    assert "needs confirmation" in ran.stderr


@pytest.mark.parametrize("flag", ["--yes", "--trust"])
def test_a_confirmed_call_shows_display_and_parts(greeting: Desk, flag: str) -> None:
    ran = greeting.run("call", "mcp_srv_say_hello", "--arg", "who=me", "--arg", "times=2", flag, "--json")
    assert ran.returncode == 0, ran.stderr
    shown = json.loads(ran.stdout)
    assert json.loads(shown["display"]) == {"times": 2, "who": "me"}
    assert shown["modelParts"][0]["functionResponse"]["name"] == "mcp_srv_say_hello"


def test_arguments_that_do_not_fit_are_refused(greeting: Desk) -> None:
    ran = greeting.run("call", "mcp_srv_say_hello", "--args", "{}", "--yes")
    assert ran.returncode == 1
    assert "params must have required property 'who'" in ran.stderr


def test_a_malformed_argument_is_exit_2(greeting: Desk) -> None:
    assert greeting.run("call", "mcp_srv_say_hello", "--args", "[1", "--yes").returncode == 2


def test_a_word_too_many_is_told_with_the_usage_of_the_subcommand(greeting: Desk) -> None:
    ran = greeting.run("call", "srv", "say_hello")
    assert ran.returncode == 2
    assert ran.stderr.startswith("usage: gemini-mcp-host call ")


def test_a_resource_is_read_and_expanded(greeting: Desk) -> None:
    assert greeting.run("read", "@srv:resource/path").stdout == "the text\n"
    assert greeting.run_documented("read", "@srv://resource/path").stdout == "the text\n"
    expanded = greeting.run("expand", "see @srv:resource/path", "--json")
    assert json.loads(expanded.stdout)["parts"][0] == {"text": "see @srv:resource/path"}
    assert greeting.run("read", "@srv:nothing").returncode == 1


def test_the_instructions_of_servers_are_shown_as_the_model_gets_them(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.stand_in("told", {**GREETER, "initialize": {"instructions": "Say who."}})
    here.settings('{"mcpServers": {"srv": {"command": "told"}}}')
    told = "The following are instructions provided by the tool server 'srv':\n---[start of server instructions]---\n"
    assert here.run("context").stdout == f"{told}Say who.\n---[end of server instructions]---\n"
    assert json.loads(here.run("context", "--json").stdout)["instructions"] == {"srv": "Say who."}
    assert here.run("--profile", "documented", "context").stdout == ""


def test_profiles_are_compared_side_by_side(greeting: Desk) -> None:
    ran = greeting.run("tools", "--compare")
    assert "say_hello" in ran.stdout
    assert "mcp_srv_say_hello" in ran.stdout
    assert "(the same in both profiles)" in greeting.run("resources", "--compare").stdout


def test_compare_shows_what_add_would_write_and_writes_nothing(tmp_path: Path) -> None:
    here = desk(tmp_path)
    ran = here.run("--compare", "add", "-t", "http", "h", "https://h.example/mcp")
    assert '"httpUrl"' in ran.stdout
    assert '"type": "http"' in ran.stdout
    assert not here.settings_file.exists()


def test_a_broken_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.settings('{"mcpServers": ')
    ran = here.run("add", "s", "cmd")
    assert ran.returncode == 2
    assert here.settings_file.read_text(encoding="utf-8") == '{"mcpServers": '


def test_a_file_that_is_no_text_is_refused_and_left_alone(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.settings("")
    here.settings_file.write_bytes(b"\xff\xfe")
    for words in (["add", "s", "cmd"], ["status"]):
        ran = here.run(*words)
        assert ran.returncode == 2
        assert "no UTF-8 text" in ran.stderr
        assert "Traceback" not in ran.stderr
    assert here.settings_file.read_bytes() == b"\xff\xfe"


def test_add_keeps_comments_and_unknown_keys(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.settings('{\n  // mine\n  "theme": "dark",\n  "mcpServers": {\n    "a": { "command": "x" } // first\n  }\n}\n')
    here.run("add", "b", "cmd")
    text = here.settings_file.read_text(encoding="utf-8")
    assert "// mine" in text
    assert "// first" in text
    assert '"theme": "dark"' in text
    assert '"b": {\n      "command": "cmd",\n      "args": []\n    }' in text


def test_the_project_scope_in_the_home_directory_is_refused(tmp_path: Path) -> None:
    here = Desk(tmp_path)
    for folder in (here.project, tmp_path / "bin"):
        folder.mkdir()
    ran = here.run("add", "s", "cmd", HOME=str(here.project))
    assert ran.returncode == 2
    assert "--scope user" in ran.stderr


def test_no_command_is_usage(tmp_path: Path) -> None:
    assert desk(tmp_path).run().returncode == 2


def test_stderr_is_shown_without_info_unless_debugging(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.stand_in("noisy", {"exit": 3, "stderr": ["INFO starting", "it broke"]})
    here.settings('{"mcpServers": {"n": {"command": "noisy"}}}')
    quiet, loud = here.run("status"), here.run("status", "--debug")
    assert "it broke" in quiet.stderr
    assert "INFO starting" not in quiet.stderr
    assert "INFO starting" in loud.stderr


def test_auth_lists_nobody_and_knows_its_servers(greeting: Desk) -> None:
    assert greeting.run("auth").stdout == "No server asks for authentication.\n"
    assert greeting.run("auth", "nobody").returncode == 2
    assert greeting.run("auth", "srv").returncode == 4


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_every_server_and_what_it_started(tmp_path: Path, sent: signal.Signals) -> None:
    here = desk(tmp_path)
    program = tmp_path / "bin" / "stubborn"
    program.write_text(f'#!/bin/sh\ntrap "" TERM\nsleep 61.7 &\necho $! >"{tmp_path}/child"\nwait\n', encoding="utf-8")
    program.chmod(0o755)
    here.settings('{"mcpServers": {"s": {"command": "stubborn"}}}')
    process = subprocess.Popen(here.command("status"), cwd=here.project, env=here.environment())
    child = _wait_for(tmp_path / "child")
    process.send_signal(sent)
    assert process.wait(15) == 128 + sent
    deadline = time.monotonic() + 2
    while _is_running(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _is_running(child)


def test_twenty_servers_are_discovered_at_once(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.stand_in("greeter", GREETER)
    program = tmp_path / "bin" / "sociable"
    program.write_text(
        f'#!/bin/sh\n: >"{tmp_path}/here.$$"\n'
        f'until [ "$(ls "{tmp_path}" | grep -c "^here")" = 18 ]; do sleep 0.1; done\nexec greeter\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    servers: dict[str, Any] = {f"s{number:02}": {"command": "sociable", "timeout": 40000} for number in range(18)}
    servers |= {"dead": {"command": "/nonexistent"}, "hangs": {"command": "sleep", "args": ["62.3"], "timeout": 3000}}
    here.settings(json.dumps({"mcpServers": servers}))
    ran = here.run("status", "--json")
    statuses = {one["name"]: one["status"] for one in json.loads(ran.stdout)["servers"]}
    assert [name for name, status in statuses.items() if status != "CONNECTED"] == ["dead", "hangs"]
    assert list(statuses) == list(servers)


def _wait_for(file: Path) -> int:
    deadline = time.monotonic() + 30
    while not (file.exists() and file.read_text(encoding="utf-8").strip()):
        assert time.monotonic() < deadline, "the server was not started"
        time.sleep(0.02)
    return int(file.read_text(encoding="utf-8"))


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    except NotADirectoryError:
        os.kill(pid, 0)
        return True
    return state != "Z"


def test_excluded_servers_are_listed_blocked_and_not_started(greeting: Desk) -> None:
    servers = '"mcpServers": {"srv": {"command": "greeter"}, "other": {"command": "greeter"}}'
    greeting.settings(f'{{{servers}, "mcp": {{"excluded": ["srv"], "allowed": ["srv"]}}}}')
    ran = greeting.run("list")
    assert ran.stderr == (
        "Configured MCP servers:\n\n⛔ srv: greeter  (stdio) - Blocked\n⛔ other: greeter  (stdio) - Blocked\n"
    )
    assert not (greeting.root / "greeter.started").exists()


def test_lists_of_an_untrusted_folder_do_not_count_and_those_of_the_user_do(greeting: Desk) -> None:
    untrusted = {"GEMINI_CLI_TRUST_WORKSPACE": "false"}
    servers = '"mcpServers": {"srv": {"command": "greeter"}, "other": {"command": "greeter"}}'
    greeting.settings(f'{{{servers}, "mcp": {{"excluded": ["srv"]}}}}')
    (greeting.home / ".gemini").mkdir(exist_ok=True)
    (greeting.home / ".gemini" / "settings.json").write_text('{"mcp": {"excluded": ["other"]}}', encoding="utf-8")
    listed = greeting.run("list", **untrusted).stderr
    assert listed.endswith("○ srv: greeter  (stdio) - Disabled\n⛔ other: greeter  (stdio) - Blocked\n")
    shown = greeting.run("status", **untrusted).stdout
    assert ("srv (DISABLED)" in shown, "other (BLOCKED)" in shown) == (True, True)


def test_an_untrusted_folder_starts_nothing_and_says_so(greeting: Desk) -> None:
    ran = greeting.run("list", GEMINI_CLI_TRUST_WORKSPACE="false")
    assert ran.stderr.startswith("Warning: MCP servers are configured but disabled because this folder is untrusted.\n")
    assert ran.stderr.endswith("○ srv: greeter  (stdio) - Disabled\n")
    assert "srv (DISABLED)" in greeting.run("status", GEMINI_CLI_TRUST_WORKSPACE="false").stdout
    assert not (greeting.root / "greeter.started").exists()
    assert greeting.run("status", "--trust-folder", GEMINI_CLI_TRUST_WORKSPACE="false").stdout.count("CONNECTED") == 1


@pytest.mark.parametrize("words", [("tools",), ("call", "srv:greet"), ("resources",)])
def test_an_untrusted_folder_is_named_where_servers_are_missed(greeting: Desk, words: tuple[str, ...]) -> None:
    ran = greeting.run(*words, GEMINI_CLI_TRUST_WORKSPACE="false")
    assert ran.stderr.startswith("Not started: srv: this folder is not trusted;")


def test_a_tool_that_is_not_there_is_told_where_names_are(greeting: Desk) -> None:
    ran = greeting.run("call", "greet")
    assert ran.returncode == 1
    assert ran.stderr.endswith("`gemini-mcp-host tools` lists the names; SERVER:TOOL is one, too.\n")


@pytest.mark.parametrize("profile", ["current", "documented"])
def test_status_names_every_configured_server(greeting: Desk, profile: str) -> None:
    servers = '"mcpServers": {"srv": {"command": "greeter"}, "other": {"command": "greeter"}}'
    greeting.settings(f'{{{servers}, "mcp": {{"excluded": ["other"]}}}}')
    ran = greeting.run("--profile", profile, "status")
    assert "srv (CONNECTED)" in ran.stdout
    assert "other (BLOCKED)\n  Command: greeter\n  Reason: `mcp.excluded` names it\n" in ran.stdout


def test_the_list_introduces_itself_as_the_program_does(greeting: Desk) -> None:
    greeting.run("list")
    journal = (greeting.root / "greeter.journal").read_text(encoding="utf-8").splitlines()
    assert json.loads(journal[0])["params"]["clientInfo"] == {"name": "mcp-test-client", "version": "0.0.1"}


def test_a_disabled_server_is_kept_in_the_file_of_gemini_cli(greeting: Desk) -> None:
    kept = greeting.home / ".gemini" / "mcp-server-enablement.json"
    assert greeting.run("disable", "SRV").returncode == 0
    assert json.loads(kept.read_text(encoding="utf-8")) == {"srv": {"enabled": False}}
    assert "srv (DISABLED)" in greeting.run("status").stdout
    assert "○ srv" in greeting.run("list").stderr
    assert greeting.run("enable", "srv").returncode == 0
    assert json.loads(kept.read_text(encoding="utf-8")) == {}
    assert greeting.run("disable", "nobody").returncode == 2


def test_what_is_allowed_in_a_session_stays_allowed(greeting: Desk) -> None:
    once = '{"name": "mcp_srv_say_hello", "arguments": {"who": "a"}, "answer": "%s"}\n'
    again = '{"name": "srv:say hello", "arguments": {"who": "b"}}\n'
    ran = _session(greeting, once % "proceed_once" + again + once % "proceed_always_tool" + again)
    assert ran.stdout.count('"called": false') == 1
    assert ran.stdout.count('"isError": false') == 3
    assert ran.returncode == 1


def test_a_call_is_compared_by_server_and_tool(greeting: Desk) -> None:
    ran = greeting.run("call", "--compare", "mcp_srv_say_hello", "--arg", "who=me", "--yes")
    assert "say_hello" in ran.stdout
    assert "not found" not in ran.stdout


def test_tools_of_a_server_that_is_not_there_are_usage(greeting: Desk) -> None:
    ran = greeting.run("tools", "nobody")
    assert ran.returncode == 2
    assert "Configured are: srv." in ran.stderr


def test_a_session_sees_the_tools_that_a_server_tells_of_later(tmp_path: Path) -> None:
    here = desk(tmp_path)
    (first, later) = ({"name": name, "inputSchema": {"type": "object"}} for name in ("grow", "grown"))
    answer = {"content": [{"type": "text", "text": "more"}]}
    changed = {"result": answer, "changes": {"tools": [later]}}
    here.stand_in("grower", {"tools": [first], "calls": {"grow": changed}})
    here.settings('{"mcpServers": {"a": {"command": "grower", "trust": true}}}')
    calls = "".join(f'{{"name": "mcp_a_{name}", "arguments": {{}}}}\n' for name in ("grow", "grown", "grow"))
    ran = _session(here, calls)
    assert 'Tool \\"mcp_a_grow\\" not found' in ran.stdout
    assert ran.stdout.count("not found") == 1


def _session(here: Desk, calls: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        here.command("session", "--json"),
        cwd=here.project,
        env=here.environment(),
        input=calls,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_nothing_that_a_server_says_moves_the_cursor_or_turns_the_direction(tmp_path: Path) -> None:
    here, odd = desk(tmp_path), "o\x1b[2J\u202e\x9b\x7f\rk"
    content = [{"type": "text", "text": odd}]
    tool = {"name": "t", "title": odd, "description": odd, "inputSchema": {"type": "object"}}
    others = {"prompts": [{"name": odd, "description": odd}], "resources": [{"uri": f"a:{odd}", "name": odd}]}
    here.stand_in("server", {"tools": [tool], **others, "call": {"t": {"content": content}}})
    here.settings(json.dumps({"mcpServers": {"s": {"command": "server"}}}))
    for words in (["status"], ["tools"], ["prompts"], ["resources"], ["inspect", "s"], ["call", "s:t", "--yes"]):
        ran = here.run(*words)
        assert not set("\x1b\u202e\x9b\x7f\r") & {*ran.stdout, *ran.stderr}, words
    assert r"o\u001b[2J\u202e\u009b\u007f\rk" in here.run("prompts").stdout


def test_switches_of_every_command_may_stand_before_add_and_remove(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.settings('{"mcpServers": {"srv": {"command": "greeter"}}}')
    ran = here.run("--trust-folder", "--debug", "remove", "srv")
    assert (ran.returncode, ran.stderr + ran.stdout) == (0, 'Server "srv" removed from project settings.\n')


def test_what_add_and_remove_did_is_told_to_programs(tmp_path: Path) -> None:
    here = desk(tmp_path)
    added = json.loads(here.run("--json", "add", "srv", "greeter").stdout)
    said = 'MCP server "srv" added to project settings. (stdio)'
    assert (added["exit"], added["said"].strip(), added["files"]) == (0, said, [str(here.settings_file)])
    assert json.loads(here.run("--json", "remove", "other").stdout)["files"] == []


def test_disabling_for_a_session_writes_nothing(greeting: Desk) -> None:
    ran = greeting.run("disable", "srv", "--session")
    assert (ran.returncode, ran.stdout) == (0, "MCP server 'srv' disabled for this session.\n")
    assert "nothing is written" in ran.stderr
    assert not (greeting.home / ".gemini" / "mcp-server-enablement.json").exists()
    assert json.loads(greeting.run("enable", "srv", "--session", "--json").stdout)["enabled"] is True


def test_what_is_disabled_is_told_to_programs(greeting: Desk) -> None:
    told = json.loads(greeting.run("disable", "srv", "--json").stdout)
    kept = greeting.home / ".gemini" / "mcp-server-enablement.json"
    assert told == {"server": "srv", "enabled": False, "file": str(kept)}


def test_one_tool_is_told_as_one(greeting: Desk) -> None:
    assert "CONNECTED, 1 tool\n" in greeting.run("inspect", "srv").stdout


def test_tools_without_servers_says_so(tmp_path: Path) -> None:
    ran = desk(tmp_path).run("tools")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert ran.stderr == "No server is configured here. `gemini-mcp-host add NAME COMMAND` adds one.\n"
