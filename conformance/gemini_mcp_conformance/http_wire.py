"""HttpWire: messages to a port that serves Streamable HTTP, and lines from it. Effect.

Each message is a POST in a thread of its own; what comes back, as JSON or as events, is handed over as lines. The
process is not the suite's, so it cannot be ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import urlsplit

from gemini_mcp_conformance.values import Json, inside, table
from gemini_mcp_conformance.wire import OnLine

SECONDS = 60
VERSION = "io.modelcontextprotocol/protocolVersion"


class HttpWire:
    """One client's session with a port at a URL."""

    transport = "http"

    def __init__(self, url: str) -> None:
        self._url = urlsplit(url)
        self._session: str | None = None
        self._revision: str | None = None
        self._connections: set[HTTPConnection] = set()
        self._over = False
        self.code: int | None = None

    @property
    def ended(self) -> bool:
        """Whether the port could not be reached any more."""
        return self._over

    async def open(self, on_line: OnLine, on_end: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        self._on_line: Callable[[bytes], None] = lambda data: _safely(loop, on_line, data, True)
        self._on_end: Callable[[], None] = lambda: _safely(loop, on_end)

    async def write(self, data: bytes, seconds: float) -> bool:
        """Send one message; only a request is not waited for, since its answer may take its time."""
        message = table(_decoded(data))
        if {"id", "method"} <= set(message):
            threading.Thread(target=self._post, args=(data, message), daemon=True).start()
        else:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.to_thread(self._post, data, message), seconds)
        return True

    async def end(self, how: str) -> None:
        """Whoever started the port ends it."""

    def stderr(self) -> bytes:
        return b""

    def kill(self) -> None:
        """Break off whatever is still open."""
        for connection in tuple(self._connections):
            connection.close()

    async def closed(self) -> None:
        """Nothing has to be waited for."""

    def _post(self, data: bytes, message: Mapping[str, Json]) -> None:
        kind = HTTPSConnection if self._url.scheme == "https" else HTTPConnection
        connection = kind(self._url.netloc, timeout=SECONDS)
        self._connections.add(connection)
        try:
            path = f"{self._url.path or '/'}{f'?{self._url.query}' if self._url.query else ''}"
            connection.request("POST", path, data.rstrip(b"\n"), self._headers(message))
            response = connection.getresponse()
            self._session = response.headers.get("Mcp-Session-Id") or self._session
            for line in _messages(response):
                self._look_at(message, line)
                self._on_line(line)
        except ConnectionRefusedError:
            self._over = True
            self._on_end()
        except (OSError, HTTPException, ValueError, AttributeError):
            return
        finally:
            self._connections.discard(connection)
            connection.close()

    def _headers(self, message: Mapping[str, Json]) -> dict[str, str]:
        """What the protocol wants beside the message; the stateless era repeats parts of the message."""
        own = inside(message, "params", "_meta", VERSION)
        name = inside(message, "params", "name")
        stateless = {"Mcp-Method": message.get("method"), "Mcp-Name": name} if isinstance(own, str) else {}
        wanted: dict[str, Json] = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Mcp-Session-Id": self._session,
            "MCP-Protocol-Version": own or self._revision,
            **stateless,
        }
        return {name: value for name, value in wanted.items() if isinstance(value, str) and value.isascii()}

    def _look_at(self, message: Mapping[str, Json], line: bytes) -> None:
        """Remember the revision that the port has chosen."""
        spoken = inside(_decoded(line), "result", "protocolVersion") if message.get("method") == "initialize" else None
        self._revision = spoken if isinstance(spoken, str) else self._revision


def _messages(response: HTTPResponse) -> Iterator[bytes]:
    """The messages of a response, each on one line."""
    if not (response.headers.get("Content-Type") or "").startswith("text/event-stream"):
        body = response.read().strip()
        if body:
            yield body.replace(b"\r\n", b" ").replace(b"\n", b" ")
        return
    data: list[bytes] = []
    for line in response:
        text = line.rstrip(b"\r\n")
        if text.startswith(b"data:"):
            data.append(text[5:].removeprefix(b" "))
        elif not text and b"".join(data).strip():
            yield b" ".join(data)
        if not text:
            data.clear()


def _decoded(data: bytes) -> Json:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _safely(loop: asyncio.AbstractEventLoop, function: Callable[..., None], *arguments: object) -> None:
    """Call on the loop, unless the run has ended meanwhile."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(function, *arguments)
