"""A server that exists only as data, and answers the requests of discovery from a vector. Pure.

It plays what a vector's `spec` says and nothing else; real servers are in `connection`.
"""

import errno
import posixpath
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from gemini_mcp.host.rules import fetch, spawn
from gemini_mcp.host.rules.urls import InvalidUrl, Url, parse
from gemini_mcp.host.servers import discovery
from gemini_mcp.host.servers.discovery import (
    CLOSED,
    METHOD_NOT_FOUND,
    TIMED_OUT,
    Ask,
    Conclusion,
    Found,
    Interview,
    Refusal,
    Reply,
    Status,
)
from gemini_mcp.host.servers.environment import UnusableConfig
from gemini_mcp.host.servers.handshake import greeting
from gemini_mcp.host.servers.transport import Remote, Sse, Stdio, choose
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, list_of, object_of, table

OWN_COMMAND = "/usr/bin/node"
"""The command of the script where the configuration has none."""

FOLDERS = frozenset(("/", "/tmp", "/usr", "/usr/bin", "/etc", "/bin", "/home", "/var"))
FILES = frozenset(("/etc/passwd", "/etc/hosts"))
"""What every system has, and no program; other directories count as missing."""

_COMMANDS = ("true", "false", "echo", "ls", "pwd", "date", "id", "uname", "env")

LEAST_START_MS = 10
"""No script is started and answers in so few milliseconds."""

PAGES = {"tools": "pages", "prompts": "promptPages", "resources": "resourcePages"}


@dataclass(frozen=True)
class Played:
    """One server as it was played: its requests, what it offers, and the state that it ends in."""

    found: Found = field(default_factory=Found)
    conclusion: Conclusion = field(default_factory=lambda: Conclusion(Status.DISCONNECTED, ()))
    requests: tuple[str, ...] = ()
    was_skipped: bool = False


def play(name: str, spec: JsonObject, config: JsonObject, rules: Rules) -> Played:
    """Connect to the scripted server and interview it; a configuration without transport may leave it unmentioned."""
    if rules.skips_without_transport and _lacks_transport(config):
        return Played(was_skipped=True)
    reason = _unreachable(spec, config, rules)
    if reason is not None:
        asked = ("initialize",) if reason == TIMED_OUT and not _is_instant(config) else ()
        said = discovery.connection_failure(name, reason, rules)
        return Played(conclusion=Conclusion(Status.DISCONNECTED, (said,)), requests=asked)
    try:
        met = greeting(introduction(spec, rules), rules)
    except Refusal as refusal:
        said = discovery.connection_failure(name, refusal.message, rules)
        return Played(conclusion=Conclusion(Status.DISCONNECTED, (said,)), requests=("initialize",))
    interview = discovery.interview(ServerConfig(name, config), met.capabilities, rules)
    found, asked = drive(interview, partial(answer, spec))
    return Played(found, discovery.conclude(name, found, rules), ("initialize", "notifications/initialized", *asked))


def capabilities(spec: JsonObject) -> JsonObject:
    """The server's capabilities: those of the script, or one for each list that it has."""
    given = object_of(spec.get("capabilities"))
    if given is not None:
        return given
    return {kind: {} for kind, pages in PAGES.items() if kind in spec or pages in spec}


def introduction(spec: JsonObject, rules: Rules) -> JsonObject:
    """The server's answer to `initialize`, with what the script puts in place of its members."""
    usual = {"protocolVersion": rules.introduction["protocolVersion"], "capabilities": capabilities(spec)}
    return {**usual, "serverInfo": {"name": "scripted", "version": "1"}, **table(spec.get("initialize"))}


