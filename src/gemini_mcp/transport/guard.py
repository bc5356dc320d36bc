"""Keeps strangers from an HTTP server: an ASGI application in, one that only lets the right requests through out. Pure.

The SDK compares hosts and origins by prefix, so `127.0.0.1:1.evil.example` passes there; here they are compared whole.
"""

import hmac
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Gate:
    """Who may come in; no hosts means any, since who has the token is no page in somebody's browser."""

    hosts: frozenset[str]
    origins: frozenset[str]
    token: str | None


@dataclass(frozen=True)
class Refusal:
    """What a stranger is told."""

    status: int
    text: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


def gate(host: str, port: int, is_local: bool, token: str | None) -> Gate:
    """The gate of a server that listens on `host`."""
    names = {f"{name}:{port}" for name in (*LOOPBACK_NAMES, f"[{host}]" if ":" in host else host)}
    return Gate(frozenset(names) if is_local else frozenset(), frozenset(f"http://{name}" for name in names), token)


def refusal(headers: Mapping[bytes, bytes], gate: Gate) -> Refusal | None:
    """Why a request with these headers may not come in."""
    host, origin = headers.get(b"host", b"").decode("latin-1"), headers.get(b"origin")
    if gate.hosts and host not in gate.hosts:
        return Refusal(421, "This server is not known by that name.")
    if origin is not None and origin.decode("latin-1") not in gate.origins:
        return Refusal(403, "Pages of that origin may not use this server.")
    if gate.token is not None and not _has_token(headers.get(b"authorization", b""), gate.token):
        return Refusal(401, "A bearer token is needed.", ((b"www-authenticate", b"Bearer"),))
    return None


def guarded(application: Application, gate: Gate) -> Application:
    """The application behind the gate; what is no request, such as the start of the server, passes."""

    async def guard(scope: Message, receive: Receive, send: Send) -> None:
        refused = refusal(_joined(scope["headers"]), gate) if scope["type"] == "http" else None
        if refused is None:
            await application(scope, receive, send)
            return
        headers = [(b"content-type", b"text/plain; charset=utf-8"), *refused.headers]
        await send({"type": "http.response.start", "status": refused.status, "headers": headers})
        await send({"type": "http.response.body", "body": refused.text.encode("utf-8")})

    return guard


def _joined(headers: Iterable[tuple[bytes, bytes]]) -> Mapping[bytes, bytes]:
    """Headers by name; one that comes twice is a list, which matches nothing, so that none hides behind another."""
    joined: dict[bytes, bytes] = {}
    for name, value in headers:
        joined[name] = joined[name] + b", " + value if name in joined else value
    return joined


def _has_token(authorization: bytes, token: str) -> bool:
    scheme, _, given = authorization.partition(b" ")
    return scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(), token.encode("utf-8"))
