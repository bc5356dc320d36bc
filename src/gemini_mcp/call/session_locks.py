"""Limits which calls run at once: one in each session, and a number in all. Effect: waits, and says so.

A call locks its session before it takes a slot, so a call that waits for its session occupies no slot.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

Say = Callable[[str], Awaitable[None]]


@dataclass
class _SessionLock:
    """The lock of one session, and how many calls hold it or wait for it."""

    lock: anyio.Lock = field(default_factory=anyio.Lock)
    users: int = 0


class SessionLocks:
    """The locks of one server, and its slots for running calls."""

    def __init__(self, slots: int) -> None:
        self._slots = anyio.Semaphore(slots)
        self._locks: dict[Hashable, _SessionLock] = {}

    @asynccontextmanager
    async def hold(self, session: Hashable | None, say: Say) -> AsyncGenerator[None]:
        """Wait until a run may begin, and hold its session and its slot while the body runs."""
        async with self._session(session, say):
            if not self._slots.value:
                await say("Waiting for a running call to end")
            async with self._slots:
                yield

    @asynccontextmanager
    async def _session(self, session: Hashable | None, say: Say) -> AsyncGenerator[None]:
        if session is None:
            yield
            return
        waiting = self._locks.setdefault(session, _SessionLock())
        waiting.users += 1
        try:
            if waiting.lock.locked():
                await say("Waiting for an earlier reply in this session")
            async with waiting.lock:
                yield
        finally:
            waiting.users -= 1
            if not waiting.users:
                del self._locks[session]
