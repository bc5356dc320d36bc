"""Odd ways in which an answer travels over HTTP: as events, in chunks, compressed, and over a later connection."""

import gzip
import json
import threading
from contextlib import suppress
from uuid import uuid4

from posting import JSON, STREAM, Post

PIECE, LONG = 1000, 100_000
PRIMED = "2025-11-25"
"""The one revision in which a stream begins with an event without a message."""
PAGE = b"<!doctype html>\n<h1>This did not work</h1>\n<pre>  at Server.handle (server.js:1:1)</pre>\n"


class Chunks(Post):
    """Keeps a connection open, and sends a stream in chunks."""

    protocol_version = "HTTP/1.1"
    timeout = 120

    def handle_one_request(self) -> None:
        self.is_stream = self.is_answered = False
        super().handle_one_request()
        if self.is_stream:
            with suppress(OSError):
                self.wfile.write(b"0\r\n\r\n")

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def event(self, data: bytes) -> None:
        self.begin({})
        self.chunk(b"data: " + data.strip() + b"\n\n")

    def begin(self, headers: dict[str, str], status: int = 200) -> None:
        if not self.is_stream:
            self.is_stream = self.is_answered = True
            self.head(status, {**headers, "Content-Type": STREAM, "Transfer-Encoding": "chunked"})


class Events(Chunks):
    """Answers everything by events, and says with them all that the notation of events allows."""

    number = 0

    def reply(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        given = dict(headers or {})
        if given.pop("Content-Type", "") == JSON:
            self.begin(given, status)
            self.event(body)
        else:
            super().reply(status, body, headers)

    def begin(self, headers: dict[str, str], status: int = 200) -> None:
        if not self.is_stream:
            super().begin(headers, status)
            self.chunk(b"\xef\xbb\xbf: welcome\r\n\r\nretry: 2000\r\n")
            if self.version == PRIMED:
                self.chunk(b"id: 0\r\ndata:\r\n\r\n")

    def event(self, data: bytes) -> None:
        self.begin({})
        self.number += 1
        message = json.loads(data)
        lines = json.dumps(message, indent=1).split("\n") if len(data) < LONG else [data.decode().strip()]
        told = [f"id: {self.number}", "event: message", "unknown: field", ":", *(f"data:{line}" for line in lines)]
        whole = ("\r\n".join(told) + "\r\n\r\n").encode()
        size = max(PIECE, len(whole) // 20)
        for start in range(0, len(whole), size):
            self.chunk(whole[start : start + size])


class Returns(Events):
    """Ends lines by a return alone, begins with a byte order mark, and sends signs of life by another name."""

    def begin(self, headers: dict[str, str], status: int = 200) -> None:
        if not self.is_stream:
            Chunks.begin(self, headers, status)
            self.chunk(b"\xef\xbb\xbf")

    def event(self, data: bytes) -> None:
        self.begin({})
        self.chunk(b"data: " + data.strip() + b"\r\r")
        self.chunk(b"event: heartbeat\rdata: still here\r\r")


class Kept:
    """The stream of a call whose connection is closed at once: its events wait for who comes to read them."""

    is_stream = is_answered = True

    def __init__(self, post: Chunks) -> None:
        self.session, self.version = post.session, post.version
        self.name = uuid4().hex
        self.events: list[bytes] = []
        self.has_ended = False
        self.news = threading.Condition()

    def event(self, data: bytes) -> None:
        with self.news:
            self.events.append(data)
            self.news.notify_all()

    def end(self) -> None:
        with self.news:
            self.has_ended = True
            self.news.notify_all()

    def since(self, number: int) -> list[bytes]:
        """The events behind so many, as soon as there are any; none if none will come."""
        with self.news:
            self.news.wait_for(lambda: self.has_ended or len(self.events) > number)
            return self.events[number:]

    def resume(self, post: Chunks, number: int) -> None:
        """Send what has come since, and what comes."""
        post.begin({})
        while events := self.since(number):
            for data in events:
                number += 1
                post.chunk(b"id: %s/%d\ndata: %s\n\n" % (self.name.encode(), number, data.strip()))


class Compressed(Chunks):
    """Compresses an answer for whom can read that, and writes headers in other letters."""

    def reply(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        given = {name.lower(): value for name, value in (headers or {}).items()}
        if given.get("content-type") == JSON:
            given["content-type"] = "Application/JSON; Charset=UTF-8"
        if body and "gzip" in (self.header("Accept-Encoding") or ""):
            body = gzip.compress(body)
            given["content-encoding"] = "gzip"
        super().reply(status, body, given)


class Pages(Post):
    """Explains a refusal by a page."""

    def reply(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        if status >= 400 and not body:
            super().reply(status, PAGE, {**(headers or {}), "Content-Type": "text/html; charset=utf-8"})
        else:
            super().reply(status, body, headers)


class Objects(Post):
    """Explains a refusal by a JSON-RPC error without an id."""

    def reply(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        if status >= 400 and not body:
            error = {"jsonrpc": "2.0", "error": {"code": -32000, "message": "This was refused."}}
            super().reply(status, json.dumps(error).encode(), {**(headers or {}), "Content-Type": JSON})
        else:
            super().reply(status, body, headers)
