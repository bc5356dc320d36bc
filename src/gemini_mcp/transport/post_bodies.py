"""Wraps the SDK's ASGI application so that a POST body is read in the same way as a line on stdio. Pure.

The SDK's own parser rejects lone surrogates, treats the ids 7 and "7" as equal, and trusts the header for the revision.
This module reads messages and refuses what is not one; what a message means is decided by the server.
"""

import json
from collections.abc import Mapping
from typing import cast

from mcp_types import HEADER_MISMATCH, PROTOCOL_VERSION_META_KEY, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest

from gemini_mcp.call.surrogates import encodable
from gemini_mcp.spec.values import Json
from gemini_mcp.transport.guard import Application, Message, Receive, Send
from gemini_mcp.transport.messages import AS_SENT, Malformed, malformed, read, write
from gemini_mcp.transport.request_ids import sdk_id, with_sdk_id

VERSION = b"mcp-protocol-version"


def reading(application: Application) -> Application:
    """The application, with bodies read by us. A body arrives in one piece, since the SDK's size limit collects it."""

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await application(scope, receive, send)
            return
        posted = await receive()
        if posted["type"] != "http.request":
            return
        message = _message_in(posted["body"], dict(scope["headers"]))
        if isinstance(message, Malformed):
            await _refuse(message, send)
            return
        if isinstance(message, JSONRPCRequest):
            scope, send = {**scope, AS_SENT: message.params}, _answering(message.id, send)
        await application(scope, _replay({**posted, "body": _for_sdk(message)}, receive), send)

    return serve


def _message_in(body: bytes, headers: Mapping[bytes, bytes]) -> JSONRPCMessage | Malformed:
    """The message in a body. It must name the same revision as the header, which proxies and the SDK trust."""
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
    """A body that the SDK can parse, without lone surrogates. The parameters as sent are kept in the scope."""
    given = with_sdk_id(message)
    if isinstance(given, JSONRPCRequest | JSONRPCNotification):
        given = given.model_copy(update={"params": encodable(given.params)} if given.params is not None else {})
    return bytes(write(given))


def _answering(id: Json, send: Send) -> Send:
    """Send the response with the client's own id. That changes its length, so no length is declared."""
    theirs, own = (b'"id":' + json.dumps(each).encode("ascii") for each in (sdk_id(id), id))

    async def answer(event: Message) -> None:
        if event["type"] == "http.response.start":
            kept = [(name, value) for name, value in event.get("headers", ()) if name.lower() != b"content-length"]
            await send({**event, "headers": kept})
        else:
            await send({**event, "body": event.get("body", b"").replace(theirs, own, 1)})

    return answer


def _replay(first: Message, receive: Receive) -> Receive:
    """Receive `first` again, then what follows."""
    kept = [first]

    async def receive_again() -> Message:
        return kept.pop() if kept else await receive()

    return receive_again


async def _refuse(message: Malformed, send: Send) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(message.answer))]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": bytes(message.answer)})
