"""Wraps an ASGI application so that only requests with the right host, origin and token reach it. Pure.

The SDK can compare hosts and origins by prefix, so `127.0.0.1:1.evil.example` could pass; here they are compared whole.
"""

import hmac
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from gemini_mcp.operator.options import Options

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Access:
    """Which requests may pass. Without `hosts` any host passes: a foreign web page does not know the token."""

    hosts: frozenset[str]
    origins: frozenset[str]
    token: str | None


@dataclass(frozen=True)
class Rejection:
    """The HTTP response to a request that may not pass."""

    status: int
    text: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


HTTP_PORT = 80
"""The port that clients leave out of a name."""


def access(host: str, port: int, is_local: bool, options: Options) -> Access:
    """Who may reach a server that listens on `host`. Names that the operator allows are taken as they stand."""
    hosts = (*LOOPBACK_NAMES, f"[{host}]" if ":" in host else host)
    names = {f"{name}:{port}" for name in hosts} | (set(hosts) if port == HTTP_PORT else set[str]())
    origins = {f"http://{name}" for name in names} | {origin.lower() for origin in options.allowed_origin}
    is_limited = is_local or bool(options.allowed_host)
    known = names | {name.lower() for name in options.allowed_host}
    return Access(frozenset(known if is_limited else ()), frozenset(origins), options.token)


def rejection(headers: Mapping[bytes, bytes], access: Access) -> Rejection | None:
    """The response to a request with these headers, if it may not pass."""
    host, origin = headers.get(b"host", b"").decode("latin-1").lower(), headers.get(b"origin")
    if access.hosts and host not in access.hosts:
        return Rejection(421, "This server is not known by that name.")
    if origin is not None and origin.decode("latin-1").lower() not in access.origins:
        return Rejection(403, "Pages of that origin may not use this server.")
    if access.token is not None and not _has_token(headers.get(b"authorization", b""), access.token):
        return Rejection(401, "A bearer token is needed.", ((b"www-authenticate", b"Bearer"),))
    return None


def guarded(application: Application, access: Access) -> Application:
    """The application behind the guard. Events that are not requests, such as the start of the server, pass."""

    async def guard(scope: Message, receive: Receive, send: Send) -> None:
        rejected = rejection(_joined(scope["headers"]), access) if scope["type"] == "http" else None
        if rejected is None:
            await application(scope, receive, send)
            return
        headers = [(b"content-type", b"text/plain; charset=utf-8"), *rejected.headers]
        await send({"type": "http.response.start", "status": rejected.status, "headers": headers})
        await send({"type": "http.response.body", "body": rejected.text.encode("utf-8")})

    return guard


def _joined(headers: Iterable[tuple[bytes, bytes]]) -> Mapping[bytes, bytes]:
    """Headers by name. The values of one that is sent twice are joined, so that they match nothing."""
    joined: dict[bytes, bytes] = {}
    for name, value in headers:
        joined[name] = joined[name] + b", " + value if name in joined else value
    return joined


def _has_token(authorization: bytes, token: str) -> bool:
    scheme, _, given = authorization.partition(b" ")
    return scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(), token.encode("utf-8"))
