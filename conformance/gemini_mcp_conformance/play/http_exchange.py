"""HTTP exchanges: each request is sent on a connection of its own, and its answer read as it arrives. Effect."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from urllib.parse import SplitResult, urlsplit

import h11

from gemini_mcp_conformance.see.events import Events
from gemini_mcp_conformance.see.observation import Web

CHUNK = 1 << 16
LONG, PAUSE = 1 << 14, 0.1
"""Bytes of a body that is sent in two pieces, and seconds between them."""
KEPT = 1 << 16
"""Bytes of a body that a record keeps."""


class Exchanges:
    """Requests to a port at an address."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.listens = asyncio.Event()
        """While it is not set nothing is read, so that what a port writes fills its buffers."""
        self.listens.set()

    async def of(
        self, record: Web, body: bytes, events: Events, heard: Callable[[bytes], None], host: str | None
    ) -> AsyncGenerator[Web]:
        """The record with its status, and again at its end with its body. `events` reads a stream."""
        parts = urlsplit(self.url)
        reader, writer = await _connected(parts, host)
        connection = h11.Connection(h11.CLIENT)
        kept = bytearray()
        events.begin()
        try:
            whole = _request(connection, record, target(parts), parts.netloc, body)
            # Between a client and a port a long body may pause at any place.
            half = len(whole) - len(body) // 2 if len(body) > LONG else len(whole)
            writer.write(whole[:half])
            if half < len(whole):
                await asyncio.sleep(PAUSE)
                writer.write(whole[half:])
            async for part in self._answer(connection, reader):
                if isinstance(part, h11.Response):
                    answered = {name.decode("latin-1"): value.decode("latin-1") for name, value in part.headers}
                    record = replace(record, status=part.status_code, answered=answered)
                    yield record
                    # A stream that answers a GET stays open for messages of the server, and need not end.
                    if record.is_stream and record.verb == "GET" and not events.last_id:
                        return
                elif isinstance(part, h11.Data):
                    kept += part.data
                    for data in events.feed(bytes(part.data)) if record.is_stream else ():
                        heard(data)
            if not record.is_stream and kept.strip():
                heard(bytes(kept))
            yield replace(record, body=bytes(kept[:KEPT]))
        finally:
            writer.close()

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

    async def _answer(self, connection: h11.Connection, reader: asyncio.StreamReader) -> AsyncGenerator[h11.Event]:
        """The answer as it arrives: its head, then the pieces of its body."""
        while not isinstance(event := connection.next_event(), h11.EndOfMessage):
            if event is h11.NEED_DATA:
                await self.listens.wait()
                connection.receive_data(await reader.read(CHUNK))
            elif isinstance(event, h11.Event):
                yield event


async def _connected(parts: SplitResult, host: str | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    return await asyncio.open_connection(host or parts.hostname, port, ssl=secure or None)


def target(parts: SplitResult) -> str:
    """What an address asks its host for."""
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _request(connection: h11.Connection, record: Web, path: str, host: str, body: bytes) -> bytes:
    named = {"host": host, **record.headers, "content-length": str(len(body)), "connection": "close"}
    headers = [(name.encode("latin-1", "replace"), value.encode("latin-1", "replace")) for name, value in named.items()]
    request = h11.Request(method=record.verb, target=path, headers=headers)
    return b"".join(connection.send(event) or b"" for event in (request, h11.Data(body), h11.EndOfMessage()))
