"""Odd ways to speak MCP."""

import json
import random
import sys
import threading
import time
from typing import Any

from answering import Failure
from odd.record import odd
from planning import PROPERTIES, Refusal
from running import Call, Cancelled
from speaking import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, UNKNOWN_METHOD, Message, RpcError
from steps import adding, after, always, before, gives, only, takes

HELP = {
    "name": "Help",
    "title": "Help",
    "inputSchema": {
        "type": "object",
        "properties": {"topic": {"enum": ["models", "flags"]}},
        "additionalProperties": False,
    },
}


def without_handshake(port: Any, request: Message, params: Any, stateless: bool) -> None:
    if request["method"] in ("initialize", "ping"):
        raise RpcError(UNKNOWN_METHOD, "Method not found")
    if not stateless:
        raise RpcError(INVALID_PARAMS, "The request has no `_meta` that names a protocol version.")


def strictly(port: Any, request: Message, params: Any, stateless: bool) -> None:
    if not (stateless or "is_initialized" in port.memory or request["method"] in ("initialize", "ping")):
        raise RpcError(INVALID_REQUEST, "The server is not initialized.")


def notes_initialized(port: Any, method: str, params: Any) -> None:
    if method == "notifications/initialized":
        port.memory["is_initialized"] = True


def in_pages(port: Any, real: Any, params: Any, stateless: bool) -> Message:
    cursor = str(params.get("cursor", "page-0"))
    pages = {f"page-{number}": number for number in range(len(PROPERTIES))}
    if cursor not in pages:
        raise RpcError(-32602, "The cursor is not one of this server.")
    page = pages[cursor]
    following = {} if page + 1 == len(pages) else {"nextCursor": f"page-{page + 1}"}
    return {**real({}, stateless), "tools": [port.tools()[page]], **following}


def more_results(port: Any, real: Any, request: Message, params: Any, stateless: bool) -> Message | None:
    if request["method"] == "prompts/list":
        return {"prompts": [], **(port.caching() if stateless else {})}
    if request["method"] == "tools/call" and params.get("name") == "Help":
        return {"content": port.content("Ask away.")}
    return real(request, params, stateless)


def log(port: Any, text: str) -> None:
    params = {"level": "info", "logger": "gemini", "data": {"text": text}}
    port.send({"jsonrpc": "2.0", "method": "notifications/message", "params": params})


def logged(port: Any, real: Any, call: Call, plan: Any) -> Any:
    log(port, "gemini begins")
    try:
        return real(call, plan)
    finally:
        log(port, "gemini has ended")


def pings_first(port: Any, real: Any, call: Call, result: Message) -> None:
    identity = f"ping-{random.randrange(1 << 30)}"
    pong = port.memory[identity] = threading.Event()
    port.send({"jsonrpc": "2.0", "id": identity, "method": "ping"})
    pong.wait(60)
    real(call, result)


def hears_pong(port: Any, message: Any) -> None:
    if port.is_valid(message) and "method" not in message and str(message["id"]) in port.memory:
        port.memory[message["id"]].set()


def unknown_tool_is_result(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Message | None:
    name = params.get("name")
    if isinstance(name, str) and name not in PROPERTIES:
        return port.error(Failure(f"The tool {name!r} is unknown."))
    return real(identity, params, stateless)


def refuses_at_once(port: Any, identity: Any, params: Any, stateless: bool) -> None:
    call = port.new_call(identity, params, stateless)
    try:
        port.plan(call.tool, call.arguments)
    except Refusal as refusal:
        raise RpcError(-32602, f"Error executing gemini: {refusal}") from None


def spaced_and_sorted(port: Any, real: Any, message: Message) -> bytes:
    ordered = dict(sorted(message.items(), key=lambda item: item[0], reverse=True))
    line = json.dumps(ordered, ensure_ascii=False, separators=(" , ", " : "))
    try:
        return line.encode() + b" \n"
    except UnicodeEncodeError:
        return real(message)


def with_data(message: Message) -> Message:
    return {**message, "error": {"data": {"trace": []}, **message["error"]}} if "error" in message else message


def answers_when_ending(port: Any, real: Any, call: Call) -> Message:
    try:
        return real(call)
    except Cancelled:
        if port.is_ending:
            port.send_error(call.id, -32000, "The server has ended.")
        raise


def hastens_progress(port: Any, call: Call) -> None:
    call.next_progress = time.monotonic() + 0.5


def in_fractions(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    return {**message, "params": {**message["params"], "progress": 1 - 1 / (call.progress + 1), "total": 1}}


odd("oldest-revision-only", "Speaks 2024-11-05 and nothing newer.")(
    is_stateless=always(False), versions=always(("2024-11-05",))
)
odd(
    "handshake-in-two-revisions",
    "Speaks two revisions of the handshake, and answers every other one with the older of them.",
)(is_stateless=always(False), versions=always(("2025-06-18", "2025-03-26")))
odd("no-handshake", "Speaks the era without a handshake and no other.")(
    versions=always(()), result=before(without_handshake)
)
odd("strict-lifecycle", "Serves nothing but ping before it has been initialized, except what needs no handshake.")(
    result=before(strictly), notified=before(notes_initialized)
)
odd("tools-in-pages", "Lists one tool a page.")(list_tools=in_pages)
odd("more-tools", "Offers a tool, a capability and a method beyond those of the specification.")(
    capabilities=always({"experimental": {"x": {}}, "prompts": {}, "tools": {"listChanged": False}}),
    tools=gives(lambda tools: [HELP, *tools]),
    result=more_results,
)
odd("logs-as-notifications", "Logs in notifications before and after each call.")(
    is_stateless=always(False),
    capabilities=gives(adding(logging={})),
    result=lambda port, real, request, params, stateless: (
        {} if request["method"] == "logging/setLevel" else real(request, params, stateless)
    ),
    run_prompt=logged,
)
odd("pings-client", "Sends a ping to the client and waits for its answer before it answers a call.")(
    is_stateless=always(False), answer=pings_first, dispatch=after(hears_pong)
)
odd("silent-on-malformed", "Passes over malformed lines in silence.")(
    send_error=only(lambda identity, code, message: code not in (PARSE_ERROR, INVALID_REQUEST))
)
odd("wrong-arguments-are-rpc-errors", "Answers wrong arguments with JSON-RPC error -32602.")(
    begin_call=before(refuses_at_once)
)
odd("unknown-tool-is-result", "Answers a call of an unknown tool with an isError result.")(
    begin_call=unknown_tool_is_result
)
odd("spaced-and-sorted", "Writes its keys in another order, with blanks around them, and characters as they are.")(
    encoded=spaced_and_sorted
)
odd("errors-with-data", "Adds data to every JSON-RPC error.")(write=takes(with_data))
odd("slow-start", "Takes half a second before it reads its first message.")(serve=before(lambda port: time.sleep(0.5)))
odd("answers-late", "Takes its time before it sends an answer, now more and now less.")(
    answer=before(lambda port, call, result: time.sleep(random.random() * 0.1))
)
odd("talkative-stderr", "Writes a megabyte of log lines to stderr before it serves, and a line for each call.")(
    serve=before(lambda port: sys.stderr.write("[debug] starting\n" * 60_000)),
    run_prompt=before(lambda port, call, plan: sys.stderr.write("[info] a call begins\n")),
)
odd("answers-when-ending", "Answers the calls that its end interrupts with a JSON-RPC error.")(
    execute=answers_when_ending
)
odd("progress-in-fractions", "Tells progress in fractions that grow more and more slowly, with a total and often.")(
    report_progress=after(hastens_progress), progress=in_fractions
)
