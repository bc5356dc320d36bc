"""The pytest plugin: conversations become items, pytest-asyncio plays them, and what the checks find is gathered.

Conversations that need a port of their own are begun together with the first item and overlap; their items wait for
them. Effects only; what is right and wrong is decided in `judging`.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from gemini_mcp_conformance.bench import Bench
from gemini_mcp_conformance.conversation import Conversation
from gemini_mcp_conformance.judging import Finding, judge
from gemini_mcp_conformance.observation import Exchange, Observation
from gemini_mcp_conformance.registry import Check
from gemini_mcp_conformance.wire import Unreachable

Told = Callable[[Conversation, int, int], None]
"""Is told which conversation begins, its number and how many there are."""


@dataclass
class Gathering:
    """What a run plays, with what, and what it has found so far."""

    bench: Bench
    conversations: Sequence[Conversation]
    checks: Sequence[Check]
    jobs: int = 4
    budget: float | None = None
    fatal: Callable[[Finding], bool] = lambda finding: False
    told: Told = lambda conversation, number, count: None
    findings: list[Finding] = field(default_factory=list[Finding])
    observations: dict[str, Observation] = field(default_factory=dict[str, Observation])
    faults: list[str] = field(default_factory=list[str])
    cut: str | None = None
    unreachable: str | None = None
    greeting: Exchange | None = None
    _begun: dict[str, asyncio.Task[Observation]] = field(default_factory=dict[str, "asyncio.Task[Observation]"])
    _deadline: float | None = None

    async def play(self, conversation: Conversation) -> tuple[Finding, ...]:
        """Play one conversation and judge it; what fails is what `fatal` says."""
        if not await self._greeted():
            return ()
        self._begin()
        if self._deadline is not None and time.monotonic() > self._deadline:
            self.cut = f"The budget of {self.budget:g} seconds was spent before it."
            return ()
        self.told(conversation, len(self.observations), len(self.conversations))
        try:
            observation = await (self._begun.get(conversation.id) or self.bench.play(conversation))
            self.observations[conversation.id] = observation
            found = judge(observation, self.checks)
        except Exception as error:
            self.faults.append(f"{conversation.id}: {''.join(traceback.format_exception(error))}")
            return ()
        self.findings += found
        return tuple(finding for finding in found if self.fatal(finding))

    async def end(self) -> None:
        """Let go of what has begun and will not be waited for, and end every port."""
        unfinished = [task for task in self._begun.values() if not task.done()]
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)
        await self.bench.end()

    async def _greeted(self) -> bool:
        """Whether the port answers at all; asked once."""
        if self.greeting is None and self.unreachable is None:
            try:
                self.greeting = await self.bench.greet()
            except Unreachable as error:
                self.unreachable = str(error)
        return self.unreachable is None

    def _begin(self) -> None:
        """Begin what overlaps, as many at a time as there are jobs."""
        if self._deadline is None and self.budget is not None:
            self._deadline = time.monotonic() + self.budget
        if self._begun:
            return
        free = asyncio.Semaphore(self.jobs)

        async def play(conversation: Conversation) -> Observation:
            async with free:
                return await self.bench.play(conversation)

        waiting = [conversation for conversation in self.conversations if conversation.alone]
        self._begun = {each.id: asyncio.ensure_future(play(each)) for each in waiting}


GATHERING = pytest.StashKey[Gathering]()


class Plugin:
    """Offers the conversations of a gathering to `session_tests`."""

    def __init__(self, gathering: Gathering) -> None:
        self._gathering = gathering

    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[GATHERING] = self._gathering

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "conversation" in metafunc.fixturenames:
            every = self._gathering.conversations
            metafunc.parametrize("conversation", every, ids=[each.id for each in every])
