"""`status`, `tools`, `resources`, `prompts`, `list`: what the configured servers offer. Effect."""

from dataclasses import replace

import anyio

from gemini_mcp.host.command.context import OK, SERVER_FAILED, USAGE, Context
from gemini_mcp.host.command.mcp_listing import listing
from gemini_mcp.host.command.mcp_values import Failed
from gemini_mcp.host.oauth.token_file import TokenFile
from gemini_mcp.host.prompts.prompts import command_name
from gemini_mcp.host.rules.urls import InvalidUrl
from gemini_mcp.host.servers import failure
from gemini_mcp.host.servers.connection import Surroundings, Unreachable, connect
from gemini_mcp.host.servers.discovery import Refusal, Status
from gemini_mcp.host.servers.environment import UnusableConfig
from gemini_mcp.host.servers.failure import Failure
from gemini_mcp.host.servers.host import Host, Server
from gemini_mcp.host.servers.status import ServerView, first_line, render
from gemini_mcp.host.settings.loading import ServerConfig, Settings
from gemini_mcp.host.settings.standing import NOT_TRUSTED, UNTRUSTED, Placed, Standing
from gemini_mcp.spec.values import Json, JsonObject

LIST_TIMEOUT_MS = 5000
"""How long `mcp list` waits for a server whose `timeout` is not set."""


async def status(context: Context) -> int:
    """Every configured server, its state, and what it offers."""
    async with context.host(tells_untrusted=False) as (settings, host):
        views = [_placed_view(host, one) for one in context.placed(settings)]
        shown = {"servers": [one.to_json() for one in views], "discoveryState": host.state.name}
        context.show(shown, render(views, host.state, context.is_verbose))
        for server in host.servers.values():
            if server.error is not None:
                context.show_stderr(server.config.name)
        return outcome(host, settings)


def _placed_view(host: Host, one: Placed) -> ServerView:
    """What is shown of a configured server, started or not."""
    name = one.server.name
    if name in host.servers:
        return view(host, host.servers[name])
    states = {Standing.BLOCKED: Status.BLOCKED, Standing.DISABLED: Status.DISABLED}
    reason = one.reason or "it has neither `command` nor `url`"
    return ServerView(one.server, states.get(one.standing, Status.DISABLED), error=reason)


async def tools(context: Context, only: str | None) -> int:
    """The registered tools: name, server, and the server's own name."""
    async with context.host() as (settings, host):
        if only is not None and settings.find(only) is None:
            known = ", ".join(server.name for server in settings.servers) or "none"
            context.complain(f"There is no server {only!r}. Configured are: {known}.")
            return USAGE
        if not settings.servers and not context.is_json:
            context.complain("No server is configured here. `gemini-mcp-host add NAME COMMAND` adds one.")
        offers = ((tool.name, tool.offer) for tool in host.registry.tools if tool.offer is not None)
        rows = [
            {"name": name, "server": offer.server, "tool": offer.name, "description": first_line(offer.description)}
            for name, offer in offers
            if only in (None, offer.server)
        ]
        shown = "{name}  ({server}: {tool})  {description}" if context.is_verbose else "{name}  ({server}: {tool})"
        context.show(reported(host, tools=rows), *(shown.format_map(row).rstrip() for row in rows))
        if host.withheld:
            names = ", ".join(tool.name for tool in host.withheld)
            context.complain(f"not declared to the model, by the policy: {names}; `gemini-mcp-host policy` says why")
        return ended(context, settings, host)


async def resources(context: Context) -> int:
    """The resources of all servers, as they are written in a prompt."""
    async with context.host() as (settings, host):
        rows = [{"server": r.server, "uri": r.uri, "name": r.name} for r in host.resources()]
        context.show(reported(host, resources=rows), *("@{server}:{uri}  {name}".format_map(row) for row in rows))
        return ended(context, settings, host)


async def told(context: Context) -> int:
    """What the model is told of the servers: their instructions, as they stand in its context."""
    async with context.host() as (settings, host):
        told = {name: server.instructions for name, server in host.servers.items() if server.instructions}
        context.show(reported(host, instructions=told, context=host.context()), *filter(None, [host.context()]))
        return ended(context, settings, host)


