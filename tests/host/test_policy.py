"""Policies, as the user of `gemini-mcp-host` meets them; the vectors `policy` show how rules are read."""

import json
from pathlib import Path
from typing import Any

from stand_in import Desk, desk

SCRIPT: dict[str, Any] = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("a", "b")]}
DENY_A = '[[rule]]\nmcpName = "srv"\ntoolName = "a"\ndecision = "deny"\npriority = 900\n'
DENY_PATH = f'{DENY_A}argsPattern = "etc"\ndenyMessage = "Not there."\n'


def ruled(root: Path, rules: str, settings: str = "{}", server: str = "srv") -> Desk:
    """A desk with one server, these settings besides, and a policy file."""
    here = desk(root)
    here.stand_in("greeter", SCRIPT)
    here.settings(json.dumps({**json.loads(settings), "mcpServers": {server: {"command": "greeter"}}}))
    file = here.home / ".gemini" / "policies" / "own.toml"
    file.parent.mkdir(parents=True)
    file.write_text(rules, encoding="utf-8")
    return here


def test_a_denied_tool_is_not_declared_and_said_so(tmp_path: Path) -> None:
    here = ruled(tmp_path, DENY_A)
    ran = here.run("tools")
    assert ran.stdout == "mcp_srv_b  (srv: b)\n"
    assert "not declared to the model, by the policy: mcp_srv_a" in ran.stderr
    assert 'Tool \\"mcp_srv_a\\" not found' in here.run("call", "mcp_srv_a", "--yes").stdout


def test_a_call_that_is_denied_by_its_arguments_is_told_why(tmp_path: Path) -> None:
    here = ruled(tmp_path, DENY_PATH)
    ran = here.run("call", "mcp_srv_a", "--arg", "path=/etc", "--yes")
    assert ran.returncode == 1
    assert "Tool execution denied by policy. Not there." in ran.stdout
    assert here.run("call", "mcp_srv_a", "--arg", "path=/home", "--yes").returncode == 0


def test_an_allowed_server_is_not_asked_about(tmp_path: Path) -> None:
    here = ruled(tmp_path, "", '{"mcp": {"allowed": ["srv"]}}')
    assert here.run("call", "mcp_srv_a").returncode == 0


def test_policy_names_the_rule_of_every_tool(tmp_path: Path) -> None:
    here = ruled(tmp_path, DENY_A)
    ran = here.run("policy", "--mode", "yolo")
    assert ran.stdout == (
        "mcp_srv_a  deny, not declared to the model  (.gemini/policies/own.toml)\nmcp_srv_b  allow  (built in)\n"
    )
    rows = json.loads(here.run("policy", "--headless", "--json").stdout)["tools"]
    assert [(row["decision"], row["declared"], row["rule"]) for row in rows] == [
        ("deny", False, ".gemini/policies/own.toml"),
        ("deny", False, "no rule is about it"),
    ]


def test_a_rule_that_covers_nothing_is_named(tmp_path: Path) -> None:
    here = ruled(tmp_path, "", '{"mcp": {"allowed": ["my srv"]}}', "my srv")
    said = "`mcp.allowed`: the rule about 'mcp_my srv_*' covers no tool of server 'my srv'."
    assert said in here.run("policy").stderr
    assert "covers no tool" not in ruled(_folder(tmp_path), DENY_A).run("policy").stderr


def test_a_faulty_file_is_named_and_skipped(tmp_path: Path) -> None:
    ran = ruled(tmp_path, DENY_A.replace("900", "1000")).run("tools")
    assert "Policy file own.toml is skipped: `rule.0.priority` breaks `maximum`" in ran.stderr
    assert ran.stdout == "mcp_srv_a  (srv: a)\nmcp_srv_b  (srv: b)\n"


def test_the_documented_profile_has_no_policy(tmp_path: Path) -> None:
    here = ruled(tmp_path, DENY_A)
    assert here.run_documented("tools").stdout == "a  (srv: a)\nb  (srv: b)\n"
    assert "has no policy" in here.run_documented("policy").stderr


def _folder(root: Path) -> Path:
    (root / "other").mkdir()
    return root / "other"
