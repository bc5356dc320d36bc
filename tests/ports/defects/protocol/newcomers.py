"""Defects in what a port remembers of its client, and in the posts and messages that meet on the way."""

import time
from collections.abc import Mapping
from typing import Any

from defects.record import defect
from http_port import HttpPort
from port import STATELESS
from posting import Post
from running import Call
from speaking import Message

TTL_SECONDS = 3.0


def null_for_falsy(port: Any, real: Any, message: Message) -> None:
    real({**message, "id": message["id"] or None} if "error" in message else message)


def rest_of_time(port: Any, real: Any) -> Message:
    until = port.memory.setdefault("until", time.monotonic() + TTL_SECONDS)
    return {**real(), "ttlMs": int((until - time.monotonic()) * 1000)}


def session_is_trusted(port: Any, real: Any, post: Post) -> bool:
    return post.session not in port.sessions and real(post)


def by_beginning(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    header, name = port.current.post.header("Mcp-Name"), params.get("name")
    is_beginning = bool(header) and isinstance(name, str) and name.startswith(header)
    real(method, {**params, "name": header} if is_beginning else params)


class NotLater(tuple[str | None, ...]):
    """Versions, and all that come before the latest in the order of dates."""

    __slots__ = ()

    def __contains__(self, version: object) -> bool:
        return version is None or (isinstance(version, str) and "" < version <= STATELESS[-1])


def not_later(port: Any, real: Any) -> NotLater:
    return NotLater(real())


def notes_post(port: Any, real: Any, identity: Any, *others: Any) -> None:
    port.memory[repr(identity)] = port.current.post
    real(identity, *others)


def to_latest_post(port: Any, real: Any, call: Call, result: Message) -> None:
    port.current.post = port.memory[repr(call.id)]
    real(call, result)


defect(
    "falsy-id-null-in-errors",
    "Answers a request whose id is 0 or an empty text with a null id when the answer is a JSON-RPC error.",
    "rpc:response:id",
)(send=null_for_falsy)
defect(
    "ttl-runs-out",
    "Counts the time for which its list of tools is good from the first one on, down below 0.",
    "stateless:caching",
)(caching=rest_of_time)
defect(
    "origin-trusted-in-session",
    "Serves a request of any `Origin` when it belongs to a session.",
    "http:origin",
)(HttpPort, is_refused=session_is_trusted)
defect(
    "name-header-by-beginning",
    "Takes an `Mcp-Name` for that of its body when the name in the body begins with it.",
    "http:stateless:header",
)(HttpPort, check_headers=by_beginning)
defect(
    "earlier-versions-accepted",
    "Accepts every `MCP-Protocol-Version` that is no later than the latest that it supports.",
    "http:version",
)(HttpPort, known_versions=not_later)
defect(
    "answer-to-latest-post-of-id",
    "Sends the answer of a call to the latest post with the same id, be it one of another session.",
    "result:session-id",
)(HttpPort, begin_call=notes_post, answer=to_latest_post)
