"""`status`, `tools`, `resources`, `prompts`, `list`: what the configured servers offer. Effect."""

import anyio

from gemini_mcp.host.command import mcp_commands as commands
from gemini_mcp.host.command.context import OK, SERVER_FAILED, USAGE, Context
from gemini_mcp.host.prompts.prompts import command_name
from gemini_mcp.host.rules.urls import InvalidUrl
from gemini_mcp.host.servers.connection import Surroundings, Unreachable, connect
from gemini_mcp.host.servers.discovery import Refusal, Status
from gemini_mcp.host.servers.host import Host, Server
from gemini_mcp.host.servers.status import ServerView, first_line, render
from gemini_mcp.host.servers.transport import UnusableConfig
from gemini_mcp.host.settings.loading import ServerConfig, Settings

LIST_TIMEOUT_MS = 5000


async def status(context: Context) -> int:
    """The servers, their states and what they offer."""
    async with context.host() as (settings, host):
        views = [view(host, server) for server in host.servers.values()]
        blocked = settings.selection(context.rules).blocked
        shown = {"servers": [one.to_json() for one in views], "discoveryState": host.state.name}
        notes = (f"{name} is blocked by `mcp.allowed` or `mcp.excluded`" for name in blocked)
        context.show({**shown, "blocked": list(blocked)}, render(views, host.state, context.is_verbose), *notes)
        for server in host.servers.values():
            if server.error is not None:
                context.show_stderr(server.config.name)
        return outcome(host, settings)


async def tools(context: Context, only: str | None) -> int:
    """What is registered, under which name, from where."""
    async with context.host() as (settings, host):
        offers = ((tool.name, tool.offer) for tool in host.registry.tools if tool.offer is not None)
        rows = [
            {"name": name, "server": offer.server, "tool": offer.name, "description": first_line(offer.description)}
            for name, offer in offers
            if only in (None, offer.server)
        ]
        shown = "{name}  ({server}: {tool})  {description}" if context.is_verbose else "{name}  ({server}: {tool})"
        context.show(rows, *(shown.format_map(row).rstrip() for row in rows))
        return _ended(context, settings, host)


async def resources(context: Context) -> int:
    """The resources of all servers, as they are written in a prompt."""
    async with context.host() as (settings, host):
        rows = [{"server": r.server, "uri": r.uri, "name": r.name} for r in host.resources()]
        context.show(rows, *("@{server}:{uri}  {name}".format_map(row) for row in rows))
        return _ended(context, settings, host)


async def prompts(context: Context) -> int:
    """The prompts of all servers, as slash commands."""
    async with context.host() as (settings, host):
        for name, prompt in host.prompts().items():
            command = name if name != prompt.name else command_name(prompt, context.rules)
            arguments = " ".join(f'--{a.name}="…"' if a.is_required else f'[--{a.name}="…"]' for a in prompt.arguments)
            context.say(f"/{command} {arguments}".rstrip() + f"  ({prompt.server}) {prompt.description}".rstrip())
        return _ended(context, settings, host)


async def list_servers(context: Context) -> int:
    """The lines of `gemini mcp list`, after a try to connect to every server."""
    settings = context.settings()
    connected: set[str] = set()
    async with anyio.create_task_group() as tasks:
        for server in settings.servers:
            tasks.start_soon(_try, context, server, connected)
    listed = {server.name: server.values for server in settings.servers}
    shown = commands.listing(listed, frozenset(connected), context.rules)
    (context.say if context.rules.output == "stdout" else context.complain)(shown)
    return USAGE if settings.is_faulty else OK


async def _try(context: Context, server: ServerConfig, connected: set[str]) -> None:
    limit = server.timeout_ms if "timeout" in server.values else LIST_TIMEOUT_MS
    surroundings = Surroundings(context.environment)
    with anyio.move_on_after(limit / 1000):
        try:
            auth = await context.authorizer().auth_for(server)
            async with connect(server, surroundings, context.rules, auth) as connection:
                connected.add(server.name)
                await connection.request("ping", {}, limit)
        except (Unreachable, UnusableConfig, InvalidUrl, Refusal):
            return


def view(host: Host, server: Server) -> ServerView:
    """What is shown of a server."""
    name = server.config.name
    shown = {
        tool.name: tool.offer.description
        for tool in host.registry.tools
        if tool.offer is not None and tool.offer.server == name
    }
    found = server.found if server.status is Status.CONNECTED else type(server.found)()
    return ServerView(
        server.config,
        server.status,
        shown,
        tuple(prompt.name for prompt in found.prompts),
        tuple(resource.uri for resource in found.resources),
        server.error,
        "found on the server" in (server.error or ""),
        server.needs_authentication,
    )


def _ended(context: Context, settings: Settings, host: Host) -> int:
    """Say what was said of the servers, and give the exit code."""
    context.complain(*host.messages())
    return outcome(host, settings)


def outcome(host: Host, settings: Settings) -> int:
    """The exit code of a command that connected to the servers."""
    if settings.is_faulty:
        return USAGE
    has_failed = any(server.error is not None for server in host.servers.values())
    return SERVER_FAILED if has_failed else OK
