"""Reads and writes the pipes of a child on the event loop. Effect.

Nothing here blocks: a reader collects what has arrived, a writer sends what the pipe accepts.
"""

import asyncio
import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from gemini_mcp.call.encoded import Printed

CHUNK = 1 << 18
MAX_DRAINED_CHUNKS = 64
"""A process that outlives the child may write for ever. A pipe holds far less than this, so the child's bytes fit."""

WIDE = 1 << 20
"""Bytes that a pipe can hold where the system allows it. Gemini CLI loses what does not fit when it ends."""


class _PipeEnd:
    """Our end of a pipe."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        os.set_blocking(pipe.fileno(), False)

    def close(self) -> None:
        """Stop reading or writing."""
        if not self._pipe.closed:
            loop = asyncio.get_running_loop()
            loop.remove_reader(self._pipe.fileno())
            loop.remove_writer(self._pipe.fileno())
            self._pipe.close()


class Reader(_PipeEnd):
    """Collects what comes out of a pipe."""

    def __init__(self, pipe: IO[bytes]) -> None:
        super().__init__(pipe)
        self._collected = bytearray()
        asyncio.get_running_loop().add_reader(pipe.fileno(), self._read)

    def data(self) -> Printed:
        """What has arrived so far."""
        return self._collected

    def text(self) -> str:
        """What has arrived so far; invalid UTF-8 becomes U+FFFD."""
        return self._collected.decode("utf-8", "replace")

    def drain(self) -> None:
        """Read what is still in the pipe, and close it."""
        for _ in range(MAX_DRAINED_CHUNKS):
            if not self._read():
                break
        self.close()

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
        self._take(data)
        return bool(data)

    def _take(self, data: bytes) -> None:
        """Keep no more than is wanted; called with what has arrived."""


class EndReader(Reader):
    """Collects at least the last `kept` bytes."""

    def __init__(self, pipe: IO[bytes], kept: int) -> None:
        super().__init__(pipe)
        self._kept = kept

    def _take(self, data: bytes) -> None:
        # Cut rarely, since each cut copies all that is kept.
        if len(self._collected) > 2 * self._kept + CHUNK:
            del self._collected[: -self._kept]


class WholeReader(Reader):
    """Collects everything, but reads no more and says so as soon as there are more than `most` bytes.

    `on_data` is called with each piece.
    """

    def __init__(
        self,
        pipe: IO[bytes],
        most: int | None,
        on_overflow: Callable[[], None],
        on_data: Callable[[bytes], None] | None,
    ) -> None:
        super().__init__(pipe)
        _widen(pipe)
        self._most = most
        self._on_overflow = on_overflow
        self._on_data = on_data
        self.has_overflowed = False

    def _take(self, data: bytes) -> None:
        if self._most is not None and len(self._collected) > self._most:
            self.has_overflowed = True
            self._collected.clear()
            self.close()
            self._on_overflow()
        elif self._on_data is not None:
            self._on_data(data)


class Writer(_PipeEnd):
    """Writes bytes to a pipe as it accepts them, then closes it."""

    def __init__(self, pipe: IO[bytes], data: bytes) -> None:
        super().__init__(pipe)
        self._rest = memoryview(data)
        asyncio.get_running_loop().add_writer(pipe.fileno(), self._write)

    def _write(self) -> None:
        with suppress(BlockingIOError):
            try:
                self._rest = self._rest[os.write(self._pipe.fileno(), self._rest[:CHUNK]) :]
            except (BrokenPipeError, ConnectionResetError):
                self._rest = self._rest[:0]
        if not self._rest:
            self.close()


def _widen(pipe: IO[bytes]) -> None:
    if hasattr(fcntl, "F_SETPIPE_SZ"):  # macOS has none
        with suppress(OSError):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, WIDE)
