"""Programs that installers have put where PATH does not lead."""

import json
import os
from pathlib import Path

import pytest
from client import Place, text

from gemini_mcp.operator.discovery import INSTALLERS, discover, widened_path

HOME = {
    "nvm": (".nvm/versions/node/v9.11.2/bin", ".nvm/versions/node/v22.1.0/bin"),
    "volta": (".volta/bin",),
    "fnm": (".fnm/node-versions/v20.0.0/installation/bin", ".fnm/node-versions/v22.0.0/installation/bin"),
    "asdf": (".asdf/installs/nodejs/20.1.0/bin", ".asdf/shims"),
    "mise": (".local/share/mise/installs/node/20.1.0/bin", ".local/share/mise/shims"),
    "npm": (".npm-global/bin",),
    "pnpm": (".local/share/pnpm",),
    "bun": (".bun/bin",),
    "brew": ("brew/bin",),
}
"""Where each installer has put a program below a home; the last place is the right one."""


def install(folder: Path, name: str = "gemini") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def environ(home: Path, **variables: str) -> dict[str, str]:
    return {"HOME": str(home), "PATH": "/nowhere", "HOMEBREW_PREFIX": str(home / "brew"), **variables}


def test_every_installer_is_tested() -> None:
    assert HOME.keys() == INSTALLERS.keys()


@pytest.mark.parametrize("installer", HOME)
def test_a_program_is_found_in_its_newest_version(tmp_path: Path, installer: str) -> None:
    programs = [install(tmp_path / folder) for folder in HOME[installer]]
    found = discover("gemini", environ(tmp_path))
    assert found is not None
    assert (found.path, found.installer) == (str(programs[-1]), installer)


@pytest.mark.parametrize(
    ("variable", "rest"),
    [
        ("NVM_DIR", "versions/node/v22.1.0/bin"),
        ("VOLTA_HOME", "bin"),
        ("FNM_DIR", "aliases/default/bin"),
        ("ASDF_DATA_DIR", "shims"),
        ("MISE_DATA_DIR", "shims"),
        ("NPM_CONFIG_PREFIX", "bin"),
        ("PNPM_HOME", ""),
        ("BUN_INSTALL", "bin"),
    ],
)
def test_an_installer_may_live_elsewhere(tmp_path: Path, variable: str, rest: str) -> None:
    program = install(tmp_path / "elsewhere" / rest)
    found = discover("gemini", environ(tmp_path, **{variable: str(tmp_path / "elsewhere")}))
    assert found is not None
    assert found.path == str(program)


@pytest.mark.parametrize("line", ["prefix=~/mine", "prefix = ${HOME}/mine", 'prefix="{home}/mine"'])
def test_the_prefix_of_npm_is_read(tmp_path: Path, line: str) -> None:
    program = install(tmp_path / "mine/bin")
    text = f"# mine\nregistry=https://r.example\n{line.replace('{home}', str(tmp_path))}\n"
    (tmp_path / ".npmrc").write_text(text, encoding="utf-8")
    found = discover("gemini", environ(tmp_path))
    assert found is not None
    assert found.path == str(program)


def test_settings_of_npm_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").mkdir()
    program = install(tmp_path / ".npm-global/bin")
    found = discover("gemini", environ(tmp_path))
    assert found is not None
    assert found.path == str(program)


def test_a_home_may_have_any_name(tmp_path: Path) -> None:
    home = tmp_path / "[a]*"
    program = install(home / ".nvm/versions/node/v22.1.0/bin")
    found = discover("gemini", environ(home))
    assert found is not None
    assert found.path == str(program)


def test_what_cannot_be_executed_is_passed_over(tmp_path: Path) -> None:
    install(tmp_path / ".volta/bin").chmod(0o644)
    assert discover("gemini", environ(tmp_path)) is None


def test_path_is_widened_only_by_what_is_missing(tmp_path: Path) -> None:
    install(tmp_path / ".volta/bin")
    node = install(tmp_path / "here", "node")
    variables = environ(tmp_path, PATH=str(node.parent))
    assert widened_path(("gemini", "node", "absent"), variables) == f"{node.parent}{os.pathsep}{tmp_path}/.volta/bin"


def test_doctor_and_snippets_tell_where_programs_are(place: Place) -> None:
    folder = place.home / ".nvm/versions/node/v22.1.0/bin"
    for name in ("gemini", "node"):
        install(folder, name)
    report = json.loads(place.run("doctor", "--json", PATH="/nowhere").stdout)
    checks = {check["name"]: check for check in report["checks"]}
    for name in ("gemini", "node"):
        assert not checks[name]["is_fine"]
        assert "nvm has it" in checks[name]["seen"]
        assert str(folder) in checks[name]["action"]
    snippet = json.loads(place.run("--print-config", "claude", PATH="/nowhere").stdout)
    assert snippet["mcpServers"]["gemini"]["env"]["PATH"] == f"/nowhere{os.pathsep}{folder}"


def test_a_call_says_that_node_is_missing(place: Place) -> None:
    gemini = install(place.home / "bin")
    gemini.write_text("#!/usr/bin/env node\n", encoding="utf-8")
    said = text(place.start("--gemini", str(gemini), PATH="/nowhere").chat())
    assert "no `node` is on the server's PATH (exit code 127)" in said
