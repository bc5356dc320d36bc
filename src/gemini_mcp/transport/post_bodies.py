"""Wraps the SDK's ASGI application so that a POST body is read in the same way as a line on stdio. Pure.

The SDK's own parser rejects lone surrogates, treats the ids 7 and "7" as equal, trusts the header for the revision, and
never answers a request if a second one has its id.
This module reads messages and refuses what is not one; what a message means is decided by the server.
"""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from gemini_mcp.call.surrogates import encodable, without_surrogates
from gemini_mcp.errors import Code
from gemini_mcp.spec.values import Json, inside
from gemini_mcp.transport import messages
from gemini_mcp.transport.eras import CANCELLED, REVISION
from gemini_mcp.transport.guard import Application, Message, Receive, Send
from gemini_mcp.transport.messages import Malformed, Notification, Request, malformed, read, write

AS_SENT = "gemini_mcp.as_sent"
"""The key of an ASGI scope that holds the parameters of a request as the client sent them."""

VERSION = b"mcp-protocol-version"
SESSION = b"mcp-session-id"


def reading(application: Application) -> Application:
    """The application, with bodies read by us. A body arrives in one piece, since the SDK's size limit collects it."""
    at_work: set[tuple[bytes, str]] = set()

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await application(scope, receive, send)
            return
        posted = await receive()
        if posted["type"] != "http.request":
            return
        headers = dict(scope["headers"])
        message = _message_in(posted["body"], headers)
        key = (headers[SESSION], _sdk_id(message.id)) if isinstance(message, Request) and SESSION in headers else None
        if isinstance(message, Request) and key in at_work:
            message = malformed(Code.INVALID_REQUEST, "A request with this id is at work in this session.", message.id)
        if isinstance(message, Malformed):
            await _refuse(message, send)
            return
        replayed = _replay({**posted, "body": _for_sdk(message)}, receive)
        if not isinstance(message, Request):
            await application(scope, replayed, send)
            return
        response = _Response(message, send)
        with _held(at_work, key):
            await application({**scope, AS_SENT: message.params}, replayed, response.take)
        await response.end()

    return serve


@contextmanager
def _held(at_work: set[tuple[bytes, str]], key: tuple[bytes, str] | None) -> Generator[None]:
    """Note a request while it is at work: the SDK would answer the second one with its id alone."""
    if key is not None:
        at_work.add(key)
    try:
        yield
    finally:
        at_work.discard(key)  # pyright: ignore[reportArgumentType] - None is in no set


def _message_in(body: bytes, headers: Mapping[bytes, bytes]) -> messages.Message | Malformed:
    """The message in a body. It must name the same revision as the header, which proxies and the SDK trust."""
    message = read(body)
    if not isinstance(message, Request):
        return message
    named = inside(message.params, "_meta", REVISION)
    if not isinstance(named, str) or headers.get(VERSION) == named.encode("utf-8", "replace"):
        return message
    sentence = "The MCP-Protocol-Version header does not name the revision of the body."
    return malformed(Code.HEADER_MISMATCH, sentence, message.id)


def _for_sdk(message: messages.Message) -> bytes:
    """A body that the SDK can parse, without lone surrogates. The parameters as sent are kept in the scope."""
    match message:
        case Request(id, method, params):
            message = Request(_sdk_id(id), without_surrogates(method), encodable(params))
        case Notification(method, {"requestId": id, **more}) if method == CANCELLED:
            message = Notification(method, {**encodable(more), "requestId": _sdk_id(id)})
        case Notification(method, params):
            message = Notification(method, encodable(params))
        case _:
            pass
    return bytes(write(message))


def _sdk_id(id: Json) -> str:
    """The id as JSON text. To the SDK, 7 and "7" are one id, so one request could be cancelled for another."""
    return json.dumps(id)


def _member(name: str, value: Json) -> bytes:
    """A member as the SDK writes it; only of a lone surrogate, which the SDK cannot write, an escape is left."""
    text = json.dumps(value, ensure_ascii=False)
    return f'"{name}":{text}'.encode("utf-8", "backslashreplace")


class _Response:
    """Sends a response with the client's own id and token. That changes its length, so no length is declared.

    The answer is sent when the SDK has finished with the request: from then on the client may use the id again.
    """

    def __init__(self, request: Request, send: Send) -> None:
        self._send = send
        self._theirs, self._own = (_member("id", each) for each in (_sdk_id(request.id), request.id))
        token = inside(request.params, "_meta", "progressToken")
        self._their_token, self._own_token = (_member("progressToken", each) for each in (encodable(token), token))
        self._kept: list[Message] = []

    async def take(self, event: Message) -> None:
        """Send what comes before the answer, and keep the rest."""
        if event["type"] == "http.response.start":
            headers = [(name, value) for name, value in event.get("headers", ()) if name.lower() != b"content-length"]
            await self._send({**event, "headers": headers})
            return
        body = event.get("body", b"")
        # Few tokens are changed, and a body may be long.
        if self._their_token != self._own_token:
            body = body.replace(self._their_token, self._own_token)
        if self._kept or self._theirs in body or not event.get("more_body"):
            self._kept.append({**event, "body": body.replace(self._theirs, self._own, 1)})
        else:
            await self._send({**event, "body": body})

    async def end(self) -> None:
        """Send what was kept."""
        for event in self._kept:
            await self._send(event)


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
