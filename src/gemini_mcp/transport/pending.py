"""Wraps an ASGI application so that the bodies of all requests at work stay below a size. Pure.

A body counts from its first byte until its response has ended, because the call holds its prompt as long.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from gemini_mcp.transport.guard import Application, Message, Receive, Send

REFUSAL = b"The server has too many requests at work. Try again later."


@dataclass
class _Pending:
    bytes: int = 0


def bounded(application: Application, most: int, longest: int) -> Application:
    """The application, which is given a request only if it fits beside the others, or if there are none."""
    pending = _Pending()

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        size = _announced(scope["headers"], longest) if scope["type"] == "http" and scope["method"] == "POST" else 0
        if size and pending.bytes and pending.bytes + size > most:
            await _refuse(send)
            return
        pending.bytes += size
        try:
            await application(scope, receive, send)
        finally:
            pending.bytes -= size

    return serve


def _announced(headers: Iterable[tuple[bytes, bytes]], longest: int) -> int:
    """The size of the body as its header says; a body without a length may become the longest."""
    length = dict(headers).get(b"content-length", b"")
    return min(int(length), longest) if length.isdigit() else longest


async def _refuse(send: Send) -> None:
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", b"%d" % len(REFUSAL)),
        (b"retry-after", b"5"),
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": REFUSAL})
