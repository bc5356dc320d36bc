"""What a connected server is asked, what becomes of its answers, and which state it ends in. Pure.

The interview is a generator of requests; its caller has the connection and the clock.
"""

import enum
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from gemini_mcp.host.prompts.prompts import Prompt, prompt_of
from gemini_mcp.host.prompts.resources import Resource
from gemini_mcp.host.rules import messages
from gemini_mcp.host.rules.javascript import INHERITED
from gemini_mcp.host.rules.zod import complaint
from gemini_mcp.host.servers import failure
from gemini_mcp.host.servers.failure import Failure
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.host.tools.registry import OfferedTool
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, objects_of

METHOD_NOT_FOUND = -32601

CLOSED = "MCP error -32000: Connection closed"
TIMED_OUT = "MCP error -32001: Request timed out"
"""What Gemini CLI's own libraries say when no answer comes."""


class Status(enum.Enum):
    """Where a server stands."""

    DISCONNECTED = "disconnected"
    CONNECTING = "connecting"
    CONNECTED = "connected"
    BLOCKED = "blocked"
    DISABLED = "disabled"


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
    """A request without a result: a JSON-RPC error, or an answer that breaks the protocol, and then how."""

    def __init__(self, message: str, code: int = 0, why: Failure | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.why = why


Reply: TypeAlias = JsonObject | Refusal


@dataclass(frozen=True)
class Found:
    """What a server offers, the tools that its filters leave out, and the messages about it."""

    tools: tuple[OfferedTool, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    resources: tuple[Resource, ...] = ()
    has_unaddressed: bool = False
    """Whether a resource was listed that has no address, and is left out."""
    dropped: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    failure: str | None = None
    why: Failure | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.tools or self.prompts or self.resources or self.has_unaddressed)


Interview: TypeAlias = Generator[Ask, Reply | None, Found]
"""It is sent None at first, and then each reply."""

_Listing: TypeAlias = Generator[Ask, Reply | None, tuple[JsonObject, ...]]


@dataclass(frozen=True)
class Conclusion:
    """The status a server ends in, and the messages shown."""

    status: Status
    messages: tuple[str, ...]


def interview(config: ServerConfig, capabilities: JsonObject, rules: Rules) -> Interview:
    """Ask a connected server for everything it has; the value is what it offers."""
    found = Found()
    for kind, add in _ADDERS.items():
        if capabilities.get(kind) is None and (kind != "tools" or rules.tools_need_capability):
            continue
        try:
            found = add(found, (yield from _list(kind, rules)), config)
        except Refusal as refusal:
            # A capability without its method is no fault: Gemini CLI takes the list for an empty one.
            if _has_no_such_list(refusal, rules):
                continue
            if rules.refused_list_ends_discovery:
                cause = cause_of(f"{kind}/list", refusal, config)
                return Found(messages=found.messages, failure=refusal.message, why=cause)
            said = f"Error discovering {kind} from {config.name}: {refusal.message}"
            cause = cause_of(f"{kind}/list", refusal, config)
            found = replace(found, messages=(*found.messages, said), why=found.why or cause)
    return found


def _has_no_such_list(refusal: Refusal, rules: Rules) -> bool:
    """Whether the server has nothing of the kind: 0.1.18 looks at the text of the refusal, 0.61 at its code."""
    if rules.missing_method is not None:
        return rules.missing_method in refusal.message
    return refusal.code == METHOD_NOT_FOUND


def renewed(kind: str, found: Found, config: ServerConfig, rules: Rules) -> Interview:
    """Ask for one list again: the value is what the server offers then; raises Refusal."""
    return _ADDERS[kind](found, (yield from _list(kind, rules)), config)


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


def _with_prompts(found: Found, listed: tuple[JsonObject, ...], config: ServerConfig) -> Found:
    return replace(found, prompts=tuple(prompt_of(item, config.name) for item in listed))


def _with_resources(found: Found, listed: tuple[JsonObject, ...], config: ServerConfig) -> Found:
    """A resource that is listed twice is one."""
    resources = (Resource(config.name, str(item.get("uri", "")), str(item.get("name") or "")) for item in listed)
    by_uri = {resource.uri: resource for resource in resources}
    has_unaddressed = by_uri.pop("", None) is not None
    return replace(found, resources=tuple(by_uri.values()), has_unaddressed=has_unaddressed)


def _with_tools(found: Found, listed: tuple[JsonObject, ...], config: ServerConfig) -> Found:
    tools: list[OfferedTool] = []
    dropped: list[str] = []
    for tool in listed:
        name = tool["name"]
        if config.uses(name):
            described = tool.get("description") or ""
            more = (tool.get("outputSchema"), tool.get("annotations"))
            offer = OfferedTool(config.name, name, described, tool["inputSchema"], *more)
            tools.append(offer)
        else:
            dropped.append(name)
    return replace(found, tools=tuple(tools), dropped=tuple(dropped))


_ADDERS = {"prompts": _with_prompts, "tools": _with_tools, "resources": _with_resources}
"""How each list is added to what was found. Gemini CLI asks for them in this order."""


def _list(kind: str, rules: Rules) -> _Listing:
    """What is listed, on all pages or on the first; raises Refusal."""
    listed: list[Json] = []
    cursor: str | None = None
    seen: set[str | None] = set()
    while True:
        if cursor in seen:
            # Gemini CLI asks on for ever.
            why = failure.endless(f"{kind}/list", str(cursor))
            raise Refusal(f"{kind}/list repeats the cursor {cursor!r}", why=why)
        seen.add(cursor)
        reply = yield Ask(f"{kind}/list", cursor)
        if isinstance(reply, Refusal):
            raise reply
        answer = read(f"{kind}/list", reply, rules)
        listed.extend(answer[kind])
        if kind == "tools" and rules.refuses_duplicates:
            _refuse_duplicates([tool["name"] for tool in objects_of(listed)])
        # An empty cursor ends the list, as every false value does in JavaScript.
        cursor = answer.get("nextCursor") or None
        if cursor is None or kind not in rules.paged_lists:
            return objects_of(listed)


def read(method: str, answer: Json, rules: Rules) -> JsonObject:
    """The answer as the SDK hands it on; raises Refusal."""
    reading = messages.read(method, answer, rules)
    if reading.issues:
        why = failure.misshapen(method, reading.issues)
        raise Refusal(complaint(reading.issues, rules.list_validator), why=why)
    return reading.value


def cause_of(step: str, refusal: Refusal, config: ServerConfig) -> Failure:
    """The cause of a refusal of that request."""
    if refusal.why is not None:
        return refusal.why
    if refusal.message == CLOSED:
        return failure.closed(step)
    if refusal.message == TIMED_OUT:
        return failure.timed_out(step, config.timeout_ms / 1000)
    return failure.refusal(step, refusal.message)


def _refuse_duplicates(names: Sequence[str]) -> None:
    # They are kept as members of an object, which has some from the start.
    twice = next((name for index, name in enumerate(names) if name in INHERITED or name in names[:index]), None)
    if twice is not None:
        said = f"Duplicate function name {twice} found in MCP tools. Please ensure function names are unique."
        raise Refusal(said, why=failure.duplicate(twice))
