"""`inspect`: asks any server for everything, and shows what Gemini CLI will make of it. Effect."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from gemini_mcp.host.command import inspection_view
from gemini_mcp.host.command.asking import Asked, UsageError
from gemini_mcp.host.command.context import FINDING, OK, SERVER_FAILED, Context
from gemini_mcp.host.command.inspection import Inspection, Subject, failed, inspect
from gemini_mcp.host.command.waiting import telling
from gemini_mcp.host.rules.profiles import profiles
from gemini_mcp.host.rules.urls import InvalidUrl
from gemini_mcp.host.servers import discovery, failure
from gemini_mcp.host.servers.connection import Connection, Unreachable, reach
from gemini_mcp.host.servers.discovery import Refusal
from gemini_mcp.host.servers.environment import UnusableConfig
from gemini_mcp.host.servers.failure import Failure
from gemini_mcp.host.servers.host import TIMED_OUT, open_host
from gemini_mcp.host.settings.files import replace_text
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.host.tools.registry import OfferedTool
from gemini_mcp.spec.values import Json, JsonObject, table

PAGES = 1000
"""A server that invents a new cursor for every page is left after so many."""

TIMEOUT_MS = 30000
"""Less than the ten minutes of Gemini CLI: its author waits for the inspection."""

REFUSED_BY_HOST = ("version", "misshapen", "stray", "no-stream", "stream-ended")
"""Causes for which the server did answer, and Gemini CLI hangs up."""


@dataclass(frozen=True)
class Seen:
    """What a profile saw of a server: its answers where it gave them, and why it could not be used otherwise."""

    inspection: Inspection
    subject: Subject | None = None
    failure: Failure | None = None

    @property
    def has_not_answered(self) -> bool:
        """Whether nothing is known of the server; a host that hangs up has had an answer."""
        return self.failure is not None and self.failure.cause not in REFUSED_BY_HOST

    @property
    def gap(self) -> Failure | None:
        """Why what the server declares is not known, or not all of it."""
        if self.has_not_answered:
            return self.failure
        return next(iter(self.subject.unlisted.values()), None) if self.subject is not None else None


async def run(context: Context, asked: Asked) -> int:
    """Inspect the server that the words start, address or name, as each profile sees it."""
    found = await seen(context, asked)
    inspections = [one.inspection for one in found]
    _show(context, inspections, asked.page)
    if any(one.has_not_answered for one in found):
        return SERVER_FAILED
    return FINDING if any(remark.is_loss for one in inspections for remark in one.remarks) else OK


async def seen(context: Context, asked: Asked) -> Sequence[Seen]:
    """What every profile sees of the server, each over a connection of its own."""
    return [await _seen(replace(context, rules=rules, stderr_lines=[]), asked) for rules in profiles().values()]


LAST_KIND = "resources"
"""When Gemini CLI begins to ask for these, it looks for the last time whether it is still connected."""


async def _seen(context: Context, asked: Asked) -> Seen:
    config = _server(context, asked)
    others = () if asked.is_alone else await _others(context, config.name)
    try:
        subject = await _subject(context, config)
    except (Unreachable, UnusableConfig, InvalidUrl, TimeoutError) as error:
        why = _cause(error, config, [line for name, line in context.stderr_lines if line and name == config.name])
        said = discovery.connection_failure(config.name, str(error) or TIMED_OUT, context.rules)
        return Seen(failed(config.name, said, why, context.rules), failure=why)
    return Seen(inspect(subject, others, context.environment, context.rules, asked.budget), subject)


def _cause(
    error: Unreachable | UnusableConfig | InvalidUrl | TimeoutError, config: ServerConfig, stderr: Sequence[str]
) -> Failure:
    if isinstance(error, Unreachable):
        return error.why
    if isinstance(error, TimeoutError):
        return failure.timed_out("initialize", config.timeout_ms / 1000, stderr)
    return failure.unusable(error)


def _server(context: Context, asked: Asked) -> ServerConfig:
    """The server that an address, a command line or the name of a configured server means, with what is set besides."""
    words = asked.words
    known = context.settings(is_quiet=True).find(words[0]) if len(words) == 1 else None
    if known is not None:
        values = {**known.values, **asked.values, **_merged(known.values, asked.values)}
        return replace(known, name=asked.name or known.name, values=values)
    values: JsonObject = {"timeout": TIMEOUT_MS, **asked.values}
    if len(words) == 1 and words[0].startswith(("http://", "https://")):
        values |= _addressed(words[0], asked.transport, context)
    elif not asked.is_command:
        names = ", ".join(server.name for server in context.settings(is_quiet=True).servers) or "none"
        raise UsageError(f"There is no server {words[0]!r}. Configured are: {names}. A command is written after `--`.")
    else:
        values |= {"command": words[0], "args": list(words[1:])}
    return ServerConfig(asked.name or "server", values)


def _merged(configured: JsonObject, given: Mapping[str, Json]) -> JsonObject:
    """Variables and headers that are given, added to those that are configured."""
    return {key: {**table(configured.get(key)), **given[key]} for key in ("env", "headers") if key in given}


def _addressed(address: str, transport: str | None, context: Context) -> JsonObject:
    # An address does not say its transport, but `/sse` is the usual path of the older one.
    kind = transport or ("sse" if "/sse" in address else "http")
    if context.rules.reads_type:
        return {"url": address, "type": kind}
    return {"url" if kind == "sse" else "httpUrl": address}


async def _others(context: Context, name: str) -> tuple[OfferedTool, ...]:
    configured = [server for server in context.started(context.settings()) if server.name != name]
    if not configured:
        return ()
    async with open_host(context.plan(configured, is_interactive=False)) as host:
        return tuple(tool for server in host.servers.values() for tool in server.found.tools)


async def _subject(context: Context, config: ServerConfig) -> Subject:
    plan = context.plan([config], is_interactive=False)
    with anyio.CancelScope(deadline=anyio.current_time() + config.timeout_ms / 1000) as scope:
        async with AsyncExitStack() as stack:
            with telling(context, config, "initialize"):
                reached = reach(config, plan.surroundings, context.rules, plan.auth_for)
                connection = await stack.enter_async_context(reached)
            # From here on `timeout` bounds each request, not the connection.
            scope.deadline = float("inf")
            pages: dict[str, list[Json]] = {}
            failures: dict[str, Refusal] = {}
            for kind in ("tools", "prompts", "resources"):
                if kind == LAST_KIND:
                    connection.check()
                # Tools are asked for in any case, so that a forgotten capability can be told.
                if kind == "tools" or connection.capabilities.get(kind) is not None:
                    pages[kind] = await _pages(context, connection, kind, failures)
            return Subject(config.name, connection.greeting, pages, config.values, failures, config.origin)
    raise TimeoutError


async def _pages(context: Context, connection: Connection, kind: str, failures: dict[str, Refusal]) -> list[Json]:
    """The answers to a list request, page by page, as they came."""
    pages: list[Json] = []
    params: JsonObject = {}
    while len(pages) < PAGES:
        try:
            with telling(context, connection.config, f"{kind}/list"):
                result = await connection.request(f"{kind}/list", params)
        except Refusal as refusal:
            failures[kind] = refusal
            break
        pages.append(result)
        cursor = table(result).get("nextCursor")
        if not isinstance(cursor, str) or not cursor or cursor == params.get("cursor"):
            break
        params = {"cursor": cursor}
    return pages


def _show(context: Context, inspections: Sequence[Inspection], page: str | None) -> None:
    if page is not None:
        replace_text(Path(page), inspection_view.page(inspections))
        context.complain(f"wrote {page}")
    text = () if page else (inspection_view.text(inspections, context.is_verbose),)
    context.show([one.to_json() for one in inspections], *text)
