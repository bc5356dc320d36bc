"""Defects that show in one revision of MCP or over one transport alone."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from answering import Failure
from conditions import REVISION, notes_method, speaks
from defects.record import defect
from http_port import HttpPort
from posting import Post
from running import Call
from speaking import Message, RpcError
from steps import before, without


def unmarked_error(port: Any, real: Any, failure: Failure) -> Message:
    result = real(failure)
    return without("isError")(result) if speaks(port, "2025-03-26") else result


def untold(port: Any, real: Any, call: Call) -> None:
    if not speaks(port, "2025-06-18"):
        real(call)


def undeclared(port: Any, real: Any, name: str) -> Message:
    properties = real(name)
    return without("cwd")(properties) if name == "chat-reply" and speaks(port, "2024-11-05") else properties


def unchecked_in_list(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    with suppress(*(RpcError,) if port.memory.get("method") == "tools/list" else ()):
        real(params)


def divided_events(port: Any, real: Any, message: Message) -> None:
    """Begins a new line of the event where the text has one of Unicode."""
    post = port.current.post
    text = json.dumps(message, ensure_ascii=False)
    if not ("method" in message or post.is_stream) or "\u2028" not in text:
        real(message)
        return
    with suppress(OSError):
        post.event(text.replace("\u2028", "\ndata: ").encode("utf-8", "replace"))


def got_unread(port: Any, real: Any, post: Post, body: bytes) -> None:
    post.reply(405, headers={"Allow": "POST, DELETE"})


def without_case(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    named, name = port.current.post.header("Mcp-Name"), params.get("name")
    is_alike = isinstance(name, str) and named is not None and named.lower() == name.lower()
    real(method, {**params, "name": named} if is_alike else params)


def unread_for_list(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    if method != "tools/list":
        real(method, params)


defect("error-unmarked-in-2025-03-26", "Leaves isError out for clients of 2025-03-26.", "error:is-error")(
    initialize=REVISION, error=unmarked_error
)
defect("progress-untold-in-2025-06-18", "Tells no progress to clients of 2025-06-18.", "progress:start")(
    initialize=REVISION, report_progress=untold
)
defect("cwd-undeclared-in-2024-11-05", "Declares no `cwd` to clients of 2024-11-05.", "tools:chat-reply:cwd")(
    initialize=REVISION, properties=undeclared
)
defect("meta-of-list-unchecked", "Lists its tools whatever `_meta` lacks.", "stateless:meta")(
    requested=before(notes_method), check_stateless=unchecked_in_list
)
defect("events-divided-by-separators", "Divides an event at U+2028.", "http:equivalence")(
    HttpPort, write=divided_events
)
defect("origin-of-get-unread", "Answers a GET of any origin.", "http:origin")(HttpPort, got=got_unread)
defect("origin-null-allowed", "Lets the origin `null` in.", "http:origin")(
    HttpPort, is_allowed=lambda port, real, origin: origin == "null" or real(origin)
)
defect("names-compared-without-case", "Compares `Mcp-Name` without case.", "http:stateless:header")(
    HttpPort, check_headers=without_case
)
defect("headers-of-list-unread", "Does not read the headers of `tools/list`.", "http:stateless:header")(
    HttpPort, check_headers=unread_for_list
)
