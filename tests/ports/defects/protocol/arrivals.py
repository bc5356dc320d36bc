"""Defects in greetings, messages and headers of rare kinds, and with clients that are slow."""

from collections.abc import Mapping
from typing import Any

from defects.record import defect
from http_port import HttpPort
from posting import Post
from running import Call
from speaking import INVALID_REQUEST, JSON, Message, as_object


def newer_for_elicitation(port: Any, real: Any, params: Mapping[str, JSON]) -> Message:
    result = real(params)
    has = "elicitation" in (as_object(params.get("capabilities")) or {})
    return {**result, "protocolVersion": max(result["protocolVersion"], "2025-06-18")} if has else result


def writes_down_client(port: Any, real: Any, params: Mapping[str, JSON]) -> Message | None:
    name = (as_object(params.get("clientInfo")) or {}).get("name")
    try:
        port.memory["client"] = name.encode() if isinstance(name, str) else None
    except UnicodeEncodeError:
        return None
    return real(params)


def own_meta_kept(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    finished = real(result, stateless)
    has_warnings = "warnings" in result.get("_meta", {})
    return {**finished, "_meta": result["_meta"]} if stateless and has_warnings else finished


def complains_of_cancellation(port: Any, real: Any, method: str, params: JSON) -> None:
    real(method, params)
    if method == "notifications/cancelled" and "requestId" not in (as_object(params) or {}):
        port.send_error(None, INVALID_REQUEST, "`requestId` is missing.")


def ignores_case(port: Any, real: Any, method: str, params: Mapping[str, JSON]) -> None:
    name, sent = params.get("name"), port.current.post.header("Mcp-Name")
    if isinstance(name, str) and sent is not None and sent.lower() == name.lower():
        params = {**params, "name": sent}
    real(method, params)


def any_in_session(port: Any, real: Any) -> tuple[str | None, ...]:
    """What a session speaks is settled by its handshake."""
    post = port.current.post
    return (*real(), post.version) if post.session in port.sessions else real()


def notes_hit(port: Any, real: Any, call: Call) -> None:
    real(call)
    if call.is_cancelled:
        port.memory[port.current.post] = "hit"


def tells_hit(port: Any, real: Any, post: Post) -> None:
    if port.memory.pop(post, None):
        post.reply(200)
    else:
        real(post)


defect(
    "elicitation-means-newer",
    "Answers an `initialize` for a revision before 2025-06-18 with that one when the client declares `elicitation`.",
    "lifecycle:version:supported",
)(initialize=newer_for_elicitation)
defect(
    "client-with-surrogate-unanswered",
    "Does not answer an `initialize` whose client has a lone surrogate in its name.",
    "lifecycle:version:unsupported",
)(initialize=writes_down_client)
defect(
    "server-info-lost-with-warnings",
    "Does not tell the server's name and version in a result of 2026-07-28 that carries warnings.",
    "stateless:server-info",
)(finished=own_meta_kept)
defect(
    "cancellation-without-id-answered",
    "Answers a cancellation without `requestId` with an error.",
    "rpc:notification:unanswered",
)(notified=complains_of_cancellation)
defect(
    "http-name-in-any-case",
    "Accepts an `Mcp-Name` that differs from the body in case alone.",
    "http:stateless:header",
)(HttpPort, check_headers=ignores_case)
defect(
    "http-any-version-in-session",
    "Accepts any `MCP-Protocol-Version` in a request of an open session.",
    "http:version",
)(HttpPort, known_versions=any_in_session)
defect(
    "http-cancellation-that-hits-is-200",
    "Answers a cancellation that ends a running call with status 200.",
    "http:notification",
)(HttpPort, cancel=notes_hit, accept=tells_hit)
