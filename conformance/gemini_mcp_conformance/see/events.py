"""Events: reads a stream of server-sent events, a piece at a time. Pure.

What a client of MCP has to understand of such a stream belongs here; connections do not.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8

RETRY = 1.0
"""Seconds that the suite waits at most before it comes back to a stream."""
LINE_END = re.compile(rb"\r\n|\r|\n")
MESSAGE = (b"", b"message")
"""The names of an event that holds a message."""


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
