"""What is asked of a connected server, what is made of its answers, and what state it ends in. Pure.

The interview is a generator of requests: whoever drives it owns the connection, the clock and the threads.
"""

import enum
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from gemini_mcp.host.prompts.prompts import Prompt, prompt_of
from gemini_mcp.host.prompts.resources import Resource
from gemini_mcp.host.servers.tool_list import duplicate, first_fault
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.host.tools.filters import is_enabled
from gemini_mcp.host.tools.registry import OfferedTool
from gemini_mcp.spec import Rules
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
    """A request without a result: a JSON-RPC error, or an answer that breaks the protocol."""

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


def interview(config: ServerConfig, capabilities: JsonObject, rules: Rules) -> Interview:
    """Ask a connected server for everything it has; the value is what it offers."""
    found = Found()
    for step in (_prompts, _tools, _resources):
        found = yield from step(found, config, capabilities, rules)
        if found.failure is not None:
            return Found(messages=found.messages, failure=found.failure)
    return found


def conclude(server: str, found: Found, rules: Rules) -> Conclusion:
    """The state of a server after its interview."""
    reason = found.failure or (rules.empty_server if found.is_empty else None)
    said = () if reason is None else (rules.server_error.format(server=server, reason=reason),)
    is_left = found.is_empty and rules.leaves_empty_server
    return Conclusion(Status.DISCONNECTED if is_left else Status.CONNECTED, (*found.messages, *said))


def connection_failure(server: str, reason: str, rules: Rules) -> str:
    """What is said when a server cannot be reached."""
    fitting = next(failure for failure in rules.connection_failures if re.search(failure["pattern"], reason))
    said = fitting["reason"].format(server=server, reason=reason)
    return rules.server_error.format(server=server, reason=said)


def _prompts(found: Found, config: ServerConfig, capabilities: JsonObject, rules: Rules) -> Interview:
    if capabilities.get("prompts") is None:
        return found
    try:
        items, has_more = yield from _list("prompts", rules)
    except Refusal as refusal:
        return _refused(found, "prompts", config.name, refusal, rules)
    prompts = tuple(prompt_of(item, config.name) for item in objects_of(items))
    return replace(found, prompts=prompts, ignored_pages=_ignored(found, "prompts", has_more))


def _resources(found: Found, config: ServerConfig, capabilities: JsonObject, rules: Rules) -> Interview:
    if capabilities.get("resources") is None:
        return found
    try:
        items, _ = yield from _list("resources", rules)
    except Refusal as refusal:
        return _refused(found, "resources", config.name, refusal, rules)
    resources = (
        Resource(config.name, str(item.get("uri", "")), str(item.get("name") or "")) for item in objects_of(items)
    )
    return replace(found, resources=tuple(resources))


def _tools(found: Found, config: ServerConfig, capabilities: JsonObject, rules: Rules) -> Interview:
    if rules.tools_need_capability and capabilities.get("tools") is None:
        return found
    try:
        items, has_more = yield from _list("tools", rules)
    except Refusal as refusal:
        return _refused(found, "tools", config.name, refusal, rules)
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


def _refused(found: Found, kind: str, server: str, refusal: Refusal, rules: Rules) -> Found:
    if refusal.code == METHOD_NOT_FOUND:
        return found
    if rules.refused_list_ends_discovery:
        return replace(found, failure=refusal.message)
    said = f"Error discovering {kind} from {server}: {refusal.message}"
    return replace(found, messages=(*found.messages, said))


def _list(kind: str, rules: Rules) -> _Listing:
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
        if kind == "tools":
            _check_tools(page, items, rules)
        cursor = reply.get("nextCursor") or None
        if cursor is None or kind not in rules.paged_lists:
            return items, cursor is not None
    return items, False


def _check_tools(page: Sequence[Json], all_tools: Sequence[Json], rules: Rules) -> None:
    fault = first_fault(page, rules)
    if fault is not None:
        raise Refusal(fault.message(rules))
    twice = duplicate([tool["name"] for tool in objects_of(all_tools)]) if rules.refuses_duplicates else None
    if twice is not None:
        raise Refusal(f"Duplicate function name {twice} found in MCP tools. Please ensure function names are unique.")
