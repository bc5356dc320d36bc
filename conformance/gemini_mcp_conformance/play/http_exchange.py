"""HTTP exchange: sends one request on a connection of its own, and reads its answer as it arrives. Effect."""

from __future__ import annotations

import asyncio
import re
from codecs import BOM_UTF8
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from urllib.parse import SplitResult, urlsplit

import h11

from gemini_mcp_conformance.see.observation import Web

CHUNK = 1 << 16
LONG, PAUSE = 1 << 14, 0.1
"""Bytes of a body that is sent in two pieces, and seconds between them."""
KEPT = 1 << 16
"""Bytes of a body that a record keeps."""
RETRY = 1.0
"""Seconds that the suite waits at most before it comes back to a stream."""
LINE_END = re.compile(rb"\r\n|\r|\n")
MESSAGE = (b"", b"message")
"""The names of an event that holds a message."""


async def exchange(
    url: str, record: Web, body: bytes, events: Events, heard: Callable[[bytes], None], host: str | None
) -> AsyncGenerator[Web]:
    """The record with its status, and again at its end with its body. `events` reads a stream."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(host or parts.hostname, port, ssl=secure or None)
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
        async for part in _answer(connection, reader):
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


class Events:
    """Splits a stream of server-sent events into the data of each, as WHATWG's HTML standard says.

    Like the official clients it passes over events of other names than `message`.
    """

    def __init__(self) -> None:
        self.last_id = b""
        self.retry = RETRY
        """Seconds after which a client should come back for the rest of a stream that was closed."""
        self.begin()

    def begin(self) -> None:
        """The stream begins, or goes on over another connection."""
        self._rest = bytearray()
        self._is_begun = False
        self._ends_in_return = False
        self._name = b""
        self._id = self.last_id
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        """The data of the events that this piece ends."""
        # A return ends a line at once. What completes it to a pair may come with the next piece.
        if self._ends_in_return:
            piece = piece.removeprefix(b"\n")
        self._ends_in_return = piece.endswith(b"\r")
        first, *others = LINE_END.split(piece)
        self._rest += first
        found: list[bytes] = []
        for begun in others:
            found.append(self._line(bytes(self._rest)))
            self._rest = bytearray(begun)
        return [data for data in found if data]

    def _line(self, line: bytes) -> bytes:
        """The data of the event that the line ends; nothing if it ends none."""
        line, self._is_begun = line if self._is_begun else line.removeprefix(BOM_UTF8), True
        name, _, value = line.partition(b":")
        match name:
            case b"data":
                self._data.append(value.removeprefix(b" "))
            case b"event":
                self._name = value.removeprefix(b" ")
            case b"id":
                self._id = value.removeprefix(b" ")
            case b"retry" if value.strip().isdigit():
                self.retry = min(int(value) / 1000, RETRY)
            case _:
                pass
        return b"" if line else self._event()

    def _event(self) -> bytes:
        data = b"\n".join(self._data) if self._name in MESSAGE else b""
        self.last_id, self._name, self._data = self._id, b"", []
        return data


def target(parts: SplitResult) -> str:
    """What an address asks its host for."""
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


async def _answer(connection: h11.Connection, reader: asyncio.StreamReader) -> AsyncGenerator[h11.Event]:
    """The answer as it arrives: its head, then the pieces of its body."""
    while not isinstance(event := connection.next_event(), h11.EndOfMessage):
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(CHUNK))
        elif isinstance(event, h11.Event):
            yield event


def _request(connection: h11.Connection, record: Web, path: str, host: str, body: bytes) -> bytes:
    named = {"host": host, **record.headers, "content-length": str(len(body)), "connection": "close"}
    headers = [(name.encode("latin-1", "replace"), value.encode("latin-1", "replace")) for name, value in named.items()]
    request = h11.Request(method=record.verb, target=path, headers=headers)
    return b"".join(connection.send(event) or b"" for event in (request, h11.Data(body), h11.EndOfMessage()))