def answer(spec: JsonObject, ask: Ask) -> Reply:
    """The server's answer to one list request."""
    kind = ask.method.partition("/")[0]
    error = list_of(spec.get(f"{kind}Error"))
    if error is not None:
        return Refusal(f"MCP error {error[0]}: {error[1]}", int(error[0]))
    pages = list_of(spec.get(PAGES[kind]))
    if pages is not None:
        following = int(ask.cursor or 0) + 1
        page: JsonObject = {kind: pages[following - 1]}
        return {**page, "nextCursor": str(following)} if following < len(pages) else page
    if kind not in spec:
        return Refusal(f"MCP error {METHOD_NOT_FOUND}: Method not found", METHOD_NOT_FOUND)
    return {kind: spec[kind]}


def drive(interview: Interview, reply_to: Callable[[Ask], Reply]) -> tuple[Found, tuple[str, ...]]:
    """What comes of an interview, and the requests that it made."""
    asked: list[str] = []
    reply: Reply | None = None
    while True:
        try:
            ask = interview.send(reply)
        except StopIteration as end:
            return end.value, tuple(asked)
        asked.append(ask.method if ask.cursor is None else f"{ask.method}({ask.cursor})")
        reply = reply_to(ask)


def _lacks_transport(config: JsonObject) -> bool:
    """Whether the configuration takes the script's own command away."""
    return "command" in config and not any(config.get(key) for key in ("command", "url", "httpUrl"))


def _ends_at_once(command: Json) -> bool:
    """Whether every system has the command, and it ends without a word of MCP; other commands count as missing."""
    folder, _, name = str(command).rpartition("/")
    return folder in ("", "/bin", "/usr/bin") and name in _COMMANDS


def _nobody_there(chosen: Remote) -> str:
    """What is said of an address at which nobody listens; streamable HTTP gives no reason."""
    url = parse(chosen.url)
    refused = fetch.refused_headers(chosen.header_texts) or fetch.refused(url)
    if not isinstance(chosen, Sse):
        return refused.said.format(url=url) if refused else "fetch failed"
    return f"SSE error: {refused.said_by_sse.format(url=url) if refused else _not_connected(url)}"


def _error_of(chosen: Stdio) -> int | None:
    """The number of the error with which the process does not start."""
    folder = posixpath.normpath(str(chosen.cwd)) if chosen.cwd else "/"
    if folder not in FOLDERS:
        return errno.ENOTDIR if folder in FILES else errno.ENOENT
    if chosen.command in FOLDERS | FILES:
        return errno.EACCES
    return None if chosen.command == OWN_COMMAND or _ends_at_once(chosen.command) else errno.ENOENT


def _is_instant(config: JsonObject) -> bool:
    """Whether the time is over before any server has started."""
    timeout = config.get("timeout")
    return isinstance(timeout, int | float) and not isinstance(timeout, bool) and timeout <= LEAST_START_MS


def _not_connected(url: Url) -> str:
    port = url.port or {"http": "80", "https": "443"}[url.scheme]
    host = "127.0.0.1" if url.hostname == "localhost" else url.hostname.strip("[]")
    is_number = host[-1:].isdecimal() or ":" in host
    cause = f"connect ECONNREFUSED {host}:{port}" if is_number else f"getaddrinfo ENOTFOUND {host}"
    return f"TypeError: fetch failed: {cause}"


def _unreachable(spec: JsonObject, config: JsonObject, rules: Rules) -> str | None:
    own = {} if "command" in config else {"command": OWN_COMMAND}
    try:
        chosen = choose({**own, **config}, {}, rules, has_google=False)
    except (InvalidUrl, UnusableConfig) as error:
        return str(error)
    if isinstance(chosen, Remote):
        return _nobody_there(chosen)
    refused = spawn.refused(chosen.command, chosen.args, chosen.cwd, {})
    if refused is not None:
        return refused
    number = _error_of(chosen)
    if number is not None:
        return spawn.failed(chosen.command, number)
    if "command" in config:
        return CLOSED
    if "exit" in spec:
        return CLOSED
    if _is_instant(config):
        return TIMED_OUT
    timeout, delay = config.get("timeout"), spec.get("delay")
    return TIMED_OUT if timeout is not None and delay is not None and delay > timeout else None
