"""Reads stdin and writes stdout, each in a thread of its own. Effect.

The event loop cannot wait for a file, nor for a terminal that another process has set to blocking; a thread can. The
threads are daemons: nothing can wake one from a read, and the server must be able to end.
"""

import asyncio
import errno
import os
import queue
import select
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

Line: TypeAlias = bytes | bytearray

CHUNK = 1 << 16
"""Bytes that are read at once: as many as a pipe holds. A longer buffer is mapped and unmapped for each line."""

BACKLOG = 16
"""Chunks that are read before the event loop takes the first; then the client has to wait."""

MOST_UNSENT = 64 << 20
"""Bytes of answers that wait for the client to read before nothing more is asked of the server."""

ATOMIC = 4096
"""Bytes that a pipe accepts without blocking once `poll` calls it ready (PIPE_BUF on Linux)."""


HUNG_UP = select.POLLHUP | getattr(select, "POLLRDHUP", 0)
"""What `poll` tells of an end that nobody writes to any more: of a pipe, and of a socket."""

LEFT = (errno.EPIPE, errno.ECONNRESET, errno.EIO)
"""The errors of a stream whose client has left; EIO is that of a terminal."""


class Receiver:
    """Reads what the client sends."""

    def __init__(self, descriptor: int) -> None:
        self.problem: str | None = None
        self._descriptor = descriptor
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = threading.Semaphore(BACKLOG)
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._receive, daemon=True).start()

    @property
    def is_left(self) -> bool:
        """Whether the client has closed its end; there may be more to read."""
        return _is_ready(self._descriptor, HUNG_UP)

    async def chunk(self) -> bytes:
        """The next bytes; empty at the end."""
        chunk = await self._chunks.get()
        self._room.release()
        return chunk

    def _receive(self) -> None:
        data = b"."
        while data:
            self._room.acquire()
            data = self._read()
            try:
                self._loop.call_soon_threadsafe(self._chunks.put_nowait, data)
            except RuntimeError:  # the loop is closed
                return

    def _read(self) -> bytes:
        while True:
            try:
                return os.read(self._descriptor, CHUNK)
            except BlockingIOError:
                _is_ready(self._descriptor, select.POLLIN, timeout=None)
            except OSError as error:
                self.problem = _problem("stdin cannot be read", error)
                return b""


class Sender:
    """Sends lines to the client in order. What cannot be written at once is left to the thread."""

    def __init__(self, descriptor: int) -> None:
        self.on_broken: Callable[[], object] = lambda: None
        self.problem: str | None = None
        self._descriptor = descriptor
        self._lines: queue.SimpleQueue[Line] = queue.SimpleQueue()
        self._unsent = self._unsent_bytes = 0
        self._lock = threading.Lock()
        self._all_sent = threading.Event()
        self._all_sent.set()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._send_lines, daemon=True).start()

    @property
    def is_full(self) -> bool:
        """Whether too much waits for the client to read it."""
        return self._unsent_bytes > MOST_UNSENT

    def send(self, line: Line) -> None:
        """Send a line now or soon; `on_broken` is called when that fails."""
        with self._lock:
            if not self._unsent and len(line) <= ATOMIC and _is_ready(self._descriptor, select.POLLOUT):
                self._write(line)
                return
            self._unsent += 1
            self._unsent_bytes += len(line)
            self._all_sent.clear()
        self._lines.put(line)

    def flush(self, timeout: float) -> None:
        """Wait until everything is sent, but at most `timeout` seconds."""
        self._all_sent.wait(timeout)

    def _send_lines(self) -> None:
        while True:
            line = self._lines.get()
            self._write(line)
            with self._lock:
                self._unsent -= 1
                self._unsent_bytes -= len(line)
                if not self._unsent:
                    self._all_sent.set()

    def _write(self, line: Line) -> None:
        rest = memoryview(line)
        try:
            while rest:
                # Whoever shares the descriptor can have set it to non-blocking.
                with suppress(BlockingIOError):
                    rest = rest[os.write(self._descriptor, rest) :]
                    continue
                _is_ready(self._descriptor, select.POLLOUT, timeout=None)
        except OSError as error:
            self.problem = _problem("stdout cannot be written", error)
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.on_broken)


def _problem(what: str, error: OSError) -> str | None:
    """What the operator is told of an error; nothing where the client has left."""
    return None if error.errno in LEFT else f"{what}: {error.strerror}."


def _is_ready(descriptor: int, event: int, timeout: float | None = 0) -> bool:
    """Whether reading or writing would not block, or fail at once."""
    # Not `select`, which knows no descriptor above 1023.
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(timeout))
