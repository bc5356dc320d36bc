"""Odd manners in MCP: requests of a port's own, tools beyond the two, pages without tools, and its own pace."""

import json
import re
import threading
import time
from typing import Any

from answering import Answer
from odd.record import odd
from planning import PROPERTIES, Plan
from port import HANDSHAKE
from running import Call, Cancelled
from speaking import INVALID_PARAMS, Message, RpcError, as_object
from steps import adding, always, before, gives

BLOCK = 4096
NUMBER = re.compile(rb'(?<=")(progress|total|ttlMs|code)":(-?\d+)')
DRAFT = "DRAFT-2027-v1"
PAGES = {None: 0, "b2RkLTE=": 1, "b2RkLTI=": 2, "b2RkLTM=": 3, "b2RkLTQ=": 4}
HOLD, LATE, PAUSE = 0.15, 0.3, 0.02
SENDING = threading.Lock()
NAMES = ["CHAT", "Chat-Reply", "chat_reply", "chat.reply", "c", *(f"chat-{number}" for number in range(35))]
SESSIONS: Message = {"name": "list-sessions", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
BARE = Plan(("gemini",), None, None, None, None, None, ())
OUTPUT = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "sessionId": {"type": "string"}},
    "required": ["text"],
}
RESOURCE: Message = {"uri": "odd://readme", "name": "readme"}
OFFERS: dict[str, Message] = {
    "resources/list": {"resources": [RESOURCE]},
    "resources/templates/list": {"resourceTemplates": []},
    "resources/read": {"contents": [{"uri": RESOURCE["uri"], "text": "Ask `chat`."}]},
    "prompts/list": {"prompts": [{"name": "greet"}]},
    "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}]},
    "completion/complete": {"completion": {"values": []}},
}


def padded(line: bytes) -> bytes:
    """Blanks fill the line up to a whole number of blocks."""
    return line[:-1] + b" " * (-len(line) % BLOCK) + b"\n"


def own(port: Any, identity: Any, method: str = "ping") -> None:
    port.send({"jsonrpc": "2.0", "id": identity, "method": method})


def with_same_id(port: Any, request: Message, params: Any, stateless: bool) -> None:
    """The ids of a server are no business of its client, so both may use the same."""
    used = port.memory.setdefault("used", [])
    # In Python 1 equals 1.0.
    key = repr(request["id"])
    if request["method"] == "tools/call" and key not in used:
        used.append(key)
        own(port, request["id"])


def remembers_roots(port: Any, params: Any) -> None:
    capabilities = as_object(params.get("capabilities")) or {}
    port.memory["has_roots"] = "roots" in capabilities


def asks_for_roots(port: Any, method: str, params: Any) -> None:
    if method == "notifications/initialized" and port.memory.get("has_roots"):
        own(port, "roots", "roots/list")


def gives_up_ping(port: Any, call: Call, plan: Plan) -> None:
    identity = f"own-{id(call)}-{time.monotonic_ns()}"
    own(port, identity)
    params = {"requestId": identity, "reason": "The server does not wait any longer."}
    port.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})


def offers_more(port: Any, real: Any, request: Message, params: Any, stateless: bool) -> Message | None:
    if request["method"] not in OFFERS:
        return real(request, params, stateless)
    return {**OFFERS[request["method"]], **(port.caching() if stateless else {})}


def plain_tool(name: str) -> Message:
    return {"name": name, "description": f"Says {name}.", "inputSchema": {"type": "object", "properties": {}}}


def says_own_name(port: Any, real: Any, request: Message, params: Any, stateless: bool) -> Message | None:
    if request["method"] == "tools/call" and params.get("name") in NAMES:
        return {"content": port.content(params["name"])}
    return real(request, params, stateless)


def lists_sessions(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Message | None:
    if params.get("name") != SESSIONS["name"]:
        return real(identity, params, stateless)
    call = Call(identity, SESSIONS["name"], {}, stateless)
    port.calls.append(call)
    threading.Thread(target=tell_sessions, args=(port, call), daemon=True).start()
    return None


def tell_sessions(port: Any, call: Call) -> None:
    try:
        listing = port.list_sessions(call, BARE)
    except Cancelled:
        listing = None
    port.answer(call, {"content": port.content(port.list_text(listing) if listing else "There is no list.")})
    port.calls.remove(call)


def structured(port: Any, real: Any, answer: Answer) -> Message:
    named = {"text": answer.text, **({"sessionId": answer.session} if answer.session else {})}
    result = real(answer)
    return {**result, "content": [*result["content"], *port.content(json.dumps(named))], "structuredContent": named}


def empty_between(port: Any, real: Any, params: Any, stateless: bool) -> Message:
    """The first page, the third and the last one are empty."""
    cursor = params.get("cursor")
    if not isinstance(cursor, str | None) or cursor not in PAGES:
        raise RpcError(INVALID_PARAMS, "The cursor is not one of this server.")
    page, (chat, reply) = PAGES[cursor], port.tools()
    following = {} if page == len(PAGES) - 1 else {"nextCursor": list(PAGES)[page + 1]}
    return {**real({}, stateless), "tools": [[], [reply], [], [chat], []][page], **following}


def said_at_length(tool: Message) -> Message:
    schema, more = tool["inputSchema"], {"allOf": [True], "not": {"type": "null"}, "contentMediaType": "text/plain"}
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:odd:{tool['name']}",
        "$comment": "Nothing here forbids what the specification allows.",
        "minProperties": 1,
        "propertyNames": True,
        "patternProperties": {"^x-": True},
        "dependentRequired": {},
        "if": {"required": ["model"]},
        "then": {"$ref": "#/$defs/anything"},
        "$defs": {"anything": True},
    }
    return {
        **tool,
        "inputSchema": {
            **whole,
            **schema,
            "properties": {name: {**kind, **more} for name, kind in schema["properties"].items()},
        },
    }


