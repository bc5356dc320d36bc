"""Every example of the guide: settings blocks planned and run, `mcp add` lines run, the prompt invoked."""

import json
from pathlib import Path
from typing import Any

import pytest
from stand_in import desk

from gemini_mcp.host.rules.profiles import profiles
from gemini_mcp.host.servers.transport import Sse, Stdio, StreamableHttp, choose
from gemini_mcp.host.settings.loading import Layer, load

DOCUMENTED = profiles()["documented"]
BLOCKS: dict[str, str] = {
    "structure": """{ "mcpServers": { "serverName": { "command": "path/to/server", "args": ["--arg1", "value1"],
        "env": { "API_KEY": "$MY_API_TOKEN" }, "cwd": "./server-directory", "timeout": 30000, "trust": false } } }""",
    "discovered": """{ "mcpServers": { "discoveredServer": { "url": "https://api.example.com/sse" } } }""",
    "google": """{ "mcpServers": { "googleCloudServer": { "httpUrl": "https://my-gcp-service.run.app/mcp",
        "authProviderType": "google_credentials",
        "oauth": { "scopes": ["https://www.googleapis.com/auth/userinfo.email"] } } } }""",
    "python": """{ "mcpServers": { "pythonTools": { "command": "python",
        "args": ["-m", "my_mcp_server", "--port", "8080"], "cwd": "./mcp-servers/python",
        "env": { "DATABASE_URL": "$DB_CONNECTION_STRING", "API_KEY": "${EXTERNAL_API_KEY}" }, "timeout": 15000 } } }""",
    "node": """{ "mcpServers": { "nodeServer": { "command": "node", "args": ["dist/server.js", "--verbose"],
        "cwd": "./mcp-servers/node", "trust": true } } }""",
    "docker": """{ "mcpServers": { "dockerizedServer": { "command": "docker", "args": [ "run", "-i", "--rm", "-e",
        "API_KEY", "-v", "${PWD}:/workspace", "my-mcp-server:latest" ],
        "env": { "API_KEY": "$EXTERNAL_SERVICE_TOKEN" } } } }""",
    "http": """{ "mcpServers": { "httpServer": { "httpUrl": "http://localhost:3000/mcp", "timeout": 5000 } } }""",
    "headers": """{ "mcpServers": { "httpServerWithAuth": { "httpUrl": "http://localhost:3000/mcp", "headers": {
        "Authorization": "Bearer your-api-token", "X-Custom-Header": "custom-value",
        "Content-Type": "application/json" }, "timeout": 5000 } } }""",
    "filtered": """{ "mcpServers": { "filteredServer": { "command": "python", "args": ["-m", "my_mcp_server"],
        "includeTools": ["safe_tool", "file_reader", "data_processor"],
        // "excludeTools": ["dangerous_tool", "file_deleter"],
        "timeout": 30000 } } }""",
    "prompt-server": """{ "mcpServers": { "nodeServer": { "command": "node", "args": ["filename.ts"], } } }""",
}
TRANSPORTS = {"discovered": Sse, "google": StreamableHttp, "http": StreamableHttp, "headers": StreamableHttp}

