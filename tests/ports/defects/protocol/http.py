"""Posts, streams and headers that HTTP allows and MCP does not, or the other way round: ports that break `http`."""

import re
import time
from typing import Any

from defects.protocol.shared import turns_away
from defects.record import defect
from http_port import HttpPort
from port import HANDSHAKE, STATELESS
from posting import Post
from running import Call
from speaking import Message
from steps import Step, before, gives

PAGE = b"<!doctype html><title>gemini-mcp-server</title><p>This is an MCP server.</p>"
WITH_BATCHES = "2025-03-26"
KNOWN_NOTIFICATIONS = ("notifications/initialized", "notifications/cancelled")
BEGINNING = len("2025-06")
LOOK_SECONDS = 0.25


def text_of_bad_request(port: Any, real: Any, message: Message) -> dict[str, str]:
    is_bad = port.status(message) == 400
    return {**real(message), **({"Content-Type": "text/plain; charset=utf-8"} if is_bad else {})}


def accepts_falsy(port: Any, real: Any, request: Message) -> None:
    if request["id"]:
        real(request)
    else:
        port.accept(port.current.post)


def accepts_otherwise(port: Any, post: Any, body: bytes) -> bool:
    accepted = post.headers.get("Accept", "")
    return "q=" in accepted or not accepted.startswith("application/json")


def greets_browsers(port: Any, real: Any, post: Any, body: bytes) -> None:
    if "text/html" not in post.headers.get("Accept", ""):
        real(post, body)
    elif not port.is_refused(post):
        post.reply(200, PAGE, {"Content-Type": "text/html"})


def replies(status: int, body: bytes = b"", kind: str | None = None) -> Step:
    """Answers a request in this way, without looking at it."""

    def step(port: Any, real: Any, post: Any, *body_of_request: Any) -> None:
        post.reply(status, body, {"Content-Type": kind} if kind else {})

    return step


def resumes_nothing(port: Any, real: Any, post: Any, body: bytes) -> None:
    if post.headers.get("Last-Event-ID") is not None and not port.is_refused(post):
        post.reply(400, b"Unknown event.", {"Content-Type": "text/plain"})
    elif not post.is_answered:
        real(post, body)


def get_ends_session(port: Any, real: Any, post: Any, body: bytes) -> None:
    real(post, body)
    port.sessions.discard(post.session or "")


def notes_hit(port: Any, real: Any, call: Call) -> None:
    real(call)
    if call.is_cancelled:
        port.memory[port.current.post] = "hit"


def tells_hit(port: Any, real: Any, post: Post) -> None:
    if port.memory.pop(post, None):
        post.reply(200)
    else:
        real(post)


def notification_200(port: Any, real: Any, method: str, params: Any) -> None:
    real(method, params)
    if method == "notifications/cancelled":
        port.current.post.reply(200)


def notes_revision(port: Any, real: Any, message: Message) -> dict[str, str]:
    headers = real(message)
    for session in headers.values():
        port.memory[session] = message["result"]["protocolVersion"]
    return headers


def as_a_batch(port: Any, real: Any, post: Any) -> None:
    if port.memory.get(post.session) == WITH_BATCHES:
        post.reply(200)
    else:
        real(post)


def notes_notification(port: Any, method: str, params: Any) -> None:
    port.current.is_known = method in KNOWN_NOTIFICATIONS


def in_words(port: Any, real: Any, post: Any) -> None:
    """Express says in the body what the status means."""
    if getattr(port.current, "is_known", True):
        real(post)
    else:
        post.reply(202, b"Accepted", {"Content-Type": "text/plain"})


def with_versions_between(port: Any, real: Any) -> tuple[str | None, ...]:
    version = port.current.post.version or ""
    is_between = re.fullmatch(r"\d{4}-\d\d-\d\d", version) and HANDSHAKE[0] <= version <= STATELESS[-1]
    return (*real(), version) if is_between else real()


def any_in_session(port: Any, real: Any) -> tuple[str | None, ...]:
    """What a session speaks is settled by its handshake."""
    post = port.current.post
    return (*real(), post.version) if post.session in port.sessions else real()


def opens_stream(port: Any, real: Any, post: Post, body: bytes) -> None:
    """A stream for each session, which lasts as long as its client listens."""
    if post.session is None or port.is_refused(post):
        real(post, body)
        return
    post.begin_stream()
    port.memory[post.session] = post
    while not post.is_gone():
        time.sleep(LOOK_SECONDS)


def into_the_stream(port: Any, real: Any, message: Message) -> None:
    post = port.current.post
    stream = port.memory.get(post.session)
    if stream is None or stream.is_gone() or post.is_answered or "result" not in message:
        real(message)
    else:
        stream.event(port.encoded(message))
        port.accept(post)


def notes_asked(port: Any, params: Any) -> None:
    port.current.asked = params.get("protocolVersion")


def session_as_asked(port: Any, real: Any, message: Message) -> dict[str, str]:
    headers = real(message)
    port.memory.update(dict.fromkeys(headers.values(), getattr(port.current, "asked", None)))
    return headers


