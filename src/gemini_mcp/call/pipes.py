"""The pipes of a child, served by the event loop: open pipes in, bytes in order out. Effect.

Nothing here waits: a reader collects what has come, a writer hands over what the pipe takes.
"""

import asyncio
import os
from contextlib import suppress
from typing import IO

CHUNK = 1 << 18
MAX_DRAINED_CHUNKS = 64
"""A process that outlives the child may write for ever; what the child itself wrote fits many times."""


class Reader:
    """Collects what comes out of a pipe: all of it, or at least the last `limit` bytes."""

    def __init__(self, pipe: IO[bytes], limit: int | None = None) -> None:
        self._pipe = pipe
        self._limit = limit
        self._collected = bytearray()
        os.set_blocking(pipe.fileno(), False)
        asyncio.get_running_loop().add_reader(pipe.fileno(), self._read)

    def text(self) -> str:
        """What has come so far; damaged UTF-8 shows as U+FFFD."""
        return self._collected.decode("utf-8", "replace")

    def drain(self) -> None:
        """Take what is still in the pipe, and close it."""
        for _ in range(MAX_DRAINED_CHUNKS):
            if not self._read():
                break
        self.close()

    def close(self) -> None:
        """Listen no longer."""
        if not self._pipe.closed:
            asyncio.get_running_loop().remove_reader(self._pipe.fileno())
            self._pipe.close()

    def _read(self) -> bool:
        if self._pipe.closed:
            return False
        try:
            data = os.read(self._pipe.fileno(), CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self.close()
        self._collected += data
        if self._limit is not None and len(self._collected) > 2 * self._limit + CHUNK:
            del self._collected[: -self._limit]
        return bool(data)


class Writer:
    """Hands bytes to a pipe as it takes them, then closes it."""

    def __init__(self, pipe: IO[bytes], data: bytes) -> None:
        self._pipe = pipe
        self._rest = memoryview(data)
        os.set_blocking(pipe.fileno(), False)
        asyncio.get_running_loop().add_writer(pipe.fileno(), self._write)

    def close(self) -> None:
        """Hand over no more."""
        if not self._pipe.closed:
            asyncio.get_running_loop().remove_writer(self._pipe.fileno())
            self._pipe.close()

    def _write(self) -> None:
        with suppress(BlockingIOError):
            try:
                self._rest = self._rest[os.write(self._pipe.fileno(), self._rest[:CHUNK]) :]
            except (BrokenPipeError, ConnectionResetError):
                self._rest = self._rest[:0]
        if not self._rest:
            self.close()
