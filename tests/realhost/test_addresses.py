"""A server that moved to another origin, and names on the command line: the program beside the reference."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import ClassVar

import pytest
from model import listening
from program import MODEL, SECONDS, run, settings_text

from gemini_mcp.spec.values import Json

TOOLS: Json = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
GREETING: Json = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "s", "version": "1"},
}
HEADERS = {"Authorization": "Bearer canary", "X-Own": "canary"}


class Listening(BaseHTTPRequestHandler):
    """An MCP server that notes the headers of every POST."""

    protocol_version = "HTTP/1.1"
    heard: ClassVar[list[dict[str, str]]] = []

    def do_POST(self) -> None:
        asked: Json = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.heard.append({name.lower(): value for name, value in self.headers.items()})
        result: Json = GREETING if asked["method"] == "initialize" else TOOLS
        answer = json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), "result": result}).encode()
        self.send_response(200 if "id" in asked else 202)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer) if "id" in asked else 0))
        self.end_headers()
        self.wfile.write(answer if "id" in asked else b"")

    def do_GET(self) -> None:
        self.send_response(405)
        self.send_header("content-length", "0")
        self.end_headers()

    do_DELETE = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def moved(status: int) -> Generator[tuple[str, list[dict[str, str]]]]:
    """The old address of a server, and what its new one hears."""

    class Here(Listening):
        heard: ClassVar[list[dict[str, str]]] = []

    with listening(Here) as address:

        class Moved(Listening):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(status)
                self.send_header("location", f"{address}/mcp")
                self.send_header("content-length", "0")
                self.end_headers()

        with listening(Moved) as old:
            yield old, Here.heard


def listed(folder: Path, text: str, *words: str) -> list[str]:
    """The tools that the reference registers."""
    file = folder / ".gemini" / "settings.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    environment = {**os.environ, "HOME": str(folder / "home"), "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    command = [sys.executable, "-m", "gemini_mcp.host.command.main", *words, "tools", "--json"]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=SECONDS, check=False
    )
    return [row["name"] for row in json.loads(done.stdout)["tools"]]


def declared(folder: Path, text: str, *words: str) -> list[str]:
    """The tools that the program declares."""
    seen = run(folder, [*words, "-m", MODEL, "--approval-mode", "yolo", "-p", "go"], settings={"project": text})
    return [one["name"] for one in seen.declarations]


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("ask", [listed, declared])
def test_a_redirect_to_another_origin_is_followed_without_the_credentials(ask: Json, status: int) -> None:
    with tempfile.TemporaryDirectory(prefix="real-host-") as folder, moved(status) as (address, heard):
        text = settings_text({"s": {"httpUrl": address, "headers": HEADERS}})
        assert ask(Path(folder), text) == ["mcp_s_t"]
    assert {headers.get("x-own") for headers in heard} == {"canary"}
    assert not any("authorization" in headers for headers in heard)


@pytest.mark.parametrize("ask", [listed, declared])
@pytest.mark.parametrize(("words", "kept"), [(["a, b"], "ab"), (["a", "b"], "ab"), (["a,,c"], "ac"), ([","], "abc")])
def test_commas_separate_the_names_of_servers(ask: Json, words: list[str], kept: str) -> None:
    flags = [part for word in words for part in ("--allowed-mcp-server-names", word)]
    with tempfile.TemporaryDirectory(prefix="real-host-") as folder, listening(Listening) as address:
        text = settings_text({name: {"httpUrl": f"{address}/mcp"} for name in "abc"})
        assert ask(Path(folder), text, *flags) == [f"mcp_{name}_t" for name in kept]


@pytest.mark.parametrize("ask", [listed, declared])
def test_the_protocol_version_is_not_sent(ask: Json) -> None:
    with tempfile.TemporaryDirectory(prefix="real-host-") as folder, moved(307) as (address, heard):
        assert ask(Path(folder), settings_text({"s": {"httpUrl": address}})) == ["mcp_s_t"]
    assert len(heard) >= 3
    assert not any("mcp-protocol-version" in headers for headers in heard)
