"""A port of the server profile over streamable HTTP: the correct port over stdio, with posts in the place of lines.

This module knows what MCP asks of HTTP; posting.py reads and writes requests. Every step is a method that a defective
port can replace.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Mapping
from contextlib import suppress
from uuid import uuid4
from weakref import WeakKeyDictionary

from port import HANDSHAKE, STATELESS, UNSUPPORTED_VERSION, Port, Stop
from posting import JSON as AS_JSON
from posting import SESSION, Post, Server
from running import Call
from speaking import INVALID_PARAMS, INVALID_REQUEST, JSON, PARSE_ERROR, UNKNOWN_METHOD, Message, RpcError

HEADER_MISMATCH = -32020
BAD_REQUESTS = (PARSE_ERROR, INVALID_REQUEST, HEADER_MISMATCH, UNSUPPORTED_VERSION)


class Current(threading.local):
    """The post that a thread answers."""

    post: Post


def answers_handshake(message: Message) -> bool:
    return "protocolVersion" in message.get("result", {})


class HttpPort(Port):
    """The server. A call is served in the thread of its post."""

    def __init__(self) -> None:
        super().__init__()
        self.server = Server(self)
        self.sessions: set[str] = set()
        self.current = Current()
        self.posts: WeakKeyDictionary[Call, Post] = WeakKeyDictionary()

    def serve(self) -> None:
        for number in self.signals():
            signal.signal(number, self.on_signal)
        threading.Thread(target=self.watch, daemon=True).start()
        print(self.url(), flush=True)
        with suppress(Stop):
            self.server.serve_forever()
        self.shut_down()

    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/mcp"

    def posted(self, post: Post, body: bytes) -> None:
        self.current.post = post
        if not self.is_refused(post):
            self.receive(body)

    def got(self, post: Post, body: bytes) -> None:
        if not self.is_refused(post):
            post.reply(405, headers={"Allow": "POST, DELETE"})

    def deleted(self, post: Post, body: bytes) -> None:
        if not self.is_refused(post):
            self.end_session(post.session)
            post.reply(200)

    def is_refused(self, post: Post) -> bool:
        if not self.is_allowed(post.headers.get("Origin")):
            post.reply(403)
        elif post.session is not None and post.session not in self.sessions:
            post.reply(self.unknown_session())
        return post.is_answered

    def is_allowed(self, origin: str | None) -> bool:
        return origin in (None, *(f"http://{name}:{self.server.server_port}" for name in ("127.0.0.1", "localhost")))

    def unknown_session(self) -> int:
        return 404

    def end_session(self, session: str | None) -> None:
        self.sessions.discard(session or "")

    def dispatch(self, message: JSON) -> None:
        super().dispatch(message)
        post = self.current.post
        if post.is_answered:
            return
        if self.is_valid(message) and "method" in message and "id" in message:
            # A cancelled request gets no response, but something has to end it.
            post.reply(200, headers={"Content-Type": "text/event-stream"})
        else:
            self.accept(post)

    def accept(self, post: Post) -> None:
        post.reply(202)

    def params(self, request: Message) -> Mapping[str, JSON]:
        params = super().params(request)
        if super().is_stateless(params):
            self.check_version(params)
            self.check_headers(request["method"], params)
        elif self.current.post.version not in self.known_versions():
            raise RpcError(INVALID_REQUEST, f"The version {self.current.post.version!r} is not supported.")
        return params

    def known_versions(self) -> tuple[str | None, ...]:
        # MCP takes a request without the header for one of an older revision.
        return (None, *HANDSHAKE, *STATELESS)

    def check_version(self, params: Mapping[str, JSON]) -> None:
        named = params["_meta"]["io.modelcontextprotocol/protocolVersion"]
        if self.current.post.version != named:
            raise RpcError(HEADER_MISMATCH, f"The header of the version should be {named!r}.")

    def check_headers(self, method: str, params: Mapping[str, JSON]) -> None:
        expected = {"Mcp-Method": method, **({"Mcp-Name": params.get("name")} if method == "tools/call" else {})}
        for name, value in expected.items():
            if self.current.post.header(name) != value:
                raise RpcError(HEADER_MISMATCH, f"The header `{name}` should be {value!r}.")

    def is_stateless(self, params: Mapping[str, JSON]) -> bool:
        return super().is_stateless(params) or self.current.post.version in STATELESS

    def check_stateless(self, params: Mapping[str, JSON]) -> None:
        if not super().is_stateless(params):
            raise RpcError(INVALID_PARAMS, "`_meta` lacks the version of the protocol.")
        super().check_stateless(params)

    def begin_call(self, identity: JSON, params: Mapping[str, JSON], stateless: bool) -> Message | None:
        call = self.new_call(identity, params, stateless)
        self.posts[call] = self.current.post
        self.calls.append(call)
        self.threads = [*(each for each in self.threads if each.is_alive()), threading.current_thread()]
        self.serve_call(call)
        return None

    def cancel(self, call: Call) -> None:
        """Only the session that has made a call can cancel it."""
        if self.current.post.session is not None and self.posts[call].session == self.current.post.session:
            super().cancel(call)

    def check_deadline(self, call: Call, now: float) -> None:
        super().check_deadline(call, now)
        # Only in the stateless era does the end of a connection cancel its request.
        if call.stateless and self.posts[call].is_gone():
            self.disconnected(call)

    def disconnected(self, call: Call) -> None:
        super().cancel(call)

    def report_progress(self, call: Call) -> None:
        self.current.post = self.posts[call]
        super().report_progress(call)

    def write(self, message: Message) -> None:
        post = self.current.post
        with suppress(OSError):
            if "method" in message or post.is_stream:
                post.event(self.encoded(message))
            else:
                post.reply(self.status(message), self.encoded(message), self.headers(message))

    def status(self, message: Message) -> int:
        code = message.get("error", {}).get("code")
        if code == UNKNOWN_METHOD and self.current.post.version in STATELESS:
            return 404
        return 400 if code in BAD_REQUESTS else 200

    def headers(self, message: Message) -> dict[str, str]:
        return {"Content-Type": AS_JSON, **self.session(message)}

    def session(self, message: Message) -> dict[str, str]:
        """A session of its own for every client that begins with a handshake."""
        if not answers_handshake(message):
            return {}
        session = uuid4().hex
        self.sessions.add(session)
        return {SESSION: session}


if __name__ == "__main__":
    HttpPort().serve()
