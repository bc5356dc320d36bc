"""Who may run now: a limit on all, and one at a time for each session. Effect: waits, and says so.

Whoever waits holds nothing that another needs: first the session's turn, then a place among the running.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

Say = Callable[[str], Awaitable[None]]


@dataclass
class _Queue:
    """The turn of one session, and how many have or want it."""

    lock: anyio.Lock = field(default_factory=anyio.Lock)
    users: int = 0


class Turns:
    """The turns of one server."""

    def __init__(self, places: int) -> None:
        self._places = anyio.Semaphore(places)
        self._queues: dict[Hashable, _Queue] = {}

    @asynccontextmanager
    async def turn(self, session: Hashable | None, say: Say) -> AsyncGenerator[None]:
        """Wait until a run may begin, and hold its place while it lasts."""
        async with self._alone(session, say):
            if not self._places.value:
                await say("Waiting for a running call to end")
            async with self._places:
                yield

    @asynccontextmanager
    async def _alone(self, session: Hashable | None, say: Say) -> AsyncGenerator[None]:
        if session is None:
            yield
            return
        waiting = self._queues.setdefault(session, _Queue())
        waiting.users += 1
        try:
            if waiting.lock.locked():
                await say("Waiting for an earlier reply in this session")
            async with waiting.lock:
                yield
        finally:
            waiting.users -= 1
            if not waiting.users:
                del self._queues[session]
