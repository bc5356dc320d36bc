"""The descriptors of the stdio transport, each served by a thread: bytes in, bytes out. Effect.

A thread, since the event loop can wait neither for a file nor for a terminal that others made blocking. It is a
daemon: nothing can wake it from a read, and nothing of it must survive.
"""

import asyncio
import os
import queue
import select
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

Line: TypeAlias = bytes | bytearray

CHUNK = 1 << 20

ATOMIC = 4096
"""Bytes that a pipe which is ready takes at once, so that a write of them cannot block."""


class Receiver:
    """What the client sends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._receive, daemon=True).start()

    async def chunk(self) -> bytes:
        """The next bytes; none when there are no more."""
        return await self._chunks.get()

    def _receive(self) -> None:
        data = b"."
        while data:
            data = _read(self._descriptor)
            try:
                self._loop.call_soon_threadsafe(self._chunks.put_nowait, data)
            except RuntimeError:  # the loop is closed
                return


class Sender:
    """What the client is sent, in order; its thread takes over what the client does not take at once."""

    def __init__(self, descriptor: int) -> None:
        self.broken: Callable[[], None] = lambda: None
        self._descriptor = descriptor
        self._lines: queue.SimpleQueue[Line] = queue.SimpleQueue()
        self._unsent = 0
        self._lock = threading.Lock()
        self._all_sent = threading.Event()
        self._all_sent.set()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._send_lines, daemon=True).start()

    def send(self, line: Line) -> None:
        """Send a line now or soon; `broken` is called when nobody takes it."""
        with self._lock:
            if not self._unsent and len(line) <= ATOMIC and _is_ready(self._descriptor):
                self._write(line)
                return
            self._unsent += 1
            self._all_sent.clear()
        self._lines.put(line)

    def flush(self, timeout: float) -> None:
        """Wait until everything is sent, but not longer than `timeout` seconds."""
        self._all_sent.wait(timeout)

    def _send_lines(self) -> None:
        while True:
            self._write(self._lines.get())
            with self._lock:
                self._unsent -= 1
                if not self._unsent:
                    self._all_sent.set()

    def _write(self, line: Line) -> None:
        rest = memoryview(line)
        try:
            while rest:
                with suppress(BlockingIOError):
                    rest = rest[os.write(self._descriptor, rest) :]
                    continue
                select.select((), (self._descriptor,), ())
        except OSError:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.broken)


def _read(descriptor: int) -> bytes:
    while True:
        try:
            return os.read(descriptor, CHUNK)
        except BlockingIOError:
            select.select((descriptor,), (), ())
        except OSError:
            return b""


def _is_ready(descriptor: int) -> bool:
    return bool(select.select((), (descriptor,), (), 0)[1])
