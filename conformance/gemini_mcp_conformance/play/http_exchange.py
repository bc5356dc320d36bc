"""HTTP exchanges: each request is sent on a connection that no other one uses meanwhile, and its answer read as it
arrives. Effect.

Like every client the suite keeps connections for later requests, whoever sends them.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import SplitResult, urlsplit

import h11

from gemini_mcp_conformance.see.events import Events
from gemini_mcp_conformance.see.observation import Web

CHUNK = 1 << 16
LONG, PAUSE = 1 << 14, 0.1
"""Bytes of a body that is sent in two pieces, and seconds between them."""
MOMENT = 0.005
"""Seconds between the pieces of a shorter body, which is cut inside a character."""
INSIDE = re.compile(rb"[\x80-\xbf]")
"""A byte in which no character begins."""
IDLE = 4
"""Connections that are kept at most."""
KEPT = 1 << 16
"""Bytes of a body that a record keeps."""


@dataclass(frozen=True)
class Link:
    """A connection, and how far its exchange is."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    state: h11.Connection

    @property
    def is_open(self) -> bool:
        return not self.reader.at_eof() and not self.writer.is_closing()

    @property
    def is_done(self) -> bool:
        """Whether both sides have said all, and neither wants to close it."""
        return self.state.our_state is h11.DONE and self.state.their_state is h11.DONE


@dataclass(frozen=True)
class Asking:
    """One request. `events` reads a stream, and `heard` takes each message of the answer.

    A stream that answers a GET need not end; who `stays` reads it nevertheless. `host` is another address of the port.
    """

    record: Web
    body: bytes
    events: Events
    heard: Callable[[bytes], None]
    is_wanted: Callable[[], bool]
    """Whether it may be sent again on another connection."""
    host: str | None = None
    stays: bool = False


class Exchanges:
    """Requests to a port at an address."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.listens = asyncio.Event()
        """While it is not set nothing is read, so that what a port writes fills its buffers."""
        self.listens.set()
        self._idle: list[Link] = []
        self._capitals = False
        """Whether the names of headers begin with capitals, as those of every second request do. They have no case."""

    async def of(self, asking: Asking) -> AsyncGenerator[Web]:
        """The record with its status, and again at its end with its body."""
        is_answered = False
        while asking.host is None and (link := self._kept()) is not None:
            try:
                async for known in self._over(link, asking):
                    is_answered = True
                    yield known
                return
            except (OSError, h11.ProtocolError):
                # A port may close a connection that nobody uses, at any time.
                if is_answered or not asking.is_wanted():
                    raise
        link = Link(*await _connected(urlsplit(self.url), asking.host), h11.Connection(h11.CLIENT))
        async for known in self._over(link, asking):
            yield known

    def _kept(self) -> Link | None:
        """A connection on which nothing is under way."""
        while self._idle:
            if (link := self._idle.pop()).is_open:
                return link
            link.writer.close()
        return None

    async def _over(self, link: Link, asking: Asking) -> AsyncGenerator[Web]:
        record, events, kept, is_over = asking.record, asking.events, bytearray(), False
        events.begin()
        try:
            await self._send(link, record, asking.body)
            async for part in self._answer(link):
                if isinstance(part, h11.Response):
                    answered = {name.decode("latin-1"): value.decode("latin-1") for name, value in part.headers}
                    record = replace(record, status=part.status_code, answered=answered)
                    yield record
                    if record.is_stream and record.verb == "GET" and not events.last_id and not asking.stays:
                        return
                elif isinstance(part, h11.Data):
                    kept += part.data
                    for data in events.feed(bytes(part.data)) if record.is_stream else ():
                        asking.heard(data)
            is_over = asking.host is None and link.is_done
            if not record.is_stream and kept.strip():
                asking.heard(bytes(kept))
            yield replace(record, body=bytes(kept[:KEPT]))
        finally:
            self._leave(link, is_over)

    async def _send(self, link: Link, record: Web, body: bytes) -> None:
        """Between a client and a port a long body may pause at any place, and every body inside a character."""
        parts, self._capitals = urlsplit(self.url), not self._capitals
        whole = _request(link.state, record, target(parts), parts.netloc, body, self._capitals)
        half = len(body) // 2 if len(body) > LONG else 0
        inside = INSIDE.search(body, half)
        if cut := inside.start() if inside else half:
            link.writer.write(whole[: cut - len(body)])
            await asyncio.sleep(PAUSE if half else MOMENT)
        link.writer.write(whole[cut - len(body) :] if cut else whole)

    def _leave(self, link: Link, is_over: bool) -> None:
        """Keep the connection if its exchange is over; otherwise nothing more can be said on it."""
        if not is_over or len(self._idle) >= IDLE:
            link.writer.close()
            return
        link.state.start_next_cycle()
        self._idle.append(link)

    async def close(self) -> None:
        """Close what is kept, before the event loop may end."""
        kept, self._idle = self._idle, []
        for link in kept:
            link.writer.close()
        closing = asyncio.gather(*(link.writer.wait_closed() for link in kept), return_exceptions=True)
        with suppress(TimeoutError):
            await asyncio.wait_for(closing, PAUSE)

    async def takes_connections(self) -> bool:
        """Whether a port that has closed a connection without an answer takes another one."""
        # A port that ends closes all that it has open, one after the other.
        await asyncio.sleep(PAUSE)
        try:
            _, writer = await _connected(urlsplit(self.url), None)
        except OSError:
            return False
        writer.close()
        return True

    async def _answer(self, link: Link) -> AsyncGenerator[h11.Event]:
        """The answer as it arrives: its head, then the pieces of its body."""
        while not isinstance(event := link.state.next_event(), h11.EndOfMessage):
            if event is h11.NEED_DATA:
                await self.listens.wait()
                link.state.receive_data(await link.reader.read(CHUNK))
            elif isinstance(event, h11.Event):
                yield event


async def _connected(parts: SplitResult, host: str | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    return await asyncio.open_connection(host or parts.hostname, port, ssl=secure or None)


def target(parts: SplitResult) -> str:
    """What an address asks its host for."""
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _request(connection: h11.Connection, record: Web, path: str, host: str, body: bytes, capitals: bool) -> bytes:
    named = {"host": host, **record.headers, "content-length": str(len(body))}
    named = {name.title() if capitals else name: value for name, value in named.items()}
    headers = [(name.encode("latin-1", "replace"), value.encode("latin-1", "replace")) for name, value in named.items()]
    request = h11.Request(method=record.verb, target=path, headers=headers)
    return b"".join(connection.send(event) or b"" for event in (request, h11.Data(body), h11.EndOfMessage()))
