"""Defects in how messages are read: in other notations of the same JSON, and in names that are nearly right."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from defects.record import defect
from planning import PROPERTIES
from running import Call
from speaking import INVALID_PARAMS, PARSE_ERROR, UNKNOWN_METHOD, Message, RpcError, as_object
from steps import gives, only

INHERITED = ("__proto__", "constructor", "hasOwnProperty", "toString", "valueOf")
PIECE = 4096
FULL = 1 << 16


def slashes_kept(port: Any, real: Any, line: bytes) -> Any:
    message = real(line)
    if re.search(rb'"method"\s*:\s*"[^"]*\\/', line):
        message["method"] = message["method"].replace("/", "\\/")
    return message


def name_first(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    names = [name for name in params if name in ("name", "arguments")]
    return real(identity, {**params, "arguments": {}} if names == ["arguments", "name"] else params, stateless)


def newline_alone(port: Any, real: Any, line: bytes) -> None:
    if line.endswith(b"\r\n") and line.strip():
        port.send_error(None, PARSE_ERROR, "The line is no JSON.")
    else:
        real(line)


def small_pieces_decoded(port: Any, real: Any) -> Iterator[bytes]:
    rest = b""
    while piece := os.read(0, FULL):
        rest += piece.decode("utf-8", "replace").encode() if len(piece) < PIECE else piece
        *lines, rest = rest.split(b"\n")
        yield from (line + b"\n" for line in lines)


def nothing_for_empty(port: Any, real: Any, message: Message) -> None:
    real({**message, "id": message["id"] or None} if "error" in message else message)


def answers_progress(port: Any, real: Any, method: str, params: Any) -> None:
    if method == "notifications/progress":
        port.send_error(None, UNKNOWN_METHOD, f"The method {method!r} is unknown.")
    real(method, params)


def bare_ping(port: Any, real: Any, request: Message, params: Mapping[str, Any], stateless: bool) -> Any:
    if request["method"] == "ping" and params:
        raise RpcError(INVALID_PARAMS, "`ping` has no params.")
    return real(request, params, stateless)


def list_with_params(port: Any, real: Any, request: Message, params: Mapping[str, Any], stateless: bool) -> Any:
    if request["method"] == "tools/list" and "params" not in request:
        raise RpcError(INVALID_PARAMS, "`params` is missing.")
    return real(request, params, stateless)


def notes_lists(port: Any, real: Any, request: Message) -> None:
    if request["method"] == "tools/list":
        port.memory.setdefault("lists", []).append(request["id"])
    real(request)


def answers_cancelled_list(port: Any, real: Any, method: str, params: Any) -> None:
    wanted = (as_object(params) or {}).get("requestId")
    if method == "notifications/cancelled" and wanted in port.memory.get("lists", ()):
        port.send_error(wanted, -32800, "The request was cancelled.")
    real(method, params)


def in_small_letters(port: Any, real: Any, request: Message) -> None:
    real({**request, "method": request["method"].lower()})


def by_beginning(port: Any, real: Any, request: Message) -> None:
    known = [method for method in ("ping", "tools/list", "tools/call") if request["method"].startswith(method)]
    real({**request, "method": known[0]} if known else request)


def tool_by_beginning(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    name = params.get("name")
    known = [tool for tool in PROPERTIES if isinstance(name, str) and name.startswith(tool)]
    return real(identity, {**params, "name": max(known, key=len)} if known else params, stateless)


def underscores_read(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    name = params.get("name")
    return real(identity, {**params, "name": name.replace("_", "-")} if isinstance(name, str) else params, stateless)


defect(
    "escaped-slashes-unread", "Knows no method whose slash is written `\\/`.", "command:chat", "rpc:response:either"
)(parse=slashes_kept)
defect(
    "arguments-before-name-lost",
    "Reads no arguments that come before the name of the tool.",
    "arguments:unknown",
    "command:chat",
)(new_call=name_first)
defect(
    "returns-before-newline-unread",
    "Takes a line that ends in CRLF for no JSON.",
    "rpc:response:id",
    "rpc:alive:chunks",
)(receive=newline_alone)
defect(
    "small-pieces-decoded-alone",
    "Decodes what one small read has given by itself.",
    "prompt:verbatim:unicode",
    "rpc:alive:chunks",
)(lines=small_pieces_decoded)
defect(
    "full-lines-lost",
    "Passes over a line of exactly 64 KiB, or a multiple of that.",
    "rpc:alive:chunks",
    "rpc:alive:long-line",
)(receive=only(lambda line: len(line) % FULL != 0))
defect("empty-id-lost-in-errors", "Answers an error under null if the id is empty or 0.", "rpc:response:id")(
    write=nothing_for_empty
)
defect(
    "inherited-ids-uncancellable",
    "Finds no call to cancel whose id is a name that every object has in JavaScript.",
    "cancel:child",
)(cancel=only(lambda call: call.id not in INHERITED))
defect(
    "inherited-tokens-overlooked",
    "Tells no progress to a token that is a name that every object has in JavaScript.",
    "progress:start",
)(token=gives(lambda token: None if token in INHERITED else token))
defect(
    "progress-of-client-answered",
    "Answers a progress notification of its client with an error.",
    "rpc:notification:unanswered",
)(notified=answers_progress)
defect("ping-with-params-refused", "Refuses a ping with params, such as `_meta`.", "lifecycle:ping")(result=bare_ping)
defect("list-without-params-refused", "Refuses a list of tools without params.", "tools:chat")(result=list_with_params)
defect(
    "late-cancel-of-list-answered",
    "Answers the cancellation of a list of tools that it has sent.",
    "rpc:response:id",
    "rpc:notification:unanswered",
)(requested=notes_lists, notified=answers_cancelled_list)
defect("methods-in-any-case", "Serves `PING` as `ping`.", "rpc:error:method")(requested=in_small_letters)
defect("methods-by-beginning", "Serves a method whose name begins like one that it knows.", "rpc:error:method")(
    requested=by_beginning
)
defect("tools-by-beginning", "Serves a tool whose name begins like one that it has.", "tools:unknown")(
    new_call=tool_by_beginning
)
defect("underscores-of-tools-read", "Serves `chat_reply` as `chat-reply`.", "tools:unknown")(new_call=underscores_read)
