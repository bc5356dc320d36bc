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


def _run(*command: str | Path, cwd: Path, stdin: str = "", code: int = 0) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_REQUIRE"))}
    done = subprocess.run(
        command, cwd=cwd, input=stdin, env=clean, capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
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


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the programs of the wheel are, installed with nothing but what they need."""
    folder = tmp_path_factory.mktemp("installed")
    _run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    _run(folder / "venv/bin/pip", "install", "--quiet", wheel, cwd=folder)
    return folder / "venv/bin"


@pytest.mark.slow
def test_the_installed_server_answers_in_a_foreign_directory(programs: Path, tmp_path: Path) -> None:
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    answers = _run(
        programs / "gemini-mcp-server",
        cwd=tmp_path,
        stdin="".join(json.dumps(request) + "\n" for request in requests),
    )
    tools = json.loads(answers.splitlines()[-1])["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["chat", "chat-reply"]


@pytest.mark.slow
def test_the_installed_host_locks_the_server_and_shows_what_breaks(programs: Path, tmp_path: Path) -> None:
    host, server = programs / "gemini-mcp-host", programs / "gemini-mcp-server"
    _run(host, "lock", "--name", "mine", "--", server, cwd=tmp_path)
    assert _run(host, "diff", "mine.lock.json", "--", server, cwd=tmp_path).startswith("no change, ")
    lock = json.loads((tmp_path / "mine.lock.json").read_text(encoding="utf-8"))
    del lock["profiles"]["current"]["offered"]["tools"]["chat"]["inputSchema"]["required"]
    (tmp_path / "old.json").write_text(json.dumps(lock), encoding="utf-8")
    told = _run(host, "diff", "old.json", "mine.lock.json", cwd=tmp_path, code=1).splitlines()
    assert '"chat": `prompt` is required now.' in told[0]
    assert told[1] == "    witness: {}"
