"""The clients that a snippet can be printed for: a `Launch` in, the text of the snippet out. Pure.

A new client is a new entry of the table, and a row of `docs/clients.md`, which says on what each entry rests.
"""

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gemini_mcp.operator.launch import TOKEN, Launch
from gemini_mcp.spec.values import Json

NAME = "gemini"

HEADER = "Authorization"

Write = Callable[[Launch], str]


@dataclass(frozen=True)
class Client:
    """Where a client's snippet goes, how it is written, and what the client does.

    `reach` writes the snippet for a server that runs already; None where the client starts every server itself.
    `secret` says how the client comes by a secret that the snippet only names; None where it cannot.
    """

    place: str
    start: Write
    reach: Write | None = None
    transports: tuple[str, ...] = ("http", "sse")
    secret: str | None = None
    shows_meta: bool = False


def _entry(launch: Launch, refer: Callable[[str], str]) -> Json:
    arguments = {"args": list(launch.arguments)} if launch.arguments else {}
    env = {**launch.env, **{name: refer(name) for name in launch.secrets}}
    return {"command": launch.command, **arguments, "env": env}


def _bearer(launch: Launch, refer: Callable[[str], str]) -> Json:
    return {"headers": {HEADER: f"Bearer {refer(TOKEN)}"}} if TOKEN in launch.secrets else {}


def _json(document: Json) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False)


def _none(name: str) -> str:
    return ""


def _braces(name: str) -> str:
    return f"${{{name}}}"


def _of_cursor(name: str) -> str:
    return f"${{env:{name}}}"


def _of_gemini(name: str) -> str:
    return f"${name}"


def _of_vscode(name: str) -> str:
    return f"${{input:{name}}}"


def _claude(launch: Launch) -> str:
    entry = _entry(launch, _none)
    return _json({"mcpServers": {NAME: {**entry, "env": dict(launch.env)}}})


def _claude_code(launch: Launch) -> str:
    env = {**launch.env, **{name: _braces(name) for name in launch.secrets}}
    flags = [part for name, value in env.items() for part in ("-e", f"{name}={value}")]
    return shlex.join(("claude", "mcp", "add", *_scope(launch), NAME, *flags, "--", launch.command, *launch.arguments))


def _claude_code_reaches(launch: Launch) -> str:
    header = ("--header", f"{HEADER}: Bearer {_braces(TOKEN)}") if TOKEN in launch.secrets else ()
    words = ("claude", "mcp", "add", "--transport", launch.transport, *_scope(launch), NAME, str(launch.url), *header)
    return shlex.join(words)


def _scope(launch: Launch) -> tuple[str, ...]:
    """References are expanded in `.mcp.json`, the file of the project."""
    return ("--scope", "project") if launch.secrets else ()


def _cursor(launch: Launch) -> str:
    return _json({"mcpServers": {NAME: _entry(launch, _of_cursor)}})


def _cursor_reaches(launch: Launch) -> str:
    return _json({"mcpServers": {NAME: {"url": launch.url, **_bearer(launch, _of_cursor)}}})


def _vscode(launch: Launch) -> str:
    return _with_inputs(launch, {"type": "stdio", **_entry(launch, _of_vscode)})


def _vscode_reaches(launch: Launch) -> str:
    return _with_inputs(launch, {"type": launch.transport, "url": launch.url, **_bearer(launch, _of_vscode)})


def _with_inputs(launch: Launch, entry: Json) -> str:
    inputs = [
        {"type": "promptString", "id": name, "description": f"{name} for Gemini", "password": True}
        for name in launch.secrets
    ]
    return _json({**({"inputs": inputs} if inputs else {}), "servers": {NAME: entry}})


def _gemini(launch: Launch) -> str:
    entry = {**_entry(launch, _of_gemini), "timeout": launch.patience * 1000}
    return _json({"mcpServers": {NAME: entry}})


def _gemini_reaches(launch: Launch) -> str:
    address = {"url" if launch.transport == "sse" else "httpUrl": launch.url}
    return _json({"mcpServers": {NAME: {**address, **_bearer(launch, _of_gemini), "timeout": launch.patience * 1000}}})


def _codex(launch: Launch) -> str:
    lines = [f"[mcp_servers.{NAME}]", f"command = {_toml(launch.command)}", f"args = {_toml(launch.arguments)}"]
    lines += [f"env_vars = {_toml(launch.secrets)}"] if launch.secrets else []
    lines += [f"tool_timeout_sec = {launch.patience}", "", f"[mcp_servers.{NAME}.env]"]
    return "\n".join((*lines, *(f"{name} = {_toml(value)}" for name, value in launch.env.items())))


def _codex_reaches(launch: Launch) -> str:
    lines = [f"[mcp_servers.{NAME}]", f"url = {_toml(launch.url)}", f"tool_timeout_sec = {launch.patience}"]
    return "\n".join((*lines, *([f"bearer_token_env_var = {_toml(TOKEN)}"] if TOKEN in launch.secrets else ())))


def _toml(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _inspector(launch: Launch) -> str:
    env = [f"-e {shlex.quote(f'{name}={value}')}" for name, value in launch.env.items()]
    env += [f'-e {name}="${name}"' for name in launch.secrets]
    return " ".join(("npx @modelcontextprotocol/inspector", *env, "--", launch.line))


def _inspector_reaches(launch: Launch) -> str:
    words = ("npx", "@modelcontextprotocol/inspector", "--transport", launch.transport, "--server-url", str(launch.url))
    header = f' --header "{HEADER}: Bearer ${TOKEN}"' if TOKEN in launch.secrets else ""
    return shlex.join(words) + header


CLIENTS: Mapping[str, Client] = {
    "claude": Client(
        "Merge this into claude_desktop_config.json (Settings, Developer, Edit Config), then restart Claude:", _claude
    ),
    "claude-code": Client(
        "Run this command:",
        _claude_code,
        _claude_code_reaches,
        secret="Claude Code takes {names} from its environment.",
    ),
    "cursor": Client(
        "Merge this into ~/.cursor/mcp.json:",
        _cursor,
        _cursor_reaches,
        secret="Cursor takes {names} from its environment: start it where that is set.",
    ),
    "vscode": Client(
        "Merge this into .vscode/mcp.json:",
        _vscode,
        _vscode_reaches,
        secret="VS Code asks for {names} once, and keeps it encrypted.",
    ),
    "gemini": Client(
        "Merge this into ~/.gemini/settings.json:",
        _gemini,
        _gemini_reaches,
        secret="Gemini CLI takes {names} from its environment.",
    ),
    "codex": Client(
        "Append this to ~/.codex/config.toml:",
        _codex,
        _codex_reaches,
        transports=("http",),
        secret="Codex takes {names} from its environment.",
    ),
    "inspector": Client(
        "Run this command:",
        _inspector,
        _inspector_reaches,
        secret="The shell puts {names} in; other users of this machine may see it in the list of processes.",
        shows_meta=True,
    ),
}
