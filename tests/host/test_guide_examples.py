"""Every example of the guide: settings are read and run, `mcp add` lines run, the prompt is invoked."""

import json
from pathlib import Path
from typing import Any

import pytest
from stand_in import desk

from gemini_mcp.host.rules.profiles import profiles
from gemini_mcp.host.servers.transport import Sse, Stdio, StreamableHttp, choose
from gemini_mcp.host.settings.loading import Layer, load

DOCUMENTED = profiles()["documented"]
GUIDE = Path(__file__).parent / "guide"
BLOCKS = {file.stem: file.read_text(encoding="utf-8") for file in sorted(GUIDE.glob("*.json"))}
ADDED = [json.loads(line) for line in (GUIDE / "add.jsonl").read_text(encoding="utf-8").splitlines()]
TRANSPORTS = {"discovered": Sse, "google": StreamableHttp, "http": StreamableHttp, "headers": StreamableHttp}

ONE_TOOL: dict[str, Any] = {"tools": [{"name": "safe_tool", "inputSchema": {"type": "object"}}]}
ARGUMENTS = [{"name": "title", "required": True}, {"name": "mood", "required": False}]
HAIKU = {"type": "text", "text": "Write a haiku with the mood {mood} called {title}."}
POEM: dict[str, Any] = {
    "prompts": [{"name": "poem-writer", "description": "Write a nice haiku", "arguments": ARGUMENTS}],
    "answers": {"poem-writer": {"messages": [{"role": "user", "content": HAIKU}]}},
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_settings_block_is_planned(name: str) -> None:
    loaded = load([Layer("project", "settings.json", BLOCKS[name])], {"PWD": "/work"}, DOCUMENTED)
    assert [str(problem) for problem in loaded.problems] == []
    [server] = loaded.servers
    assert isinstance(choose(server.values, {}, DOCUMENTED), TRANSPORTS.get(name, Stdio))


@pytest.mark.parametrize("name", ["python", "node", "docker"])
def test_a_stdio_block_runs(tmp_path: Path, name: str) -> None:
    here = desk(tmp_path)
    here.stand_in(name, ONE_TOOL)
    here.settings(BLOCKS[name])
    for folder in ("python", "node"):
        (here.project / "mcp-servers" / folder).mkdir(parents=True)
    ran = here.run_documented("status", EXTERNAL_SERVICE_TOKEN="t", DB_CONNECTION_STRING="db", PWD=str(here.project))
    assert ran.returncode == 0, ran.stderr
    assert "(CONNECTED)" in ran.stdout
    started_in, *words = here.started(name)
    [config] = json.loads(BLOCKS[name])["mcpServers"].values()
    assert words == [word.replace("${PWD}", str(here.project)) for word in config["args"]]
    assert Path(started_in).resolve() == (here.project / config.get("cwd", ".")).resolve()


def test_the_environment_of_the_docker_block_is_expanded(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.stand_in("docker", ONE_TOOL)
    here.settings(BLOCKS["docker"])
    ran = here.run_documented("status", EXTERNAL_SERVICE_TOKEN="sekret")
    assert "API_KEY=sekret" in here.environment_of("docker").splitlines()
    assert "sekret" not in ran.stdout + ran.stderr
    assert "🐳 dockerizedServer (CONNECTED)" in ran.stdout


def test_the_filtered_block_registers_what_it_includes(tmp_path: Path) -> None:
    here = desk(tmp_path)
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("safe_tool", "dangerous_tool")]
    here.stand_in("python", {"tools": tools})
    here.settings(BLOCKS["filtered"])
    assert json.loads(here.run_documented("tools", "--json").stdout)["tools"][0]["name"] == "safe_tool"


@pytest.mark.parametrize("line", ADDED)
def test_an_add_line_writes_the_server(tmp_path: Path, line: Any) -> None:
    here = desk(tmp_path)
    ran = here.run_documented("add", *line["words"])
    assert ran.returncode == 0, ran.stderr
    [(name, config)] = json.loads(here.settings_file.read_text(encoding="utf-8"))["mcpServers"].items()
    assert config == line["written"]
    assert ran.stdout.startswith(f'MCP server "{name}" added to project settings.')
    assert here.run_documented("remove", name).stdout == f'Server "{name}" removed from project settings.\n'


@pytest.mark.parametrize(
    "line", ['/poem-writer --title="Gemini CLI" --mood="reverent"', '/poem-writer "Gemini CLI" reverent']
)
def test_the_poem_is_asked_for(tmp_path: Path, line: str) -> None:
    here = desk(tmp_path)
    here.stand_in("node", POEM)
    here.settings(BLOCKS["prompt-server"])
    ran = here.run_documented("prompt", line)
    assert (ran.returncode, ran.stdout) == (0, "Write a haiku with the mood reverent called Gemini CLI.\n")


def test_the_list_has_the_lines_of_the_guide(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.stand_in("python3", ONE_TOOL)
    servers = {
        "stdio-server": {"command": "python3", "args": ["server.py"]},
        "sse-server": {"url": "http://127.0.0.1:9/sse"},
    }
    here.settings(json.dumps({"mcpServers": servers}))
    ran = here.run_documented("list")
    assert ran.stdout.splitlines()[2:] == [
        "✓ stdio-server: command: python3 server.py (stdio) - Connected",
        "✗ sse-server: http://127.0.0.1:9/sse (sse) - Disconnected",
    ]
