"""Origins that are let in or turned away wrongly: ports that break `http:origin`."""

import json
import re
from contextlib import suppress
from typing import Any

from defects.record import defect
from http_port import HttpPort
from port import STATELESS
from posting import Post
from speaking import as_object
from steps import always, before


def origin_of_notifications_unread(port: Any, real: Any, post: Any, body: bytes) -> None:
    message = None
    with suppress(ValueError):
        message = as_object(json.loads(body))
    is_known = post.session is None or post.session in port.sessions
    if message is not None and "method" in message and "id" not in message and is_known:
        port.current.post = post
        port.receive(body)
    else:
        real(post, body)


def notes_post(port: Any, post: Any) -> None:
    port.current.post = post


def from_its_host(port: Any, real: Any, origin: str | None) -> bool:
    return real(origin) or origin == f"http://{port.current.post.headers.get('Host')}"


def got_unread(port: Any, real: Any, post: Post, body: bytes) -> None:
    post.reply(405, headers={"Allow": "POST, DELETE"})


def trusts_sessions(port: Any, real: Any, post: Post) -> bool:
    if post.session in port.sessions:
        return False
    return real(post)


def stateless_trusted(port: Any, real: Any, post: Post) -> bool:
    if post.version in STATELESS:
        return False
    return real(post)


def session_is_trusted(port: Any, real: Any, post: Post) -> bool:
    return post.session not in port.sessions and real(post)


def deletes_for_all(port: Any, real: Any, post: Any) -> bool:
    if post.command != "DELETE":
        return real(post)
    if post.session is not None and post.session not in port.sessions:
        post.reply(port.unknown_session())
    return post.is_answered


def origin_by_end(port: Any, real: Any, origin: str | None) -> bool:
    return real(origin) or (origin or "").endswith(f"localhost:{port.server.server_port}")


def by_its_end(port: Any, real: Any, origin: str | None) -> bool:
    return real(origin) or (origin or "").endswith(f"127.0.0.1:{port.server.server_port}")


def any_port(port: Any, real: Any, origin: str | None) -> bool:
    return (
        real(origin) or re.fullmatch(r"https?://(?:[^/]*\.)?localhost(?:\..*)?(?::[0-9]+)?", origin or "") is not None
    )


def parses_first(port: Any, real: Any, post: Any, body: bytes) -> Any:
    if body.strip():
        try:
            port.parse(body)
        except (ValueError, RecursionError):
            port.current.post = post
            port.receive(body)
            return
    real(post, body)


defect(
    "origin-of-notifications-unread",
    "Accepts notifications of any origin.",
    "http:origin",
)(HttpPort, posted=origin_of_notifications_unread)
defect(
    "origin-of-any-host",
    "Lets the page of any origin in that the header `Host` names as well.",
    "http:origin",
)(HttpPort, is_refused=before(notes_post), is_allowed=from_its_host)
defect("origin-of-get-unread", "Answers a GET of any origin.", "http:origin")(HttpPort, got=got_unread)
defect("origin-null-allowed", "Lets the origin `null` in.", "http:origin")(
    HttpPort, is_allowed=lambda port, real, origin: origin == "null" or real(origin)
)
defect("origin-unread-in-session", "Looks at the origin of requests without a session alone.", "http:origin")(
    HttpPort, is_refused=trusts_sessions
)
defect("origin-unread-of-stateless", "Looks at no origin of requests of 2026-07-28.", "http:origin")(
    HttpPort, is_refused=stateless_trusted
)
defect("every-origin-allowed", "Lets the pages of every origin in.", "http:origin")(HttpPort, is_allowed=always(True))
defect("origin-by-its-beginning", "Lets in every origin that begins like its own.", "http:origin")(
    HttpPort,
    is_allowed=lambda port, real, origin: real(origin) or (origin or "").startswith("http://127.0.0.1"),
)
defect(
    "origin-trusted-in-session",
    "Serves a request of any `Origin` when it belongs to a session.",
    "http:origin",
)(HttpPort, is_refused=session_is_trusted)
defect(
    "origin-of-delete-unread",
    "Lets the page of any origin end a session.",
    "http:origin",
)(HttpPort, is_refused=deletes_for_all)
defect(
    "origin-known-by-its-end",
    "Allows an origin whose host ends with `localhost`.",
    "http:origin",
)(HttpPort, is_allowed=origin_by_end)
defect("origin-by-its-end", "Lets in every origin that ends like its own.", "http:origin")(
    HttpPort, is_allowed=by_its_end
)
defect("origin-of-localhost-domains", "Lets in every origin with `localhost` as a part of its name.", "http:origin")(
    HttpPort, is_allowed=any_port
)
defect(
    "parses-before-origin",
    "Reads a body before it looks at the origin, so that one that is no JSON gets status 400 from any page.",
    "http:origin",
)(HttpPort, posted=parses_first)
