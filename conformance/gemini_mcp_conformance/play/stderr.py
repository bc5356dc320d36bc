"""Stderr: keeps the end of what a port writes to stderr, and reads it no faster than a log can be read. Effect."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress

KEPT = 1 << 18
"""Bytes that are kept."""
CHUNK = 1 << 16
PAUSE = 0.005
"""Seconds between two reads, so that a port which floods its stderr waits and the machine does not."""


class Stderr:
    """The reading end of a pipe."""

    def __init__(self) -> None:
        self._tail = bytearray()
        self._end: int | None = None
        self._is_over = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self) -> int:
        """Begin to read; returns the end that is to be written to, which the caller closes."""
        self._end, writes = os.pipe()
        os.set_blocking(self._end, False)
        self._loop = asyncio.get_running_loop()
        self._listen()
        return writes

    def tail(self) -> bytes:
        """The last bytes, with those that are still in the pipe."""
        for _ in range(KEPT // CHUNK):
            if not self._take():
                break
        return bytes(self._tail)

    def close(self) -> None:
        """Read no more; what was read is kept."""
        if self._end is not None and self._loop is not None:
            self.tail()
            self._loop.remove_reader(self._end)
            os.close(self._end)
            self._end = None

    def _listen(self) -> None:
        if self._end is not None and self._loop is not None:
            self._loop.add_reader(self._end, self._read)

    def _read(self) -> None:
        if self._end is not None and self._loop is not None:
            self._loop.remove_reader(self._end)
            self._take()
            if not self._is_over:
                self._loop.call_later(PAUSE, self._listen)

    def _take(self) -> bool:
        """Whether there was something to read."""
        if self._end is None:
            return False
        with suppress(BlockingIOError):
            piece = os.read(self._end, CHUNK)
            self._tail, self._is_over = (self._tail + piece)[-KEPT:], not piece
            return bool(piece)
        return False
