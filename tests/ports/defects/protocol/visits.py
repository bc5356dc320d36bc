"""Defects of a port over HTTP in single posts: how a body is laid out, what it lacks, and when a client leaves."""

import time
from typing import Any

from conditions import refused
from defects.record import defect
from http_port import HttpPort
from port import Port
from running import Call
from speaking import INVALID_REQUEST, Message, RpcError, as_object
from steps import before, takes

EARLY = 0.5


def ends_stream_of_refused(port: Any, real: Any, call: Call, result: Message) -> None:
    if call.token is not None and refused(call, result):
        call.is_answered = True
    else:
        real(call, result)


def unknown_is_not_found(port: Any, real: Any, method: str, params: Any) -> None:
    wanted = (as_object(params) or {}).get("requestId")
    is_known = method != "notifications/cancelled" or any(call.id == wanted for call in list(port.calls))
    real(method, params)
    if not is_known:
        port.current.post.reply(404)


def accepts_falsy(port: Any, real: Any, request: Message) -> None:
    if request["id"]:
        real(request)
    else:
        port.accept(port.current.post)


def needs_header(port: Any, request: Message) -> None:
    if port.current.post.version is None and request["method"] != "initialize":
        raise RpcError(INVALID_REQUEST, "The header `MCP-Protocol-Version` is missing.")


def notes_begin(port: Any, call: Call) -> None:
    port.memory[call] = time.monotonic()


def looks_later(port: Any, real: Any, call: Call) -> None:
    """Takes a connection that half is closed at once for a habit of the client."""
    begun = port.memory.get(call)
    if begun is None or time.monotonic() - begun < EARLY:
        port.memory[call] = None
    else:
        real(call)


def ends_by_id(port: Any, real: Any, call: Call) -> None:
    for each in list(port.calls):
        if each.id == call.id:
            Port.cancel(port, each)


defect(
    "first-line-of-body-read",
    "Reads the first line of a body, as if it came over stdio.",
    "http:equivalence",
    "http:content-type",
)(HttpPort, posted=takes(lambda body: body.split(b"\n")[0]))
defect(
    "stream-of-refused-ended",
    "Ends the stream of a refused call that asks for progress without an answer.",
    "http:equivalence",
    "arguments:refused:is-error",
)(HttpPort, answer=ends_stream_of_refused)
defect(
    "unknown-cancellation-not-found",
    "Answers the cancellation of an unknown call with status 404.",
    "cancel:unknown",
)(HttpPort, notified=unknown_is_not_found)
defect(
    "falsy-ids-accepted",
    "Accepts a request whose id is 0 or empty as a notification over HTTP.",
    "http:content-type",
    "rpc:response:id",
)(HttpPort, requested=accepts_falsy)
defect(
    "version-header-needed",
    "Refuses the requests of clients that send no header of the version.",
    "lifecycle:ping",
    "http:equivalence",
)(HttpPort, params=before(needs_header))
defect(
    "early-leave-unnoticed",
    "Does not notice a client that leaves in the first half second.",
    "http:stateless:disconnect",
)(HttpPort, execute=before(notes_begin), disconnected=looks_later)
defect(
    "same-ids-end-together",
    "Ends the calls of all clients that have the same id when one of them leaves.",
    "concurrency:lost",
    "result:session-id",
)(HttpPort, disconnected=ends_by_id)
