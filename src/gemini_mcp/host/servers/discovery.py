"""What is asked of a connected server, what is made of its answers, and what state it ends in; pure.

The interview is a generator of requests: whoever drives it owns the connection, the clock and the threads.
"""

import enum
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from gemini_mcp.host.prompts.prompts import Prompt, prompt_of
from gemini_mcp.host.prompts.resources import Resource
from gemini_mcp.host.rules.profiles import Profile
from gemini_mcp.host.servers.tool_list import duplicate, first_fault
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.host.tools.filters import is_enabled
from gemini_mcp.host.tools.registry import OfferedTool
from gemini_mcp.spec.values import Json, JsonObject, list_of, object_of, objects_of

METHOD_NOT_FOUND = -32601


class Status(enum.Enum):
    """Where a server stands."""

    DISCONNECTED = "disconnected"
    CONNECTING = "connecting"
    CONNECTED = "connected"


class State(enum.Enum):
    """Where discovery as a whole stands."""

    NOT_STARTED = "not_started"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


@dataclass(frozen=True)
class Ask:
    """A list request to send."""

    method: str
    cursor: str | None = None

    @property
    def params(self) -> JsonObject:
        return {} if self.cursor is None else {"cursor": self.cursor}


class Refusal(Exception):
    """A request that came to nothing: a protocol error, or an answer that is not one."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


Reply: TypeAlias = JsonObject | Refusal


@dataclass(frozen=True)
class Found:
    """What a server turned out to offer, what was left out, and what was said about it."""

    tools: tuple[OfferedTool, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    resources: tuple[Resource, ...] = ()
    dropped: tuple[str, ...] = ()
    ignored_pages: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    failure: str | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.tools or self.prompts or self.resources)


Interview: TypeAlias = Generator[Ask, Reply, Found]
_Listing: TypeAlias = Generator[Ask, Reply, tuple[list[Json], bool]]


@dataclass(frozen=True)
class Conclusion:
    """The status a server ends in, and the messages shown."""

    status: Status
    messages: tuple[str, ...]


def interview(config: ServerConfig, capabilities: JsonObject, profile: Profile) -> Interview:
    """Ask a connected server for everything it has; the value is what it offers."""
    found = Found()
    for step in (_prompts, _tools, _resources):
        found = yield from step(found, config, capabilities, profile)
        if found.failure is not None:
            return Found(messages=found.messages, failure=found.failure)
    return found


def conclude(server: str, found: Found, profile: Profile) -> Conclusion:
    """The state of a server after its interview."""
    if profile is Profile.CURRENT:
        failure = "No prompts, tools, or resources found on the server." if found.is_empty else None
        failure = found.failure or failure
        return Conclusion(Status.CONNECTED, () if failure is None else (_discovery_error(server, failure),))
    if found.is_empty:
        said = f"Error connecting to MCP server '{server}': No prompts or tools found on the server."
        return Conclusion(Status.DISCONNECTED, (*found.messages, said))
    return Conclusion(Status.CONNECTED, found.messages)


def connection_failure(server: str, reason: str, profile: Profile) -> str:
    """What is said when a server cannot be reached."""
    if profile is Profile.CURRENT:
        return _discovery_error(server, reason)
    if "ECONNREFUSED" in reason or "ENOTFOUND" in reason:
        concise = f"Cannot connect to '{server}' - server may be down or URL incorrect"
    else:
        concise = f"Connection failed for '{server}': {reason}"
    return f"Error connecting to MCP server '{server}': {concise}"


def _discovery_error(server: str, reason: str) -> str:
    return f"[MCP error] Error during discovery for MCP server '{server}': {reason} {reason}"


def _prompts(found: Found, config: ServerConfig, capabilities: JsonObject, profile: Profile) -> Interview:
    if capabilities.get("prompts") is None:
        return found
    try:
        items, has_more = yield from _list("prompts", is_paged=False)
    except Refusal as refusal:
        return _refused(found, "prompts", config.name, refusal, profile)
    prompts = tuple(prompt_of(item, config.name) for item in objects_of(items))
    return replace(found, prompts=prompts, ignored_pages=_ignored(found, "prompts", has_more))


def _resources(found: Found, config: ServerConfig, capabilities: JsonObject, profile: Profile) -> Interview:
    if capabilities.get("resources") is None:
        return found
    try:
        items, _ = yield from _list("resources", is_paged=True)
    except Refusal as refusal:
        return _refused(found, "resources", config.name, refusal, profile)
    resources = (
        Resource(config.name, str(item.get("uri", "")), str(item.get("name") or "")) for item in objects_of(items)
    )
    return replace(found, resources=tuple(resources))


def _tools(found: Found, config: ServerConfig, capabilities: JsonObject, profile: Profile) -> Interview:
    if profile is Profile.CURRENT and capabilities.get("tools") is None:
        return found
    try:
        items, has_more = yield from _list("tools", profile is Profile.DOCUMENTED, _checked(profile))
    except Refusal as refusal:
        return _refused(found, "tools", config.name, refusal, profile)
    offers = [_offer(config.name, item) for item in objects_of(items)]
    passed = [is_enabled(offer.name, config.include_tools, config.exclude_tools) for offer in offers]
    return replace(
        found,
        tools=tuple(offer for offer, is_in in zip(offers, passed, strict=True) if is_in),
        dropped=tuple(offer.name for offer, is_in in zip(offers, passed, strict=True) if not is_in),
        ignored_pages=_ignored(found, "tools", has_more),
    )


def _offer(server: str, tool: JsonObject) -> OfferedTool:
    annotations = object_of(tool.get("annotations")) or {}
    return OfferedTool(server, tool["name"], tool.get("description") or "", tool["inputSchema"], annotations)


def _ignored(found: Found, kind: str, has_more: bool) -> tuple[str, ...]:
    return (*found.ignored_pages, kind) if has_more else found.ignored_pages


def _refused(found: Found, kind: str, server: str, refusal: Refusal, profile: Profile) -> Found:
    if refusal.code == METHOD_NOT_FOUND:
        return found
    if profile is Profile.CURRENT:
        return replace(found, failure=refusal.message)
    said = f"Error discovering {kind} from {server}: {refusal.message}"
    return replace(found, messages=(*found.messages, said))


def _list(kind: str, is_paged: bool, check: Callable[[Sequence[Json], Sequence[Json]], None] | None = None) -> _Listing:
    """The items of all pages, or of the first, and whether there were more."""
    items: list[Json] = []
    cursor: str | None = None
    seen: set[str | None] = set()
    while cursor not in seen:
        seen.add(cursor)
        reply = yield Ask(f"{kind}/list", cursor)
        if isinstance(reply, Refusal):
            raise reply
        page = list_of(reply.get(kind)) or []
        items.extend(page)
        if check is not None:
            check(page, items)
        cursor = reply.get("nextCursor") or None
        if cursor is None or not is_paged:
            return items, cursor is not None
    return items, False


def _checked(profile: Profile) -> Callable[[Sequence[Json], Sequence[Json]], None]:
    def check(page: Sequence[Json], items: Sequence[Json]) -> None:
        fault = first_fault(page, profile)
        if fault is not None:
            raise Refusal(fault.message(profile))
        twice = duplicate([tool["name"] for tool in objects_of(list(items))])
        if twice is not None and profile is Profile.DOCUMENTED:
            message = f"Duplicate function name {twice} found in MCP tools. Please ensure function names are unique."
            raise Refusal(message)

    return check
