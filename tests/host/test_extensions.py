"""Servers of extensions, as the user of `gemini-mcp-host` meets them; vectors and scenarios show the rules."""

import json
from pathlib import Path
from typing import Any

from stand_in import Desk, desk

SCRIPT: dict[str, Any] = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("a", "b")]}
SHARED = "the settings configure this server too, so Gemini CLI starts it twice"


def install(here: Desk, name: str, **server: Any) -> Path:
    """Install an extension that configures the server `srv`; the value is its folder."""
    folder = here.home / ".gemini" / "extensions" / name
    folder.mkdir(parents=True)
    manifest = {"name": name, "version": "1.0.0", "mcpServers": {"srv": {"command": "greeter", **server}}}
    (folder / "gemini-extension.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def equipped(root: Path, **server: Any) -> Desk:
    here = desk(root)
    here.stand_in("greeter", SCRIPT)
    install(here, "ext", **server)
    return here


def test_status_and_tools_show_what_an_extension_brings(tmp_path: Path) -> None:
    here = equipped(tmp_path, excludeTools=["a"])
    ran = here.run("status")
    assert "srv (CONNECTED)\n  Command: greeter\n  Extension: ext\n  Tools: mcp_srv_b\n" in ran.stdout
    assert ran.returncode == 0, ran.stderr
    assert json.loads(here.run("status", "--json").stdout)["servers"][0]["extension"] == "ext"
    assert here.run("tools", "srv").stdout == "mcp_srv_b  (srv: b)\n"


def test_list_names_the_extension_as_the_program_does(tmp_path: Path) -> None:
    here = equipped(tmp_path)
    assert here.run("list").stderr == "Configured MCP servers:\n\n✓ srv (from ext): greeter  (stdio) - Connected\n"
    assert json.loads(here.run("list", "--json").stdout) == [
        {"name": "srv", "state": "connected", "extension": "ext", "cause": None}
    ]


def test_the_documented_profile_knows_no_extensions(tmp_path: Path) -> None:
    assert equipped(tmp_path).run_documented("list").stdout == "No MCP servers configured.\n"


def test_an_extension_that_is_disabled_here_says_so(tmp_path: Path) -> None:
    here = equipped(tmp_path)
    rules = json.dumps({"ext": {"overrides": [f"!{here.project.resolve()}/*"]}})
    (here.home / ".gemini" / "extensions" / "extension-enablement.json").write_text(rules, encoding="utf-8")
    assert "srv (DISABLED)" in (told := here.run("status").stdout)
    assert "Reason: the extension 'ext' is disabled here" in told
    assert here.run("tools").stdout == ""


def test_a_server_that_settings_and_extension_start_is_told(tmp_path: Path) -> None:
    here = equipped(tmp_path, excludeTools=["a"])
    here.settings('{"mcpServers": {"srv": {"command": "greeter", "excludeTools": ["b"]}}}')
    assert f"  Note: {SHARED}" in here.run("status").stdout
    current, documented = json.loads(here.run("inspect", "--json", "--alone", "srv").stdout)
    kept = [tool["original"] for tool in current["tools"] if "registered" in tool]
    assert kept == ["a"]
    assert "started-twice" in {finding["kind"] for finding in current["findings"]}
    assert "started-twice" not in {finding["kind"] for finding in documented["findings"]}


def test_a_broken_extension_is_named_and_the_others_are_used(tmp_path: Path) -> None:
    here = equipped(tmp_path)
    broken = install(here, "broken") / "gemini-extension.json"
    broken.write_text("{", encoding="utf-8")
    ran = here.run("tools")
    assert ran.stdout == "mcp_srv_a  (srv: a)\nmcp_srv_b  (srv: b)\n"
    assert f"Warning: Skipping extension in {broken.parent.resolve()}: Failed to load extension config" in ran.stderr


def test_two_extensions_of_one_name_are_exit_2(tmp_path: Path) -> None:
    here = equipped(tmp_path)
    install(here, "other").joinpath("gemini-extension.json").write_text(
        '{"name": "ext", "version": "1"}', encoding="utf-8"
    )
    ran = here.run("status")
    assert ran.returncode == 2
    assert "two extensions have the name 'ext', and Gemini CLI does not start" in ran.stderr
