"""The listener that the browser comes back to; it gives the query of the redirect. Effect.

It listens on host, port and path of the redirect URI, and refuses an answer with another state.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qs

import anyio
import anyio.abc
import h11

from gemini_mcp.host.rules.urls import Url, parse

LONGEST_REQUEST = 64 * 1024

_PAGE = "<!doctype html><title>{0}</title><h1>{0}</h1><p>You can close this window and return to the terminal.</p>"


class Refused(Exception):
    """The browser came back with something else than a code for this flow."""


@dataclass
class Listener:
    """What waits for the browser, and the answer that it brought."""

    redirect: Url
    state: str
    _arrived: anyio.Event = field(default_factory=anyio.Event)
    _query: dict[str, str] = field(default_factory=dict[str, str])
    _refusal: str | None = None

    async def wait(self, seconds: float) -> None:
        """Wait for the browser, at most so long."""
        with anyio.move_on_after(seconds):
            await self._arrived.wait()

    def answer(self) -> dict[str, str]:
        """The query the browser brought; raises Refused and TimeoutError."""
        if self._refusal is not None:
            raise Refused(self._refusal)
        if not self._arrived.is_set():
            raise TimeoutError
        return self._query

    async def handle(self, stream: anyio.abc.SocketStream) -> None:
        """Answer one connection of a browser."""
        with suppress(anyio.BrokenResourceError):
            async with stream:
                await self._respond(stream)

    async def _respond(self, stream: anyio.abc.SocketStream) -> None:
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=LONGEST_REQUEST)
        request = await _request(stream, connection)
        status, title = self._judge(request.target.decode("ascii") if request and request.method == b"GET" else "")
        page = _PAGE.format(title).encode("utf-8")
        headers = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(page)), "Connection": "close"}
        response = h11.Response(status_code=status, reason=status.phrase, headers=list(headers.items()))
        body = () if request and request.method == b"HEAD" else (h11.Data(page), h11.EndOfMessage())
        await stream.send(b"".join(connection.send(event) or b"" for event in (response, *body)))

    def _judge(self, target: str) -> tuple[HTTPStatus, str]:
        path, _, query = target.partition("?")
        # Browsers ask for `/favicon.ico` too, and open pages again.
        if path != self.redirect.path or self._arrived.is_set():
            return HTTPStatus.NOT_FOUND, "Not found"
        given = {name: values[-1] for name, values in parse_qs(query).items()}
        # RFC 6749, 10.12: an answer with another state may be forged by a page that the browser shows.
        if given.get("state") != self.state:
            if "state" in given or "code" in given:
                self._refuse("the state is not the one that was sent")
            return HTTPStatus.BAD_REQUEST, "Invalid state"
        if "error" in given:
            self._refuse(f"the authorization server said {given['error']!r}")
            return HTTPStatus.OK, "Authentication failed"
        if not given.get("code"):
            return HTTPStatus.BAD_REQUEST, "Missing code"
        self._query = given
        self._arrived.set()
        return HTTPStatus.OK, "Authentication successful"

    def _refuse(self, reason: str) -> None:
        self._refusal = reason
        self._arrived.set()


@asynccontextmanager
async def listen(redirect_uri: str, state: str) -> AsyncGenerator[Listener]:
    """Listen where the redirect URI says; raises OSError when the port is taken."""
    redirect = parse(redirect_uri)
    port = redirect.port or (443 if redirect.scheme == "https" else 80)
    socket = await anyio.create_tcp_listener(local_host=redirect.hostname.strip("[]"), local_port=port)
    async with socket, anyio.create_task_group() as tasks:
        listener = Listener(redirect, state)
        tasks.start_soon(socket.serve, listener.handle)
        try:
            yield listener
        finally:
            tasks.cancel_scope.cancel()


async def _request(stream: anyio.abc.SocketStream, connection: h11.Connection) -> h11.Request | None:
    """The request without its body; None when it is not HTTP."""
    with suppress(anyio.EndOfStream, h11.RemoteProtocolError):
        while (event := connection.next_event()) is h11.NEED_DATA:
            connection.receive_data(await stream.receive())
        return event if isinstance(event, h11.Request) else None
    return None
