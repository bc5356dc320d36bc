"""What `--print-config` prints for each client, and what it says beside."""

import json
import shlex
import subprocess
import tomllib
from itertools import pairwise
from subprocess import CompletedProcess

import pytest
from client import Place

from gemini_mcp.operator import flags
from gemini_mcp.operator.clients import CLIENTS
from gemini_mcp.spec.values import Json

KEY, TOKEN = "key-of-the-test", "token-of-the-test"
SHELL = {
    "GEMINI_API_KEY": KEY,
    "GOOGLE_CLOUD_PROJECT": "mine",
    "HTTPS_PROXY": "http://me:pass-word@proxy",
    "OTHER": "x",
}
SECRETS = ("GEMINI_API_KEY", "HTTPS_PROXY")

REACHABLE = [name for name in CLIENTS if CLIENTS[name].reach]

REFERENCES = {
    "claude": None,
    "claude-code": "${%s}",
    "cursor": "${env:%s}",
    "vscode": "${input:%s}",
    "gemini": "$%s",
    "codex": None,
    "inspector": "value of %s",
}


def test_every_client_has_a_snippet() -> None:
    assert set(flags.CLIENTS) == CLIENTS.keys() == REFERENCES.keys()


def words(printed: str) -> list[str]:
    """The words of a command, as a shell expands them."""
    environ = {name: f"value of {name}" for name in (*SECRETS, "PATH")}
    shell = subprocess.check_output(("/bin/sh", "-c", f"printf '%s\\0' {printed}"), env=environ, encoding="utf-8")
    return shell.split("\0")[:-1]


def entry(client: str, printed: str) -> Json:
    """Command, arguments and variables of a snippet."""
    if client in ("claude-code", "inspector"):
        parts = words(printed)
        start = parts.index("--")
        pairs = [value.partition("=") for flag, value in pairwise(parts[:start]) if flag == "-e"]
        env = {name: value for name, _, value in pairs}
        return {"command": parts[start + 1], "args": parts[start + 2 :], "env": env}
    document = tomllib.loads(printed) if client == "codex" else json.loads(printed)
    servers = document["servers"] if "servers" in document else next(iter(document.values()))
    return servers["gemini"]


def told(client: str, place: Place, *arguments: str, **variables: str) -> tuple[Json, CompletedProcess[str]]:
    done = place.run("--print-config", client, *arguments, **variables)
    assert done.returncode == 0, done.stderr
    for secret in (KEY, TOKEN, "pass-word"):
        assert secret not in done.stdout + done.stderr
    return entry(client, done.stdout), done


@pytest.mark.parametrize("client", CLIENTS)
def test_a_snippet_starts_the_server_as_told(place: Place, client: str) -> None:
    given = ("--timeout", "30.5", "--default-model", "a b", "--expose-session=meta")
    server, _ = told(client, place, *given, GEMINI_MCP_MAX_CONCURRENCY="3", GEMINI_MCP_ALLOW_CWD="/a b")
    assert server["command"].endswith("gemini-mcp-server")
    assert server["args"] == ["--timeout", "30.5", "--default-model", "a b", "--expose-session=meta"]
    assert server["env"]["GEMINI_MCP_MAX_CONCURRENCY"] == "3"
    assert server["env"]["GEMINI_MCP_ALLOW_CWD"] == "/a b"
    assert server["env"]["PATH"].startswith(str(place.fake.bin))


def test_a_path_is_whole_in_a_snippet(place: Place) -> None:
    given = ("--allow-cwd", "a", "--allow-cwd=~/b", "--gemini", "gemini-nightly", "--log-file", "./log")
    server, _ = told("cursor", place, *given, "--expose-session=meta")
    whole = [str(place.cwd / "a"), f"--allow-cwd={place.home / 'b'}", str(place.cwd / "log")]
    assert server["args"][:6] == ["--allow-cwd", whole[0], whole[1], "--gemini", "gemini-nightly", "--log-file"]
    assert server["args"][6] == whole[2]


def test_what_a_client_lacks_is_said_before_where_the_snippet_goes(place: Place) -> None:
    _, done = told("claude-code", place)
    *lacking, last = done.stderr.splitlines()
    assert [line.split()[0] for line in lacking] == ["gemini", "A"]
    assert last == "Run this command:"
    _, chosen = told("claude-code", place, "--allow-cwd", "a")
    assert "has to trust" not in chosen.stderr