BEARER = "Authorization: Bearer abc123"
ADDED: list[tuple[list[str], dict[str, Any]]] = [
    (
        ["my-stdio-server", "-e", "API_KEY=123", "/path/to/server", "arg1", "arg2", "arg3"],
        {"command": "/path/to/server", "args": ["arg1", "arg2", "arg3"], "env": {"API_KEY": "123"}},
    ),
    (
        ["python-server", "python", "server.py", "--port", "8080"],
        {"command": "python", "args": ["server.py", "--port", "8080"]},
    ),
    (
        ["--transport", "http", "http-server", "https://api.example.com/mcp/"],
        {"httpUrl": "https://api.example.com/mcp/"},
    ),
    (
        ["--transport", "http", "secure-http", "https://api.example.com/mcp/", "--header", BEARER],
        {"httpUrl": "https://api.example.com/mcp/", "headers": {"Authorization": "Bearer abc123"}},
    ),
    (["--transport", "sse", "sse-server", "https://api.example.com/sse/"], {"url": "https://api.example.com/sse/"}),
    (
        ["--transport", "sse", "secure-sse", "https://api.example.com/sse/", "--header", BEARER],
        {"url": "https://api.example.com/sse/", "headers": {"Authorization": "Bearer abc123"}},
    ),
]
ONE_TOOL: dict[str, Any] = {"tools": [{"name": "safe_tool", "inputSchema": {"type": "object"}}]}
POEM: dict[str, Any] = {
    "prompts": [
        {
            "name": "poem-writer",
            "description": "Write a nice haiku",
            "arguments": [{"name": "title", "required": True}, {"name": "mood", "required": False}],
        }
    ],
    "answers": {
        "poem-writer": {
            "messages": [
                {
                    "role": "user",
                    "content": {"type": "text", "text": "Write a haiku with the mood {mood} called {title}."},
                }
            ]
        }
    },
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_settings_block_is_planned(name: str) -> None:
    loaded = load([Layer("project", "settings.json", BLOCKS[name])], {"PWD": "/work"}, DOCUMENTED)
    assert [str(problem) for problem in loaded.problems] == []
    [server] = loaded.servers
    assert isinstance(choose(server.values, {}, DOCUMENTED), TRANSPORTS.get(name, Stdio))


@pytest.mark.parametrize(("name", "program"), [("python", "python"), ("node", "node"), ("docker", "docker")])
def test_a_stdio_block_runs(tmp_path: Path, name: str, program: str) -> None:
    here = desk(tmp_path)
    here.stand_in(program, ONE_TOOL)
    here.settings(BLOCKS[name])
    for folder in ("python", "node"):
        (here.project / "mcp-servers" / folder).mkdir(parents=True)
    ran = here.run("status", EXTERNAL_SERVICE_TOKEN="t", DB_CONNECTION_STRING="db", PWD=str(here.project))
    assert ran.returncode == 0, ran.stderr
    assert "(CONNECTED)" in ran.stdout
    started_in, *words = here.started(program)
    configured = json.loads(BLOCKS[name])["mcpServers"]
    [config] = configured.values()
    assert words == [word.replace("${PWD}", str(here.project)) for word in config["args"]]
    assert Path(started_in).resolve() == (here.project / config.get("cwd", ".")).resolve()


def test_the_environment_of_the_docker_block_is_expanded(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.stand_in("docker", ONE_TOOL)
    here.settings(BLOCKS["docker"])
    ran = here.run("status", EXTERNAL_SERVICE_TOKEN="sekret")
    assert "API_KEY=sekret" in here.environment_of("docker").splitlines()
    assert "sekret" not in ran.stdout + ran.stderr
    assert "🐳 dockerizedServer (CONNECTED)" in ran.stdout


def test_the_filtered_block_registers_what_it_includes(tmp_path: Path) -> None:
    here = desk(tmp_path)
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("safe_tool", "dangerous_tool")]
    here.stand_in("python", {"tools": tools})
    here.settings(BLOCKS["filtered"])
    assert json.loads(here.run("tools", "--json").stdout)[0]["name"] == "safe_tool"


@pytest.mark.parametrize(("words", "written"), ADDED)
def test_an_add_line_writes_the_server(tmp_path: Path, words: list[str], written: dict[str, Any]) -> None:
    here = desk(tmp_path)
    ran = here.run("add", *words)
    assert ran.returncode == 0, ran.stderr
    [(name, config)] = json.loads(here.settings_file.read_text(encoding="utf-8"))["mcpServers"].items()
    assert config == written
    assert ran.stdout.startswith(f'MCP server "{name}" added to project settings.')
    assert here.run("remove", name).stdout == f'Server "{name}" removed from project settings.\n'


@pytest.mark.parametrize(
    "line", ['/poem-writer --title="Gemini CLI" --mood="reverent"', '/poem-writer "Gemini CLI" reverent']
)
def test_the_poem_is_asked_for(tmp_path: Path, line: str) -> None:
    here = desk(tmp_path)
    here.stand_in("node", POEM)
    here.settings(BLOCKS["prompt-server"])
    ran = here.run("prompt", line)
    assert (ran.returncode, ran.stdout) == (0, "Write a haiku with the mood reverent called Gemini CLI.\n")


def test_the_list_has_the_lines_of_the_guide(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.stand_in("python3", ONE_TOOL)
    servers = {
        "stdio-server": {"command": "python3", "args": ["server.py"]},
        "sse-server": {"url": "http://127.0.0.1:9/sse"},
    }
    here.settings(json.dumps({"mcpServers": servers}))
    ran = here.run("list")
    assert ran.stdout.splitlines()[2:] == [
        "✓ stdio-server: command: python3 server.py (stdio) - Connected",
        "✗ sse-server: http://127.0.0.1:9/sse (sse) - Disconnected",
    ]
