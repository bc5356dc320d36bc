"""Prints the snippet that tells a client how to start the server. Edge.

A new client is a new entry of the table.
"""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NAME = "gemini"
PROGRAM = "gemini-mcp-server"


@dataclass(frozen=True)
class Launch:
    """The command line that starts the server, and the PATH on which gemini and node are found."""

    command: str
    arguments: tuple[str, ...]
    path: str

    @property
    def entry(self) -> dict[str, Any]:
        arguments = {"args": list(self.arguments)} if self.arguments else {}
        return {"command": self.command, **arguments, "env": {"PATH": self.path}}

    @property
    def line(self) -> str:
        return shlex.join((self.command, *self.arguments))


@dataclass(frozen=True)
class Client:
    """Where a client's snippet goes, and how it is written."""

    place: str
    write: Callable[[Launch], str]


def show(client: str, arguments: Sequence[str]) -> int:
    """Print the snippet on stdout, and on stderr where it goes."""
    # Desktop applications start servers without the PATH that a shell sets.
    launch = Launch(_command(), tuple(_server_flags(arguments)), os.environ.get("PATH", os.defpath))
    print(CLIENT_TABLE[client].place, file=sys.stderr)
    print(CLIENT_TABLE[client].write(launch))
    return 0


def _servers(key: str, extra: Mapping[str, Any] | None = None) -> Callable[[Launch], str]:
    return lambda launch: json.dumps({key: {NAME: {**(extra or {}), **launch.entry}}}, indent=2, ensure_ascii=False)


def _codex(launch: Launch) -> str:
    lines = [f"[mcp_servers.{NAME}]", f"command = {json.dumps(launch.command)}"]
    lines += [f"args = {json.dumps(launch.arguments)}", "tool_timeout_sec = 600"]
    return "\n".join((*lines, "", f"[mcp_servers.{NAME}.env]", f"PATH = {json.dumps(launch.path)}"))


CLIENT_TABLE: Mapping[str, Client] = {
    "claude": Client("Merge this into claude_desktop_config.json, then restart Claude:", _servers("mcpServers")),
    "claude-code": Client("Run this command:", lambda launch: f"claude mcp add {NAME} -- {launch.line}"),
    "cursor": Client("Merge this into ~/.cursor/mcp.json:", _servers("mcpServers")),
    "vscode": Client("Merge this into .vscode/mcp.json:", _servers("servers", {"type": "stdio"})),
    "gemini": Client("Merge this into ~/.gemini/settings.json:", _servers("mcpServers")),
    "codex": Client("Append this to ~/.codex/config.toml:", _codex),
    "inspector": Client("Run this command:", lambda launch: f"npx @modelcontextprotocol/inspector {launch.line}"),
}


def _command() -> str:
    started_as = os.path.abspath(sys.argv[0])
    return started_as if os.path.basename(started_as) == PROGRAM else shutil.which(PROGRAM) or PROGRAM


def _server_flags(arguments: Sequence[str]) -> list[str]:
    """The flags without `--print-config`."""
    kept = list(arguments)
    for index, argument in enumerate(kept):
        if argument.startswith("--print-config"):
            del kept[index : index + (1 if "=" in argument else 2)]
            break
    return kept
