"""Lateness: measures how busy the machine is, and how late the suite itself is on it. Effect.

A port on the same machine is as late through no fault of its own, so waits and checks of time allow for it.
"""

from __future__ import annotations

import asyncio
import os
import time
from itertools import takewhile

TICK = 0.05
"""Seconds between two things that are due."""

TOLERATED = 0.3
"""Seconds by which a port may be later for each multiple of the usual load."""

USUAL_LOAD = 4
"""Processes for each core that want to run when a suite is alone on its machine."""

CORES = os.cpu_count() or 1


def unhurried(seconds: float) -> float:
    """How long to wait for what would take so many seconds on a machine that does nothing else."""
    try:
        load = os.getloadavg()[0] / CORES
    except OSError:
        return seconds
    return seconds * max(1.0, load / USUAL_LOAD)


class Lateness:
    """The delays since the start, each with the moment at which it ended."""

    def __init__(self) -> None:
        self._delays: list[tuple[float, float]] = []
        self._watching: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Measure from now on; a second start changes nothing."""
        if self._watching is None:
            self._watching = asyncio.get_running_loop().create_task(self._watch())

    async def end(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    def since(self, moment: float) -> float:
        """The longest delay that ended after a moment of `time.monotonic`, or what the load may add, in seconds."""
        recent = takewhile(lambda each: each[0] >= moment, reversed(self._delays))
        return max((unhurried(TOLERATED) - TOLERATED, *(delay for _, delay in recent)))

    async def _watch(self) -> None:
        while True:
            due = time.monotonic() + TICK
            await asyncio.sleep(TICK)
            self._delays.append((time.monotonic(), time.monotonic() - due))
