"""Sessions of HTTP that are forgotten, mixed up or not ended: ports that break `http:session`."""

import json
from contextlib import suppress
from typing import Any, cast

from defects.protocol.shared import notes_body, receiving
from defects.record import defect
from http_port import HttpPort
from posting import LENGTH, SESSION, Post
from running import Call
from speaking import Message, as_object
from steps import after, always, before


def replies_for_ended(port: Any, real: Any, post: Any, body: bytes) -> None:
    if b'"chat-reply"' in body and port.is_allowed(post.headers.get("Origin")):
        port.current.post = post
        port.receive(body)
    else:
        real(post, body)


def ends_latest_alone(port: Any, real: Any, session: str | None) -> None:
    """There is room for one session that has ended."""
    if earlier := port.memory.get("ended"):
        port.sessions.add(earlier)
    if session in port.sessions:
        port.memory["ended"] = session
    real(session)


def begins_in_any_session(port: Any, real: Any, post: Any) -> bool:
    """Looks for the session of all messages but those that begin one."""
    message: Any = None
    with suppress(AttributeError, ValueError, RecursionError):
        message = json.loads(port.current.body)
    is_beginning = (as_object(message) or {}).get("method") == "initialize"
    return not (is_beginning and port.is_allowed(post.headers.get("Origin"))) and real(post)


def ended_once_more(port: Any, real: Any, post: Post, body: bytes) -> None:
    if post.session is not None and port.is_allowed(post.headers.get("Origin")):
        port.end_session(post.session)
        post.reply(200)
    else:
        real(post, body)


def takes_unanswered(port: Any, real: Any, post: Any, body: bytes) -> None:
    is_over = post.session is not None and post.session not in port.sessions
    if is_over and b'"id"' not in body:
        port.accept(post)
    else:
        real(post, body)


def renews_session(port: Any, call: Call, result: Message) -> None:
    if session := port.posts[call].session:
        port.sessions.add(session)


def ends_idle_session(port: Any, real: Any, session: str | None) -> None:
    if session not in [port.posts[call].session for call in list(port.calls)]:
        real(session)


class Kept(Post):
    """Keeps connections. What the headers alone refuse is answered without a look at the body."""

    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        self.is_stream = self.is_answered = False
        super().handle_one_request()

    def do_POST(self) -> None:
        receiver = cast(HttpPort, self.server.receiver)
        if not receiver.is_refused(self):
            super().do_POST()
        self.close_connection = self.close_connection or not self.is_answered

    def head(self, status: int, headers: dict[str, str]) -> None:
        super().head(status, headers if LENGTH in headers else {**headers, "Connection": "close"})


class ComparesCase(Post):
    """Knows a header as it is usually written."""

    def header(self, name: str) -> str | None:
        return super().header(name) if name in tuple(self.headers) else None


def lists_for_ended(port: Any, real: Any, post: Post, body: bytes) -> None:
    port.current.post = post
    is_over = post.session is not None and post.session not in port.sessions
    if is_over and b'"tools/list"' in body:
        port.receive(body)
    else:
        real(post, body)


def ended_when_idle(port: Any, real: Any, session: str | None) -> None:
    if all(port.posts[call].session != session for call in list(port.calls)):
        real(session)


def frees(port: Any, real: Any, session: Any) -> Any:
    if session in port.sessions:
        port.memory.setdefault("free", []).append(session)
    return real(session)


def takes_free(port: Any, real: Any, message: Any) -> Any:
    headers = real(message)
    free = port.memory.get("free")
    if headers and free:
        port.sessions.discard(headers[SESSION])
        headers = {SESSION: free.pop()}
        port.sessions.add(headers[SESSION])
    return headers


defect(
    "replies-outlive-session",
    "Serves replies in a session that has been ended.",
    "http:session:ended",
)(HttpPort, posted=replies_for_ended)
defect(
    "latest-end-remembered",
    "Serves a session that has been ended once another has been ended, too.",
    "http:session:ended",
)(HttpPort, end_session=ends_latest_alone)
defect(
    "handshake-in-ended-session",
    "Answers an `initialize` in a session that has been ended.",
    "http:session:ended",
)(HttpPort, posted=before(notes_body), is_refused=begins_in_any_session)
defect("session-ended-twice", "Ends a session once more that has been ended.", "http:session:ended")(
    HttpPort, deleted=ended_once_more
)
defect("session-without-end", "Serves a session that its client has ended.", "http:session:ended")(
    HttpPort, end_session=always(None)
)
defect(
    "ended-session-as-bad-request",
    "Refuses an ended session with status 400 where 404 should be.",
    "http:session:ended",
)(HttpPort, unknown_session=always(400))
defect(
    "notifications-outlive-session",
    "Accepts notifications in a session that has been ended.",
    "http:session:ended",
)(HttpPort, posted=takes_unanswered)
defect(
    "session-renewed-by-answer",
    "Takes up a session again that was ended during a call, once the call is answered.",
    "http:session:ended",
)(HttpPort, answer=after(renews_session))
defect(
    "busy-session-without-end",
    "Serves a session on that its client has ended while a call was running.",
    "http:session:ended",
)(HttpPort, end_session=ends_idle_session)
defect(
    "headers-compared-with-case",
    "Knows a header by one spelling, though its case means nothing.",
    "http:session:ended",
)(HttpPort, serve=receiving(ComparesCase))
defect(
    "refused-body-stays-in-the-connection",
    "Leaves the body of a post that it refuses with 403 or 404 unread, and takes it for the begin of the next request.",
    "http:session:ended",
    "http:origin",
)(HttpPort, serve=receiving(Kept))
defect("lists-outlive-session", "Lists its tools in a session that has been ended.", "http:session:ended")(
    HttpPort, posted=lists_for_ended
)
defect(
    "busy-session-never-ended",
    "Does not end a session in which a call runs.",
    "http:session:ended",
)(HttpPort, end_session=ended_when_idle)
defect(
    "session-id-given-again",
    "Gives the id of an ended session to the next client, so that the ended one is served again.",
    "http:session:ended",
)(HttpPort, end_session=frees, session=takes_free)
