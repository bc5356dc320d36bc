"""Defects of a port over HTTP in whom it lets in, and in how it answers those whom it does not."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from defects.record import defect
from http_port import HEADER_MISMATCH, HttpPort, answers_handshake
from posting import SESSION, STREAM
from speaking import Message, as_object
from steps import only


def streams_as_preferred(port: Any, real: Any, message: Message) -> None:
    post = port.current.post
    is_preferred = post.headers.get("Accept", "").startswith(STREAM)
    if is_preferred and not answers_handshake(message):
        with suppress(OSError):
            post.event(port.encoded(message))
    else:
        real(message)


def text_of_bad_request(port: Any, real: Any, message: Message) -> dict[str, str]:
    is_bad = port.status(message) == 400
    return {**real(message), **({"Content-Type": "text/plain; charset=utf-8"} if is_bad else {})}


def mismatch_without_id(port: Any, real: Any, message: Message) -> None:
    is_mismatch = message.get("error", {}).get("code") == HEADER_MISMATCH
    real({**message, "id": None} if is_mismatch else message)


def has_no_token(method: str, params: Mapping[str, Any]) -> bool:
    return "progressToken" not in (as_object(params.get("_meta")) or {})


def notes_client(port: Any, real: Any, params: Mapping[str, Any]) -> Message:
    port.current.client = str((as_object(params.get("clientInfo")) or {}).get("name"))
    return real(params)


def session_of_client(port: Any, real: Any, message: Message) -> dict[str, str]:
    if not answers_handshake(message):
        return {}
    known = port.memory.setdefault("clients", dict[str, str]())
    session = known.get(port.current.client)
    if session not in port.sessions:
        session = known[port.current.client] = real(message)[SESSION]
    return {SESSION: session}


defect(
    "errors-streamed-as-preferred",
    "Answers every request with status 200 and a stream when its client names events before JSON.",
    "http:stateless:method",
    "http:version",
)(HttpPort, write=streams_as_preferred)
defect(
    "bad-requests-answered-as-text",
    "Answers a request with status 400 as plain text.",
    "http:content-type",
)(HttpPort, headers=text_of_bad_request)
defect(
    "header-mismatch-under-null",
    "Answers a request whose headers differ from its body under null.",
    "rpc:response:id",
)(HttpPort, send=mismatch_without_id)
defect(
    "headers-unread-beside-token",
    "Does not compare the headers of a request that asks for progress with its body.",
    "http:stateless:header",
)(HttpPort, check_headers=only(has_no_token))
defect(
    "session-shared-by-name-of-client",
    "Gives clients of the same name the same session.",
    "command:once",
    "cancel:others",
)(HttpPort, initialize=notes_client, session=session_of_client)
