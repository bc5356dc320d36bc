"""Defects over HTTP in the reading of a post: its origin, the headers that repeat its body, and the body itself."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from conditions import STDERR, failed, results
from defects.record import defect
from http_port import HttpPort
from port import HANDSHAKE, STATELESS
from running import Call
from speaking import JSON, Message, as_object

PIECE = 16384


def origin_of_notifications_unread(port: Any, real: Any, post: Any, body: bytes) -> None:
    message = None
    with suppress(ValueError):
        message = as_object(json.loads(body))
    is_known = post.session is None or post.session in port.sessions
    if message is not None and "method" in message and "id" not in message and is_known:
        port.current.post = post
        port.receive(body)
    else:
        real(post, body)


def with_versions_between(port: Any, real: Any) -> tuple[str | None, ...]:
    version = port.current.post.version or ""
    is_between = re.fullmatch(r"\d{4}-\d\d-\d\d", version) and HANDSHAKE[0] <= version <= STATELESS[-1]
    return (*real(), version) if is_between else real()


def name_of_reply_unread(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    if method == "tools/call" and params.get("name") == "chat-reply":
        params = {**params, "name": port.current.post.header("Mcp-Name")}
    real(method, params)


def headers_of_discover_unread(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    if method != "server/discover":
        real(method, params)


def until_right(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    """A client whose headers were right once is trusted."""
    if not port.memory.get("is_trusted"):
        real(method, params)
        port.memory["is_trusted"] = True


def silent_stream_failed(call: Call, result: Message) -> bool:
    return call.token is not None and failed(call, result)


def without_stderr(result: Message) -> Message:
    text = result["content"][0]["text"].partition(STDERR)[0] + STDERR
    return {**result, "content": [{"type": "text", "text": text}]}


def read_as_latin(port: Any, real: Any, line: bytes) -> JSON:
    """So HTTP/1.1 read a text whose charset was not named."""
    if "charset" in (port.current.post.headers.get("Content-Type") or ""):
        return real(line)
    return real(line.decode("latin-1").encode())


def in_pieces(port: Any, real: Any, line: bytes) -> JSON:
    pieces = (line[start : start + PIECE] for start in range(0, len(line), PIECE))
    return real("".join(piece.decode("utf-8", "replace") for piece in pieces).encode())


defect(
    "origin-of-notifications-unread",
    "Accepts notifications of any origin.",
    "http:origin",
)(HttpPort, posted=origin_of_notifications_unread)
defect(
    "versions-between-in-the-header",
    "Serves requests of every version that lies between two that it knows.",
    "http:version",
)(HttpPort, known_versions=with_versions_between)
defect(
    "names-of-replies-unread",
    "Does not compare `Mcp-Name` with the body of a reply.",
    "http:stateless:header",
)(HttpPort, check_headers=name_of_reply_unread)
defect(
    "headers-of-discover-unread",
    "Does not read the headers of `server/discover`.",
    "http:stateless:header",
)(HttpPort, check_headers=headers_of_discover_unread)
defect(
    "headers-checked-until-right",
    "Compares headers with their body until they were right once.",
    "http:stateless:header",
)(HttpPort, check_headers=until_right)
defect(
    "stderr-lost-in-streams",
    "Quotes no stderr over HTTP in a call that asks for progress.",
    "http:equivalence",
)(HttpPort, execute=results(silent_stream_failed, without_stderr))
defect(
    "posts-read-as-latin",
    "Reads a body as Latin-1 whose charset is not named.",
    "http:equivalence",
)(HttpPort, parse=read_as_latin)
defect(
    "posts-decoded-in-pieces",
    "Decodes each 16 KiB of a body by itself.",
    "prompt:long:whole",
    "http:equivalence",
)(HttpPort, parse=in_pieces)
