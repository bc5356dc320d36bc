"""The wheel: built, listed, installed where nothing else is, and run from a foreign directory."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PATIENCE = 300

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def _run(*command: str | Path, cwd: Path, stdin: str = "") -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_REQUIRE"))}
    done = subprocess.run(
        command, cwd=cwd, input=stdin, env=clean, capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT, cwd=folder)
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_the_whole_specification_and_all_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    specification = {path.relative_to(ROOT / "spec") for path in (ROOT / "spec").rglob("*") if path.is_file()}
    assert {f"gemini_mcp/_spec/{path.as_posix()}" for path in specification} <= names
    assert {"gemini_mcp/py.typed", "gemini_mcp_spec/py.typed", "gemini_mcp_conformance/py.typed"} <= names
    suite = ROOT / "conformance"
    data = {path.relative_to(suite).as_posix() for path in suite.rglob("*.json")}
    data |= {"gemini_mcp/gemini_cli/gemini-cli.json", "gemini_mcp/host/tools/other_hosts.json"}
    assert data <= names
    assert not [name for name in names if name.startswith("tests/")]


@pytest.mark.slow
def test_the_installed_server_answers_in_a_foreign_directory(wheel: Path, tmp_path: Path) -> None:
    _run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    _run(tmp_path / "venv/bin/pip", "install", "--quiet", wheel, cwd=tmp_path)
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    answers = _run(
        tmp_path / "venv/bin/gemini-mcp-server",
        cwd=foreign,
        stdin="".join(json.dumps(request) + "\n" for request in requests),
    )
    tools = json.loads(answers.splitlines()[-1])["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["chat", "chat-reply"]
