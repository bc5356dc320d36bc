"""Budget: the time that a run may take, which begins with the first thing that is waited for. Effect."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import TypeVar

Value = TypeVar("Value")


class BudgetSpent(Exception):
    """The run has taken as long as it may."""


class Budget:
    """So many seconds, or as many as it takes."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self.deadline: float | None = None

    async def within(self, playing: Awaitable[Value]) -> Value:
        """What is waited for, or BudgetSpent."""
        if self.deadline is None and self._seconds is not None:
            self.deadline = time.monotonic() + self._seconds
        if self.deadline is None:
            return await playing
        limit = asyncio.timeout(max(0, self.deadline - time.monotonic()))
        try:
            async with limit:
                return await playing
        except TimeoutError:
            # What was waited for can raise TimeoutError by itself.
            raise (BudgetSpent if limit.expired() else TimeoutError) from None
