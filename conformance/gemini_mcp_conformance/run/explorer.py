"""Explorer: uses hypothesis to find conversations that fail, and to make them as simple as possible. Effect.

hypothesis is synchronous, so it runs in a thread of its own; the conversations are played on the event loop of the run.
A failing conversation is shrunk on new ports, and counts only after it has failed once more.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis.errors import Flaky, Unsatisfiable

from gemini_mcp_conformance.judge.finding import Finding
from gemini_mcp_conformance.see.observation import Observation
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.exploration import Exploration, Served, joined, simplicity

ROUNDS = 4
"""How many faults one exploration looks for; the next ones are found when these are fixed."""
TRIES = 40
"""How many new ports are started to shrink one example."""
SECONDS = 10.0
"""How long one example is shrunk."""
HISTORIES = (1, 4, 16, 1000)
"""How many earlier conversations are played again, in turn, when a fault does not show without them."""

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much, HealthCheck.large_base_example)
"""Health checks to suppress: how long an example takes depends on the port."""

Seen = tuple[Observation, tuple[Finding, ...]]
Play = Callable[[Conversation], Awaitable[Seen]]


class ExampleFailed(Exception):
    """Raised to tell hypothesis that an example fails."""


class Over(BaseException):
    """Raised when no more is to be played: the time is up, or the run ends. hypothesis takes it for no failure."""


@dataclass
class Explorer:
    """One exploration of one port. `known` are the requirements that need no further proof of their failure."""

    exploration: Exploration
    served: Served
    play: Play
    known: set[str]
    deadline: float | None = None
    is_enough: Callable[[], bool] = lambda: False
    """Whether the run ends, so that nothing more is to be played."""
    findings: dict[tuple[str, str, str], Finding] = field(default_factory=dict[tuple[str, str, str], Finding])
    proofs: list[Seen] = field(default_factory=list[Seen])
    is_over: bool = False
    played: list[Conversation] = field(default_factory=list[Conversation])

    async def explore(self) -> None:
        """Play every example; afterwards `findings` hold what passed, `proofs` what failed, each shrunk."""
        loop = asyncio.get_running_loop()
        try:
            with contextlib.suppress(Over):
                for _ in range(ROUNDS):
                    hunt = Hunt(self, lambda conversation: self._wait(loop, conversation))
                    await asyncio.to_thread(hunt.run)
                    if not hunt.targets:
                        return
                    self.known |= hunt.targets
                    await self._prove(hunt)
        finally:
            self.is_over = True

    def is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    def note(self, conversation: Conversation, found: tuple[Finding, ...]) -> frozenset[str]:
        """Keep what passed; what failed needs a proof first. Says which requirements failed anew."""
        self.played.append(conversation)
        for finding in found:
            if finding.outcome != "fail":
                self.findings.setdefault((finding.requirement, finding.check, finding.outcome), finding)
        return frozenset(finding.requirement for finding in found if finding.outcome == "fail") - self.known

    def _wait(self, loop: asyncio.AbstractEventLoop, conversation: Conversation) -> tuple[Finding, ...]:
        """Play on the loop, from the thread of hypothesis."""
        future = asyncio.run_coroutine_threadsafe(self._findings(conversation), loop)
        while not (self.is_over or self.is_enough() or self.is_late()):
            try:
                # In short waits, so that the thread of hypothesis ends soon after the run does.
                return future.result(0.2)
            except concurrent.futures.TimeoutError:
                continue
        future.cancel()
        raise Over

    async def _findings(self, conversation: Conversation) -> tuple[Finding, ...]:
        _, found = await self.play(conversation)
        return found

    async def _prove(self, hunt: Hunt) -> None:
        """Play what was found once more, alone or after what had been played before it."""
        for candidate in self._candidates(hunt):
            name = min(hunt.targets).replace(":", "-")
            fresh = replace(candidate, id=f"{self.exploration.id}-{name}", title=self.exploration.title, fresh=True)
            observation, found = await self.play(fresh)
            if any(finding.outcome == "fail" and finding.requirement in hunt.targets for finding in found):
                self.proofs.append((observation, found))
                return

    def _candidates(self, hunt: Hunt) -> Iterator[Conversation]:
        if hunt.best is not None:
            yield hunt.best
        elif hunt.first is not None:
            # On a new port the example alone does not fail, so the fault needs something that came before.
            yield from (joined(self.played[: hunt.at][-count:], hunt.first) for count in HISTORIES)


@dataclass
class Hunt:
    """One run of hypothesis, which ends with the first example that fails anew and what it shrinks to."""

    explorer: Explorer
    wait: Callable[[Conversation], tuple[Finding, ...]]
    targets: frozenset[str] = frozenset()
    first: Conversation | None = None
    best: Conversation | None = None
    at: int = 0
    _tries: int = 0
    _until: float = 0.0

    def run(self) -> None:
        exploration = self.explorer.exploration

        @settings(
            max_examples=exploration.examples,
            derandomize=exploration.seed is None,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=SLOW,
            verbosity=Verbosity.quiet,
            report_multiple_bugs=False,
            print_blob=False,
        )
        @given(exploration.strategy(self.explorer.served))
        def example(conversation: Conversation) -> None:
            if self._fails(conversation):
                raise ExampleFailed

        tested = example if exploration.seed is None else hypothesis.seed(exploration.seed)(example)
        try:
            tested()
        # Flaky: the port treated the same example in two ways. Unsatisfiable: nothing fits its schemas.
        except (ExampleFailed, Flaky, Unsatisfiable):
            return

    def _fails(self, conversation: Conversation) -> bool:
        return self._shrunk(conversation) if self.targets else self._generated(conversation)

    def _generated(self, conversation: Conversation) -> bool:
        self.at = len(self.explorer.played)
        self.targets = self.explorer.note(conversation, self.wait(conversation))
        if self.targets:
            self.first, self._until = conversation, time.monotonic() + SECONDS
        return bool(self.targets)

    def _shrunk(self, conversation: Conversation) -> bool:
        """Whether it fails in the same way on a port that has seen nothing else."""
        if conversation == self.best:
            return True
        if self._tries >= TRIES or time.monotonic() > self._until:
            return False
        self._tries += 1
        found = self.wait(replace(conversation, fresh=True))
        fails = any(finding.outcome == "fail" and finding.requirement in self.targets for finding in found)
        if fails and (self.best is None or simplicity(conversation) < simplicity(self.best)):
            self.best = conversation
        return fails
