"""Reads what clients post before the SDK does: an ASGI application in, one that serves as stdio does out. Pure.

The SDK's own reading knows no half characters, tells no 7 from "7", and takes a header's word for the era of a body.
What a message means is the server's affair; here it is only read, and refused where it is none.
"""

import json
from collections.abc import Mapping
from typing import cast

from mcp_types import HEADER_MISMATCH, PROTOCOL_VERSION_META_KEY, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest

from gemini_mcp.call.surrogates import sayable
from gemini_mcp.spec.values import Json
from gemini_mcp.transport.guard import Application, Message, Receive, Send
from gemini_mcp.transport.messages import AS_SENT, Malformed, malformed, read, write
from gemini_mcp.transport.request_ids import sealed, with_sealed_id

VERSION = b"mcp-protocol-version"


def reading(application: Application) -> Application:
    """The application behind our own reading. Each body is expected to come whole."""

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await application(scope, receive, send)
            return
        posted = await receive()
        if posted["type"] != "http.request":
            return
        message = _understood(posted["body"], dict(scope["headers"]))
        if isinstance(message, Malformed):
            await _refuse(message, send)
            return
        if isinstance(message, JSONRPCRequest):
            scope, send = {**scope, AS_SENT: message.params}, _answering(message.id, send)
        await application(scope, _again({**posted, "body": _for_sdk(message)}, receive), send)

    return serve


def _understood(body: bytes, headers: Mapping[bytes, bytes]) -> JSONRPCMessage | Malformed:
    """The message of a body; none when it names another revision than the header, which others may have gone by."""
    message = read(body)
    if not isinstance(message, JSONRPCRequest):
        return message
    meta = (message.params or {}).get("_meta")
    named = cast("Mapping[str, Json]", meta).get(PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else None
    if not isinstance(named, str) or headers.get(VERSION) == named.encode("utf-8", "replace"):
        return message
    sentence = "The MCP-Protocol-Version header does not name the revision of the body."
    return malformed(HEADER_MISMATCH, sentence, message.id)


def _for_sdk(message: JSONRPCMessage) -> bytes:
    """A body that the SDK can read; it loses half characters, which are kept in the scope."""
    given = with_sealed_id(message)
    if isinstance(given, JSONRPCRequest | JSONRPCNotification):
        given = given.model_copy(update={"params": sayable(given.params)} if given.params is not None else {})
    return bytes(write(given))


def _answering(id: Json, send: Send) -> Send:
    """Sends the answer to a request with the client's own id, which makes it longer or shorter."""
    theirs, own = (b'"id":' + json.dumps(each).encode("ascii") for each in (sealed(id), id))

    async def answer(event: Message) -> None:
        if event["type"] == "http.response.start":
            kept = [(name, value) for name, value in event.get("headers", ()) if name.lower() != b"content-length"]
            await send({**event, "headers": kept})
        else:
            await send({**event, "body": event.get("body", b"").replace(theirs, own, 1)})

    return answer


def _again(first: Message, receive: Receive) -> Receive:
    """Receives what has been received already, then what comes."""
    kept = [first]

    async def receive_again() -> Message:
        return kept.pop() if kept else await receive()

    return receive_again


async def _refuse(message: Malformed, send: Send) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(message.answer))]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": bytes(message.answer)})