def test_a_key_in_its_file_is_enough_for_a_snippet(place: Place) -> None:
    (place.home / ".gemini").mkdir()
    (place.home / ".gemini/.env").write_text("GEMINI_API_KEY=key", encoding="utf-8")
    _, done = told("claude", place)
    assert "not signed in" not in done.stderr


@pytest.mark.parametrize("client", CLIENTS)
def test_a_secret_is_named_and_never_written(place: Place, client: str) -> None:
    server, done = told(client, place, **SHELL)
    assert server["env"]["GOOGLE_CLOUD_PROJECT"] == "mine"
    assert "OTHER" not in server["env"]
    reference = REFERENCES[client]
    if reference is not None:
        assert {name: server["env"][name] for name in SECRETS} == {name: reference % name for name in SECRETS}
    else:
        assert not server["env"].keys() & set(SECRETS)
    assert client != "codex" or server["env_vars"] == list(SECRETS)
    assert client != "claude" or "~/.gemini/.env" in done.stderr
    assert all(name in done.stderr for name in SECRETS)
    if client == "vscode":
        inputs = json.loads(done.stdout)["inputs"]
        assert [(one["id"], one["password"]) for one in inputs] == [(name, True) for name in SECRETS]


@pytest.mark.parametrize("client", CLIENTS)
def test_nothing_is_referred_to_that_is_not_needed(place: Place, client: str) -> None:
    (place.home / ".gemini").mkdir()
    (place.home / ".gemini/.env").write_text("GEMINI_API_KEY=key", encoding="utf-8")
    server, done = told(client, place, "--trust-workspace", GEMINI_API_KEY="")
    assert "GEMINI_API_KEY" not in server["env"]
    assert len(done.stderr.splitlines()) == 2  # An empty variable hides the file's.
    assert "not signed in" in done.stderr


@pytest.mark.parametrize("client", CLIENTS)
def test_the_model_is_shown_the_session(place: Place, client: str) -> None:
    arguments = told(client, place)[0].get("args", [])
    assert arguments == ([] if client == "inspector" else ["--expose-session", "text"])
    assert told(client, place, GEMINI_MCP_EXPOSE_SESSION="structured")[0].get("args", []) == []


@pytest.mark.parametrize(
    ("client", "key", "waits"), [("gemini", "timeout", 1_230_000), ("codex", "tool_timeout_sec", 1230)]
)
def test_a_client_waits_longer_than_a_call_takes(place: Place, client: str, key: str, waits: int) -> None:
    assert told(client, place, "--timeout", "1200")[0][key] == waits


HTTP = ("--transport", "http", "--host", "0.0.0.0", "--port", "9")


@pytest.mark.parametrize("client", REACHABLE)
def test_a_server_on_http_is_reached_by_its_address(place: Place, client: str) -> None:
    done = place.run("--print-config", client, *HTTP, "--token", TOKEN)
    assert done.returncode == 0
    assert TOKEN not in done.stdout + done.stderr
    assert "http://127.0.0.1:9/mcp" in done.stdout
    assert "GEMINI_MCP_TOKEN" in done.stdout
    assert f"gemini-mcp-server {shlex.join(HTTP)}" in done.stderr
    assert "GEMINI_MCP_TOKEN set" in done.stderr


@pytest.mark.parametrize("client", REACHABLE)
def test_a_client_needs_no_variables_of_a_server_that_it_does_not_start(place: Place, client: str) -> None:
    done = place.run("--print-config", client, *HTTP, "--token", TOKEN, **SHELL, GEMINI_MCP_DEFAULT_MODEL="m")
    for name in ("GEMINI_API_KEY", "HTTPS_PROXY", "GOOGLE_CLOUD_PROJECT", "DEFAULT_MODEL"):
        assert name not in done.stdout + done.stderr


@pytest.mark.parametrize("client", REACHABLE)
def test_a_loopback_address_needs_no_token(place: Place, client: str) -> None:
    done = place.run("--print-config", client, GEMINI_MCP_TRANSPORT="http")
    assert "http://127.0.0.1:8765/mcp" in done.stdout
    assert "TOKEN" not in done.stdout + done.stderr


@pytest.mark.parametrize(("client", "transport"), [("claude", "http"), ("claude", "sse"), ("codex", "sse")])
def test_what_a_client_cannot_reach_is_told(place: Place, client: str, transport: str) -> None:
    done = place.run("--print-config", client, "--transport", transport)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Use --transport stdio" in done.stderr