def last_first(port: Any, real: Any, call: Call, result: Message) -> None:
    """Whoever has waited long enough sends all that wait, the newest first."""
    waiting = port.memory.setdefault("waiting", [])
    waiting.append((call, result))
    time.sleep(HOLD)
    with SENDING:
        while waiting:
            real(*waiting.pop())


def listed_late(port: Any, real: Any, request: Message, params: Any, stateless: bool) -> Message | None:
    result = real(request, params, stateless)
    if request["method"] != "tools/list":
        return result
    answer = (request["id"], port.finished(result, stateless))
    threading.Timer(LATE, port.send_result, answer).start()
    return None


def by_clock(port: Any, real: Any, call: Call) -> Message:
    call.progress = max(call.progress, time.time_ns() // 1000)
    return real(call)


def slowly(port: Any, real: Any) -> Any:
    for line in real():
        time.sleep(PAUSE)
        yield line


odd("pads-to-blocks", "Fills each line with blanks up to a multiple of 4 KiB.")(encoded=gives(padded))
odd("numbers-in-exponents", "Writes the numbers of progress, of caching and of errors with an exponent.")(
    encoded=gives(lambda line: NUMBER.sub(rb'\1":\2E0', line))
)
odd("pings-before-handshake", "Sends a ping with the id 0 before it has read anything.")(
    is_stateless=always(False), serve=before(lambda port: own(port, 0))
)
odd("ids-of-its-client", "Sends pings with the ids of the calls that it serves, and asks a client for its roots.")(
    is_stateless=always(False),
    result=before(with_same_id),
    initialize=before(remembers_roots),
    notified=before(asks_for_roots),
)
odd("gives-up-own-requests", "Sends a ping with each call, and cancels it at once.")(
    is_stateless=always(False), run_prompt=before(gives_up_ping)
)
odd("prefers-a-draft", "Speaks a revision of its own too, and offers it when it does not know the one asked for.")(
    versions=always((*HANDSHAKE, DRAFT))
)
odd("cached-for-a-day", "Lets anybody keep its tools for a day, and says more in its discovery.")(
    caching=always({"ttlMs": 86_400_000, "cacheScope": "public"}),
    discover=gives(adding(instructions="Ask `chat`.", _meta={"example.com/build": 7})),
)
odd("offers-more", "Serves resources, prompts and completions as well.")(
    capabilities=gives(adding(resources={"subscribe": False}, prompts={}, completions={})), result=offers_more
)
odd("forty-tools", "Lists forty more tools, some of which have nearly the names of the two.")(
    tools=gives(lambda tools: [*map(plain_tool, NAMES), *tools]), result=says_own_name
)
odd("tool-for-the-list", "Offers a third tool, which runs `gemini --list-sessions`.")(
    tools=gives(lambda tools: [tools[0], SESSIONS, *tools[1:]]), begin_call=lists_sessions
)
odd("declares-its-output", "Declares the schema of its structured results, and repeats them as JSON in a second text.")(
    success=structured, tool=gives(adding(outputSchema=OUTPUT, execution={"taskSupport": "forbidden"}))
)
odd("empty-pages", "Lists its tools in five pages, three of which are empty.")(list_tools=empty_between)
odd("empty-cursor-is-the-beginning", "Takes an empty cursor for none, as the official SDK for Go does.")(
    list_tools=lambda port, real, params, stateless: real({**params, "cursor": params.get("cursor") or None}, stateless)
)
odd("schemas-that-say-nothing", "Adds keywords to its schemas that allow everything.")(tool=gives(said_at_length))
odd("last-first", "Collects answers, and sends the newest first.")(answer=last_first)
odd("lists-late", "Lists its tools 0.3 seconds later, and answers meanwhile what came behind.")(result=listed_late)
odd("progress-by-clock", "Tells progress by the microseconds of its clock.")(progress=by_clock)
odd("reads-slowly", "Reads at most fifty messages a second.")(lines=slowly)

assert not set(NAMES) & set(PROPERTIES)