def known_or_asked(port: Any, real: Any) -> tuple[str | None, ...]:
    return (*real(), port.memory.get(port.current.post.session))


class NotLater(tuple[str | None, ...]):
    """Versions, and all that come before the latest in the order of dates."""

    __slots__ = ()

    def __contains__(self, version: object) -> bool:
        return version is None or (isinstance(version, str) and "" < version <= STATELESS[-1])


def not_later(port: Any, real: Any) -> NotLater:
    return NotLater(real())


def with_beginnings(port: Any, real: Any) -> tuple[str | None, ...]:
    known, version = real(), port.current.post.version or ""
    is_alike = len(version) >= BEGINNING and any(each and version.startswith(each[:BEGINNING]) for each in known)
    return (*known, version) if is_alike else known


defect(
    "bad-requests-answered-as-text",
    "Answers a request with status 400 as plain text.",
    "http:content-type",
)(HttpPort, headers=text_of_bad_request)
defect("answer-as-text", "Answers a request as plain text.", "http:content-type")(
    HttpPort, headers=gives(lambda headers: {**headers, "Content-Type": "text/plain"})
)
defect(
    "answers-go-to-the-stream-of-a-get",
    "Sends the answers of a session that has a stream open by GET into that stream, and 202 to their posts.",
    "http:content-type",
)(HttpPort, got=opens_stream, write=into_the_stream)
defect(
    "falsy-ids-accepted",
    "Accepts a request whose id is 0 or empty as a notification over HTTP.",
    "http:content-type",
    "rpc:response:id",
)(HttpPort, requested=accepts_falsy)
defect("accept-compared-as-text", "Refuses a client that accepts events before JSON.", "http:content-type")(
    HttpPort, posted=turns_away(406, accepts_otherwise)
)
defect(
    "browsers-greeted",
    "Answers a GET with a page when its client takes HTML.",
    "http:get",
)(HttpPort, got=greets_browsers)
defect("get-not-found", "Answers a GET as if there were nothing at its address.", "http:get")(
    HttpPort, got=replies(404)
)
defect("get-greets", "Answers a GET with a page for people.", "http:get")(
    HttpPort, got=replies(200, b"<p>A server of Gemini.</p>", "text/html")
)
defect(
    "last-event-unknown",
    "Answers a GET that names the last event with status 400.",
    "http:get",
)(HttpPort, got=resumes_nothing)
defect("get-conflicts-while-busy", "Answers a GET with status 409 while a call runs.", "http:get")(
    HttpPort, got=turns_away(409, lambda port, post, body: port.calls)
)
defect("get-ends-session", "Ends the session of a GET that it refuses.", "http:get")(HttpPort, got=get_ends_session)
defect(
    "http-cancellation-that-hits-is-200",
    "Answers a cancellation that ends a running call with status 200.",
    "http:notification",
)(HttpPort, cancel=notes_hit, accept=tells_hit)
defect("cancellation-answered-with-200", "Answers a cancellation with status 200.", "http:notification")(
    HttpPort, notified=notification_200
)
defect("notification-answered", "Answers a notification with an empty result.", "http:notification")(
    HttpPort, accept=replies(200, b"{}", "application/json")
)
defect("notification-okay", "Answers a notification with status 200 where 202 should be.", "http:notification")(
    HttpPort, accept=replies(200)
)
defect(
    "notification-of-march",
    "Answers a notification in a session of 2025-03-26 with status 200.",
    "http:notification",
)(HttpPort, session=notes_revision, accept=as_a_batch)
defect(
    "accepted-in-words",
    "Accepts a notification that it does not know with a word in the body.",
    "http:notification",
)(HttpPort, notified=before(notes_notification), accept=in_words)
defect(
    "versions-between-in-the-header",
    "Serves requests of every version that lies between two that it knows.",
    "http:version",
)(HttpPort, known_versions=with_versions_between)
defect(
    "http-any-version-in-session",
    "Accepts any `MCP-Protocol-Version` in a request of an open session.",
    "http:version",
)(HttpPort, known_versions=any_in_session)
defect(
    "version-asked-for-is-the-sessions",
    "Takes the revision that a client has asked for as that of its session, also if it has answered with another.",
    "http:version",
)(HttpPort, initialize=before(notes_asked), session=session_as_asked, known_versions=known_or_asked)
defect("any-version-in-the-header", "Serves requests of a version that it does not support.", "http:version")(
    HttpPort, known_versions=lambda port, real: (*real(), port.current.post.version)
)
defect("version-of-ping-unread", "Does not look at the version of a ping.", "http:version")(
    HttpPort, params=lambda port, real, request: {} if request["method"] == "ping" else real(request)
)
defect(
    "earlier-versions-accepted",
    "Accepts every `MCP-Protocol-Version` that is no later than the latest that it supports.",
    "http:version",
)(HttpPort, known_versions=not_later)
defect("versions-by-beginning", "Knows a version by its year and month.", "http:version")(
    HttpPort, known_versions=with_beginnings
)
