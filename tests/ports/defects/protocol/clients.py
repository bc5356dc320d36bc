"""Defects over HTTP in what tells one client, one session or one connection from another."""

from collections.abc import Mapping
from typing import Any

from defects.life.encounters import spares_old
from defects.record import defect
from http_port import HttpPort
from planning import ARGUMENT_LIMIT
from running import Call
from speaking import Message, as_object
from steps import only


def replies_for_ended(port: Any, real: Any, post: Any, body: bytes) -> None:
    if b'"chat-reply"' in body and port.is_allowed(post.headers.get("Origin")):
        port.current.post = post
        port.receive(body)
    else:
        real(post, body)


def ends_latest_alone(port: Any, real: Any, session: str | None) -> None:
    """There is room for one session that has ended."""
    if earlier := port.memory.get("ended"):
        port.sessions.add(earlier)
    if session in port.sessions:
        port.memory["ended"] = session
    real(session)


def first_of_that_id(port: Any, real: Any, method: str, params: Any) -> None:
    wanted = (as_object(params) or {}).get("requestId")
    same = [call for call in list(port.calls) if type(call.id) is type(wanted) and call.id == wanted]
    if method == "notifications/cancelled" and same:
        port.cancel(same[0])


def version_of_first(port: Any, real: Any, params: Mapping[str, Any]) -> Message:
    result = real(params)
    return {**result, "protocolVersion": port.memory.setdefault("version", result["protocolVersion"])}


def prompt_is_short(call: Call) -> bool:
    return len(call.arguments.get("prompt", "").encode("utf-8", "replace")) <= ARGUMENT_LIMIT


defect(
    "replies-outlive-session",
    "Serves replies in a session that has been ended.",
    "http:session:ended",
)(HttpPort, posted=replies_for_ended)
defect(
    "latest-end-remembered",
    "Serves a session that has been ended once another has been ended, too.",
    "http:session:ended",
)(HttpPort, end_session=ends_latest_alone)
defect(
    "cancel-finds-first-client",
    "Looks for the call to cancel among the ids of all clients, and finds the first.",
    "cancel:child",
)(HttpPort, notified=first_of_that_id)
defect(
    "version-of-first-client-kept",
    "Answers `initialize` of all later clients with the version of the first.",
    "lifecycle:version:supported",
)(HttpPort, initialize=version_of_first)
defect(
    "disconnection-unheard-on-stdin",
    "Lets gemini run on for a client that has closed its connection when the prompt is long.",
    "cancel:child",
    "http:stateless:disconnect",
)(HttpPort, disconnected=only(prompt_is_short))
defect(
    "disconnection-unheard-after-three-seconds",
    "Does not notice that a client closes its connection when gemini has run for three seconds.",
    "cancel:child",
    "http:stateless:disconnect",
)(HttpPort, disconnected=spares_old)
