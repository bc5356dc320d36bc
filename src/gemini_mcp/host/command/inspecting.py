"""`inspect`: asks any server for everything, and shows what Gemini CLI will make of it. Effect."""

from collections.abc import Sequence
from pathlib import Path

import anyio

from gemini_mcp.host.command import inspection_view
from gemini_mcp.host.command.context import FINDING, OK, SERVER_FAILED, Context
from gemini_mcp.host.command.inspection import Inspection, Subject, inspect
from gemini_mcp.host.rules.profiles import DEFAULT, profiles
from gemini_mcp.host.rules.urls import InvalidUrl
from gemini_mcp.host.servers.connection import Connection, Unreachable, connect
from gemini_mcp.host.servers.discovery import Refusal
from gemini_mcp.host.servers.host import TIMED_OUT, open_host
from gemini_mcp.host.servers.transport import UnusableConfig
from gemini_mcp.host.settings.files import replace_text
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.host.tools.registry import OfferedTool
from gemini_mcp.spec.values import Json, JsonObject, list_of

PAGES = 1000


async def run(context: Context, words: Sequence[str], name: str, page: str | None, is_alone: bool) -> int:
    """Inspect the server that the words start or address."""
    config = server_of(words, name)
    others = () if is_alone else await _others(context, name)
    try:
        subject = await _subject(context, config)
    except (Unreachable, Refusal, UnusableConfig, InvalidUrl, TimeoutError) as error:
        context.complain(f"{name}: {error if str(error) else TIMED_OUT}")
        context.show_stderr(name)
        return SERVER_FAILED
    inspections = [inspect(subject, others, context.environment, rules) for rules in profiles().values()]
    _show(context, name, inspections, page)
    return FINDING if any(f.loses_tool for one in inspections for f in one.remarks) else OK


def server_of(words: Sequence[str], name: str) -> ServerConfig:
    """The server that an address or a command line means."""
    values: JsonObject = {"command": words[0], "args": list(words[1:])}
    if len(words) == 1 and words[0].startswith(("http://", "https://")):
        values = {"url" if "/sse" in words[0] else "httpUrl": words[0]}
    return ServerConfig(name, {**values, "timeout": 30000})


async def _others(context: Context, name: str) -> tuple[OfferedTool, ...]:
    configured = [server for server in context.settings().used(context.rules) if server.name != name]
    if not configured:
        return ()
    async with open_host(context.plan(configured, is_interactive=False)) as host:
        return tuple(tool for server in host.servers.values() for tool in server.found.tools)


async def _subject(context: Context, config: ServerConfig) -> Subject:
    plan = context.plan([config], is_interactive=False)
    auth = await context.authorizer().auth_for(config)
    with anyio.fail_after(config.timeout_ms / 1000):
        async with connect(config, plan.surroundings, profiles()[DEFAULT], auth) as connection:
            pages: dict[str, list[list[Json]]] = {}
            failures: dict[str, tuple[int, str]] = {}
            for kind in ("tools", "prompts", "resources"):
                if kind == "tools" or connection.capabilities.get(kind) is not None:
                    pages[kind] = await _pages(connection, kind, failures)
            return Subject(config.name, connection.capabilities, pages, config.values, failures)


async def _pages(connection: Connection, kind: str, failures: dict[str, tuple[int, str]]) -> list[list[Json]]:
    pages: list[list[Json]] = []
    params: JsonObject = {}
    while len(pages) < PAGES:
        try:
            result = await connection.request(f"{kind}/list", params)
        except Refusal as refusal:
            failures[kind] = (refusal.code, refusal.message.partition(": ")[2])
            break
        pages.append(list_of(result.get(kind)) or [])
        if not result.get("nextCursor") or result["nextCursor"] == params.get("cursor"):
            break
        params = {"cursor": result["nextCursor"]}
    return pages


def _show(context: Context, name: str, inspections: Sequence[Inspection], page: str | None) -> None:
    if page is not None:
        replace_text(Path(page), inspection_view.page(name, inspections))
        context.complain(f"wrote {page}")
    context.show([one.to_json() for one in inspections], *(() if page else (inspection_view.text(name, inspections),)))
