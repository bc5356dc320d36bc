"""The status view: servers, their states and what they offer, laid out as the guide shows it. Pure.

It never shows `env`, `headers` or tokens; `secrecy` says what of a command line is shown.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gemini_mcp.host.rules.javascript import number_text
from gemini_mcp.host.servers.discovery import State, Status
from gemini_mcp.host.servers.failure import Failure
from gemini_mcp.host.servers.secrecy import shown_address, shown_words
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.spec.values import JsonObject, number_of, texts_of

ICONS = {
    Status.CONNECTED: "📡",
    Status.DISCONNECTED: "🔌",
    Status.CONNECTING: "⏳",
    Status.BLOCKED: "⛔",
    Status.DISABLED: "○",
}
DOCKER = "🐳"

WILL_NOT_CONNECT = (
    "Check configuration: Verify `command`, `args`, and `cwd` are correct",
    "Test manually: Run the server command directly to ensure it works",
    "Check dependencies: Ensure all required packages are installed",
    "Review logs: Look for error messages in the CLI output",
    "Verify permissions: Ensure the CLI can execute the server command",
)
"""The advice of the guide, section Common Issues, in its words; so are the next two."""

NO_TOOLS = (
    "Verify tool registration: Ensure your server actually registers tools",
    "Check MCP protocol: Confirm your server implements the MCP tool listing correctly",
    "Review server logs: Check stderr output for server-side errors",
    "Test tool listing: Manually test your server's tool discovery endpoint",
)
NOT_EXECUTING = (
    "Parameter validation: Ensure your tool accepts the expected parameters",
    "Schema compatibility: Verify your input schemas are valid JSON Schema",
    "Error handling: Check if your tool is throwing unhandled exceptions",
    "Timeout issues: Consider increasing the `timeout` setting",
)


STARTED_TWICE = (
    "the settings configure this server too, so Gemini CLI starts it twice; "
    "`includeTools` and `excludeTools` of the extension have no effect"
)


@dataclass(frozen=True)
class ServerView:
    """What is shown of one server."""

    config: ServerConfig
    status: Status
    tools: Mapping[str, str] = field(default_factory=dict[str, str])
    prompts: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    error: str | None = None
    is_empty: bool = False
    needs_authentication: bool = False
    why: Failure | None = None
    gives_advice: bool = False

    @property
    def icon(self) -> str:
        return DOCKER if self.config.values.get("command") == "docker" else ICONS[self.status]

    def to_json(self) -> JsonObject:
        """The same for programs."""
        return {
            "name": self.config.name,
            "status": self.status.name,
            "server": described(self.config),
            "file": self.config.file,
            "extension": None if self.config.origin is None else self.config.origin.extension,
            "trust": self.config.is_trusted,
            "tools": dict(self.tools),
            "prompts": list(self.prompts),
            "resources": list(self.resources),
            "error": self.error,
            "cause": None if self.why is None else self.why.to_json(),
            "needsAuthentication": self.needs_authentication,
        }


def render(servers: Iterable[ServerView], state: State, is_verbose: bool = False) -> str:
    """The whole view."""
    lines = (line for server in servers for line in _lines(server, is_verbose))
    return "".join(f"{line}\n" for line in ("MCP Servers Status:", *lines, f"Discovery State: {state.name}"))


def described(config: ServerConfig) -> str:
    """The command line or the address of a server."""
    if config.address is not None:
        return shown_address(config.address)
    return shown_words((str(config.values.get("command", "")), *(texts_of(config.values.get("args")) or ())))


def _lines(server: ServerView, is_verbose: bool) -> Iterable[str]:
    values = server.config.values
    yield f"{server.icon} {server.config.name} ({server.status.name})"
    yield f"  {'URL' if server.config.address is not None else 'Command'}: {described(server.config)}"
    if server.config.origin is not None:
        yield f"  Extension: {server.config.origin.extension}"
        if server.config.origin.is_shared:
            yield f"  Note: {STARTED_TWICE}"
    if values.get("description"):
        yield f"  Description: {values['description']}"
    if values.get("cwd"):
        yield f"  Working Directory: {values['cwd']}"
    timeout = number_of(values.get("timeout"))
    if timeout is not None:
        yield f"  Timeout: {number_text(timeout)}ms"
    if server.status in (Status.BLOCKED, Status.DISABLED):
        yield f"  Reason: {server.error}"
    elif server.error is not None:
        why = None if server.gives_advice else server.why
        yield f"  Error: {shown_error(server.error) if why is None else why.sentence}"
        for advice in _advice(server) if why is None else (why.remedy,):
            yield f"    - {advice}"
    yield from _offers(server, is_verbose)


def shown_error(reason: str) -> str:
    """The reason in one line, and in plain words where there are some."""
    if "ECONNREFUSED" in reason:
        return "Connection refused"
    line = first_line(reason) or "unknown"
    return line if len(line) <= 200 else f"{line[:197]}..."


def _advice(server: ServerView) -> Iterable[str]:
    if server.needs_authentication:
        return (f"Authenticate: Run `gemini-mcp-host auth {server.config.name}`",)
    return NO_TOOLS if server.is_empty else WILL_NOT_CONNECT


def _offers(server: ServerView, is_verbose: bool) -> Iterable[str]:
    if server.tools and is_verbose:
        yield "  Tools:"
        for name, description in server.tools.items():
            yield f"    - {name}: {first_line(description)}" if description else f"    - {name}"
    elif server.tools:
        yield f"  Tools: {', '.join(server.tools)}"
    if server.prompts:
        yield f"  Prompts: {', '.join(server.prompts)}"
    if server.resources:
        yield f"  Resources: {', '.join(server.resources)}"


def first_line(text: str) -> str:
    """The first line of a text that is not blank."""
    return next(iter(text.strip().splitlines()), "")
