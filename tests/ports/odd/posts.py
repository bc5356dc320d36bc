"""Odd ways to serve over HTTP: how an answer travels, what is asked of a request, and how long a connection lasts."""

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
from odd.replies import PRIMED, Chunks, Compressed, Events, Kept, Objects, Pages, Returns
from port import HANDSHAKE, Port
from posting import JSON, SESSION, STREAM, Post, Server
from running import Call
from speaking import INVALID_REQUEST, Message, RpcError
from steps import Step, after, always, before

PATH = "/api/mcp/v1?tenant=1"
PAUSE = 0.2
SIGNS = "".join(map(chr, range(0x21, 0x7F)))
"""All that a session's id may hold."""


def answered_by(kind: type[Post]) -> Step:
    """Of `serve`: answers in another way than `Post`."""
    return before(lambda port: setattr(port.server, "RequestHandlerClass", kind))


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


def closes_cancelled(port: Any, real: Any, message: Any) -> None:
    """A request that was cancelled ends with its connection."""
    Port.dispatch(port, message)
    post = port.current.post
    if post.is_answered:
        return
    if port.is_valid(message) and {"method", "id"} <= set(message):
        post.is_answered = post.close_connection = True
        post.connection.shutdown(socket.SHUT_RDWR)
    else:
        port.accept(post)


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
odd("http-closes-cancelled", "Closes the connection of a request that is cancelled, without a word.")(
    HttpPort, serve=answered_by(Chunks), dispatch=closes_cancelled
)
odd("http-six", "Listens on the loopback interface of IPv6, at a path with a query.")(SixPort)
