"""The listener that the browser comes back to: one redirect in, its query out. Effect.

It binds the host, port and path of the redirect URI, and believes no answer with another state.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qs

import anyio
import anyio.abc

from gemini_mcp.host.urls import Url, parse

WAIT_SECONDS = 300.0
LONGEST_REQUEST = 64 * 1024

_PAGE = "<!doctype html><title>{0}</title><h1>{0}</h1><p>You can close this window and return to the terminal.</p>"


class Refused(Exception):
    """The browser came back with something else than a code for this flow."""


@dataclass
class _Waiting:
    redirect: Url
    state: str
    arrived: anyio.Event = field(default_factory=anyio.Event)
    query: dict[str, str] = field(default_factory=dict[str, str])
    refusal: str | None = None

    async def handle(self, stream: anyio.abc.SocketStream) -> None:
        with suppress(anyio.BrokenResourceError):
            async with stream:
                await self._answer(stream)

    async def _answer(self, stream: anyio.abc.SocketStream) -> None:
        target = await _request_target(stream)
        status, title = self._judge(target)
        body = _PAGE.format(title).encode("utf-8")
        head = f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        await stream.send(f"{head}Connection: close\r\n\r\n".encode("ascii") + body)

    def _judge(self, target: str) -> tuple[str, str]:
        path, _, query = target.partition("?")
        if path != self.redirect.path or self.arrived.is_set():
            return "404 Not Found", "Not found"
        given = {name: values[-1] for name, values in parse_qs(query).items()}
        if given.get("state") != self.state:
            if "state" in given or "code" in given:
                self._refuse("the state is not the one that was sent")
            return "400 Bad Request", "Invalid state"
        if "error" in given:
            self._refuse(f"the authorization server said {given['error']!r}")
            return "200 OK", "Authentication failed"
        if not given.get("code"):
            return "400 Bad Request", "Missing code"
        self.query = given
        self.arrived.set()
        return "200 OK", "Authentication successful"

    def _refuse(self, reason: str) -> None:
        self.refusal = reason
        self.arrived.set()


@dataclass(frozen=True)
class Listener:
    """A listener that is bound."""

    waiting: _Waiting

    async def wait(self, seconds: float = WAIT_SECONDS) -> None:
        """Wait for the browser, at most so long."""
        with anyio.move_on_after(seconds):
            await self.waiting.arrived.wait()

    def answer(self) -> dict[str, str]:
        """The query the browser brought; raises Refused and TimeoutError."""
        if self.waiting.refusal is not None:
            raise Refused(self.waiting.refusal)
        if not self.waiting.arrived.is_set():
            raise TimeoutError
        return self.waiting.query


@asynccontextmanager
async def listen(redirect_uri: str, state: str) -> AsyncGenerator[Listener]:
    """Listen where the redirect URI says; raises OSError when the port is taken."""
    redirect = parse(redirect_uri)
    waiting = _Waiting(redirect, state)
    port = redirect.port or (443 if redirect.scheme == "https" else 80)
    listener = await anyio.create_tcp_listener(local_host=redirect.hostname.strip("[]"), local_port=port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, waiting.handle)
        try:
            yield Listener(waiting)
        finally:
            tasks.cancel_scope.cancel()


async def _request_target(stream: anyio.abc.SocketStream) -> str:
    received = b""
    try:
        while b"\r\n\r\n" not in received and len(received) < LONGEST_REQUEST:
            received += await stream.receive()
    except anyio.EndOfStream:
        pass
    words = received.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    return words[1] if len(words) == 3 and words[0] == "GET" else ""