async def prompts(context: Context) -> int:
    """The prompts of all servers, as slash commands."""
    async with context.host() as (settings, host):
        rows: list[JsonObject] = []
        lines: list[str] = []
        for name, prompt in host.prompts().items():
            command = name if name != prompt.name else command_name(prompt, context.rules)
            arguments = " ".join(f'--{a.name}="…"' if a.is_required else f'[--{a.name}="…"]' for a in prompt.arguments)
            declared = [{"name": one.name, "required": one.is_required} for one in prompt.arguments]
            rows.append({"command": command, "server": prompt.server, "prompt": prompt.name, "arguments": declared})
            lines.append(f"/{command} {arguments}".rstrip() + f"  ({prompt.server}) {prompt.description}".rstrip())
        context.show(reported(host, prompts=rows), *lines)
        return ended(context, settings, host)


async def list_servers(context: Context) -> int:
    """The lines of `gemini mcp list`, after a try to connect to every server that may be started."""
    settings = context.settings()
    found = {one.server.name: one for one in context.placed(replace(settings, servers=settings.listed))}
    states = {name: one.standing.value for name, one in found.items() if one.standing is not Standing.STARTED}
    if not context.rules.blocks_excluded:
        states = {name: state for name, state in states.items() if name not in (settings.lists.excluded or ())}
    started = [one.server for one in found.values() if one.standing is Standing.STARTED]
    failures: dict[str, Failure] = {}
    async with anyio.create_task_group() as tasks:
        for server in started:
            tasks.start_soon(_try, context, server, states, failures)
    is_suppressed = any(one.reason == NOT_TRUSTED for one in found.values())
    servers, signed_in = [one.server for one in found.values()], TokenFile(context.where.tokens).load()
    try:
        shown, code = listing(servers, states, context.rules, signed_in), OK
    except Failed as failure:
        shown, code = failure.said, USAGE
    say = context.say if context.rules.output == "stdout" else context.complain
    rows = [
        {
            "name": name,
            "state": states.get(name, "disconnected"),
            "extension": origin and origin.extension,
            "cause": failures[name].to_json() if name in failures else None,
        }
        for name, origin in ((name, one.server.origin) for name, one in found.items())
    ]
    if context.is_json:
        context.show(rows)
    else:
        say(*((UNTRUSTED + "\n",) if is_suppressed else ()), shown)
    return USAGE if settings.is_faulty else code


async def _try(context: Context, server: ServerConfig, states: dict[str, str], failures: dict[str, Failure]) -> None:
    limit = server.timeout_ms if "timeout" in server.values else LIST_TIMEOUT_MS
    surroundings = Surroundings(context.environment)
    with anyio.move_on_after(limit / 1000) as scope:
        try:
            auth = await context.authorizer().auth_for(server)
            async with connect(
                server, surroundings, context.rules, auth, context.rules.list_introduction
            ) as connection:
                # Before the ping: Gemini CLI lists a server as connected that does not answer one.
                states[server.name] = Status.CONNECTED.value
                await connection.request("ping", {}, limit)
        except Unreachable as error:
            failures[server.name] = error.why
        except (UnusableConfig, InvalidUrl) as error:
            failures[server.name] = failure.unusable(error)
        except Refusal:
            return
    if scope.cancelled_caught and server.name not in states:
        failures[server.name] = failure.timed_out("initialize", limit / 1000)


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
        server.why,
        host.plan.rules.failure_advice == "guide",
    )


def ended(context: Context, settings: Settings, host: Host) -> int:
    """Say what is wrong with the servers, and give the exit code."""
    context.complain(*said(host), *host.registry.said())
    return outcome(host, settings)


def said(host: Host) -> tuple[str, ...]:
    """Why servers cannot be used, a text for each."""
    return tuple(f"{server.config.name}: {server.why}" for server in host.servers.values() if server.why is not None)


def reported(host: Host, **found: Json) -> JsonObject:
    """What a subcommand found, for programs, and which servers failed and why."""
    failed = ((server.config.name, server.why) for server in host.servers.values() if server.why is not None)
    return {**found, "failed": [{"server": name, "cause": why.to_json()} for name, why in failed]}


def outcome(host: Host, settings: Settings) -> int:
    """The exit code of a command that connected to the servers."""
    if settings.is_faulty:
        return USAGE
    has_failed = any(server.error is not None for server in host.servers.values())
    return SERVER_FAILED if has_failed else OK
