"""Posts: one request over HTTP, and its answer as JSON or as events. http_port.py knows what a message means."""

from __future__ import annotations

import select
import socket
import sys
from base64 import b64decode
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

LENGTH, SESSION, VERSION = "Content-Length", "Mcp-Session-Id", "MCP-Protocol-Version"
JSON, STREAM = "application/json", "text/event-stream"
ENCODED = ("=?base64?", "?=")


class Receives(Protocol):
    """What a server knows how to answer; each method takes the request, and its body."""

    def posted(self, post: Post, body: bytes) -> None: ...

    def got(self, post: Post, body: bytes) -> None: ...

    def deleted(self, post: Post, body: bytes) -> None: ...


class Server(ThreadingHTTPServer):
    """Listens on the loopback interface, at a port that is free."""

    request_queue_size = 128

    def __init__(self, receiver: Receives) -> None:
        super().__init__(("127.0.0.1", 0), Post)
        self.receiver = receiver

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves before its answer is no error."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Post(BaseHTTPRequestHandler):
    """A request on a connection of its own. It is answered once: whole, or by events as they come."""

    server: Server  # pyright: ignore[reportIncompatibleVariableOverride]
    is_stream = False
    is_answered = False

    def do_POST(self) -> None:
        self.server.receiver.posted(self, self.body())

    def do_GET(self) -> None:
        self.server.receiver.got(self, self.body())

    def do_DELETE(self) -> None:
        self.server.receiver.deleted(self, self.body())

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get(LENGTH, 0)))

    def header(self, name: str) -> str | None:
        """A header's text; what is no plain text comes encoded."""
        text = self.headers.get(name)
        if text is None or not (text.startswith(ENCODED[0]) and text.endswith(ENCODED[1])):
            return text
        plain = b64decode(text.removeprefix(ENCODED[0]).removesuffix(ENCODED[1]))
        return plain.decode("utf-8", "surrogatepass")

    @property
    def session(self) -> str | None:
        return self.header(SESSION)

    @property
    def version(self) -> str | None:
        return self.header(VERSION)

    def reply(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.is_answered = True
        self.head(status, {LENGTH: str(len(body)), **(headers or {})})
        self.wfile.write(body)

    def event(self, data: bytes) -> None:
        if not self.is_stream:
            self.begin_stream()
        self.wfile.write(b"data: " + data.strip() + b"\n\n")

    def begin_stream(self) -> None:
        self.is_stream = self.is_answered = True
        self.head(200, {"Content-Type": STREAM})

    def head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def is_gone(self) -> bool:
        """Whether the client has closed the connection."""
        with suppress(OSError, ValueError):
            is_ready = select.select([self.connection], [], [], 0)[0]
            return bool(is_ready) and not self.connection.recv(1, socket.MSG_PEEK)
        return True

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
