"""Sends the progress notifications of a call: each new message, and the last one again every few seconds. Effect.

It decides only when to send; the caller chooses the messages.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any, NoReturn

INTERVAL = 8.0
"""Seconds between two notifications; the specification asks for at least one every ten."""

Report = Callable[[float, float | None, str | None], Awaitable[None]]


class Progress:
    """The progress of one call, in seconds. MCP demands that the number grows with each notification."""

    def __init__(self, report: Report | None) -> None:
        self._report = report
        self._began = monotonic()
        self._last = 0.0
        self._message = ""

    @property
    def is_wanted(self) -> bool:
        """Whether anybody is told."""
        return self._report is not None

    async def say(self, message: str) -> None:
        """Send a message."""
        self._message = message
        if self._report is not None:
            self._last = max(round(monotonic() - self._began, 3), self._last + 0.001)
            await self._report(self._last, None, message)

    @asynccontextmanager
    async def repeating(self) -> AsyncGenerator[None]:
        """Send the last message again and again while the body runs."""
        if self._report is None:
            yield
            return
        async with _beside(self._repeat()):
            yield

    @asynccontextmanager
    async def following(self, take: Callable[[], str | None], pause: float) -> AsyncGenerator[Callable[[], None]]:
        """Send what can be taken while the body runs, with a pause before each; the body says when there is more."""
        is_more = asyncio.Event()
        async with _beside(self._follow(take, pause, is_more)):
            yield is_more.set

    async def _follow(self, take: Callable[[], str | None], pause: float, is_more: asyncio.Event) -> None:
        while await is_more.wait():
            await asyncio.sleep(self._until(pause))
            is_more.clear()
            if message := take():
                await self.say(message)
                is_more.set()

    async def _repeat(self) -> NoReturn:
        while True:
            await asyncio.sleep(self._until(INTERVAL))
            if not self._until(INTERVAL):
                await self.say(self._message)

    def _until(self, pause: float) -> float:
        """Seconds until the last message is so old."""
        return max(0.0, self._began + self._last + pause - monotonic())


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncGenerator[None]:
    """Do endless work while the body runs."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(work)
        yield
        task.cancel()
