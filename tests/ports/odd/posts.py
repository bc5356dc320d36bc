"""Odd ways to serve over HTTP: how an answer travels, what is asked of a request, and how long a connection lasts."""

import gzip
import json
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http.server import ThreadingHTTPServer
from typing import Any
from uuid import uuid4

from http_port import HttpPort
from odd.messages import hears_pong, pings_first
from odd.record import odd
from port import HANDSHAKE, Port
from posting import JSON, SESSION, STREAM, Post, Server
from running import Call
from speaking import INVALID_REQUEST, Message, RpcError
from steps import Step, after, always, before

PIECE, LONG = 1000, 100_000
PRIMED = "2025-11-25"
PATH = "/api/mcp/v1?tenant=1"
PAUSE = 0.2
SIGNS = "".join(map(chr, range(0x21, 0x7F)))
"""All that a session's id may hold."""
PAGE = b"<!doctype html>\n<h1>This did not work</h1>\n<pre>  at Server.handle (server.js:1:1)</pre>\n"


def answered_by(kind: type[Post]) -> Step:
    """Of `serve`: answers in another way than `Post`."""
    return before(lambda port: setattr(port.server, "RequestHandlerClass", kind))


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


class SixServer(Server):
    """Listens on the loopback interface of IPv6."""

    address_family = socket.AF_INET6

    def __init__(self, receiver: Any) -> None:
        ThreadingHTTPServer.__init__(self, ("::1", 0), Post)
        self.receiver = receiver


class SixPort(HttpPort):
    """Is reached by IPv6, at a path of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.server.server_close()
        self.server = SixServer(self)

    def url(self) -> str:
        return f"http://[::1]:{self.server.server_port}{PATH}"

    def is_allowed(self, origin: str | None) -> bool:
        return origin in (None, f"http://[::1]:{self.server.server_port}")

    def is_refused(self, post: Post) -> bool:
        if post.path != PATH:
            post.reply(404)
        return post.is_answered or super().is_refused(post)


def demands(port: Any, real: Any, post: Post, body: bytes) -> None:
    accepted = post.header("Accept") or ""
    if JSON not in accepted or STREAM not in accepted:
        post.reply(406)
    elif not (post.header("Content-Type") or "").startswith(JSON):
        post.reply(415)
    else:
        real(post, body)


def in_session(port: Any, real: Any, request: Message) -> Mapping[str, Any]:
    params = real(request)
    needs_one = request["method"] != "initialize" and not port.is_stateless(params)
    if needs_one and port.current.post.session is None:
        raise RpcError(INVALID_REQUEST, "The request names no session.")
    return params


def odd_session(port: Any, real: Any, message: Message) -> dict[str, str]:
    headers = real(message)
    if not headers:
        return {}
    session = f"{uuid4().hex}{SIGNS}{SIGNS}"
    port.sessions.add(session)
    return {SESSION: session}


def streams(port: Any, post: Chunks, body: bytes) -> None:
    if port.is_refused(post):
        return
    post.begin({})
    number = 0
    with suppress(OSError):
        while not port.is_ending and not post.is_gone():
            number += 1
            post.chunk(b": still here\n\n")
            post.event(json.dumps({"jsonrpc": "2.0", "id": f"stream-{number}", "method": "ping"}).encode())
            time.sleep(PAUSE)
    post.close_connection = True


def pings_in_handshake(port: Any, real: Any, call: Call, result: Message) -> None:
    if call.stateless:
        real(call, result)
    else:
        pings_first(port, real, call, result)


def lets_poll(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Message | None:
    """Closes the connection when it has given the id from which a client can go on. Only this revision allows it."""
    post = port.current.post
    if post.version != PRIMED:
        return real(identity, params, stateless)
    call, stream = port.new_call(identity, params, stateless), Kept(post)
    port.memory[stream.name] = port.posts[call] = stream
    port.calls.append(call)
    post.begin({})
    post.chunk(b"id: %s/0\nretry: 50\ndata:\n\n" % stream.name.encode())
    thread = threading.Thread(target=serve_kept, args=(port, call, stream), daemon=True)
    port.threads = [*(each for each in port.threads if each.is_alive()), thread]
    thread.start()
    return None


def serve_kept(port: Any, call: Call, stream: Kept) -> None:
    port.current.post = stream
    port.serve_call(call)
    stream.end()


def resumes(port: Any, real: Any, post: Chunks, body: bytes) -> None:
    name, _, number = (post.header("Last-Event-ID") or "").partition("/")
    if port.is_refused(post):
        return
    if name in port.memory:
        port.memory[name].resume(post, int(number))
    else:
        real(post, body)


def no_deletion(port: Any, real: Any, post: Post, body: bytes) -> None:
    if not port.is_refused(post):
        post.reply(405)


def refused_by_origin(port: Any, real: Any, post: Post) -> bool:
    if not port.is_allowed(post.headers.get("Origin")):
        post.reply(403)
    return post.is_answered


odd("http-events", "Answers all by events with comments, ids, names, several lines of data, and in chunks.")(
    HttpPort, serve=answered_by(Events)
)
odd("http-returns", "Ends lines of events by returns, and sends signs of life that are events of another name.")(
    HttpPort, serve=answered_by(Returns)
)
odd("http-polls", "Closes the connection of a call at once, and lets its client come back for the answer.")(
    HttpPort,
    is_stateless=always(False),
    known_versions=always((None, *HANDSHAKE)),
    serve=answered_by(Chunks),
    begin_call=lets_poll,
    got=resumes,
)
odd("http-compressed", "Keeps connections, compresses answers, and writes headers in other letters.")(
    HttpPort, serve=answered_by(Compressed)
)
odd("http-strict", "Demands the headers of MCP, has ids of sessions of all signs, ends none, and refuses by pages.")(
    HttpPort,
    serve=answered_by(Pages),
    posted=demands,
    params=in_session,
    session=odd_session,
    deleted=no_deletion,
)
odd("http-stream-for-get", "Answers a GET by a stream of comments and pings.")(
    HttpPort, serve=answered_by(Chunks), got=lambda port, real, post, body: streams(port, post, body)
)
odd("http-pings-client", "Sends a ping in the stream of a call, and waits for its answer before it answers the call.")(
    HttpPort, answer=pings_in_handshake, dispatch=after(hears_pong)
)
odd("http-no-sessions", "Has no sessions, and refuses by JSON-RPC errors without an id.")(
    HttpPort,
    serve=answered_by(Objects),
    session=lambda port, real, message: {},
    is_refused=refused_by_origin,
    cancel=lambda port, real, call: Port.cancel(port, call),
    deleted=no_deletion,
)
odd("http-six", "Listens on the loopback interface of IPv6, at a path with a query.")(SixPort)
odd("http-errors-400", "Sends every JSON-RPC error with the status 400, unless 404 is asked for.")(
    HttpPort, status=lambda port, real, message: 400 if "error" in message and real(message) == 200 else real(message)
)
