"""The state of a run: what is played, on which ports, and what has been found so far. Effect.

What is right and wrong is decided in `judge`.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gemini_mcp.spec.values import table
from gemini_mcp_conformance.judge.finding import Finding
from gemini_mcp_conformance.judge.judgement import FOREIGN
from gemini_mcp_conformance.judge.judging import by_check, judge_death
from gemini_mcp_conformance.judge.registry import Check
from gemini_mcp_conformance.play.bench import Bench
from gemini_mcp_conformance.play.tracks import parts
from gemini_mcp_conformance.play.wire import Unreachable
from gemini_mcp_conformance.run.budget import Budget, BudgetSpent
from gemini_mcp_conformance.run.ending import INTERRUPTED, SPENT
from gemini_mcp_conformance.run.explorer import Explorer, Seen
from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.playing import Playing
from gemini_mcp_conformance.see.listing import tools_on
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.exploration import Exploration, Served
from gemini_mcp_conformance.talk.steps import Request, call

Item = Conversation | Exploration
USUAL = Script("usual", ())
"""Stands for any script."""
EXPLORING = -1
"""The track of the explorations."""
LEISURE = 0.002
"""Seconds for which a conversation is judged before those beside it go on."""


@dataclass(repr=False)
class RunState:
    """What a run plays, with what, and what it has found so far."""

    options: Options
    bench: Bench
    conversations: Sequence[Conversation]
    explorations: Sequence[Exploration]
    checks: Sequence[Check]
    is_fatal: Callable[[Finding], bool]
    findings: list[Finding] = field(default_factory=list[Finding])
    failing: dict[str, Observation] = field(default_factory=dict[str, Observation])
    played: int = 0
    faults: list[str] = field(default_factory=list[str])
    cut: str | None = None
    advice: str | None = None
    unreachable: str | None = None
    greeting: Exchange | None = None

    def __post_init__(self) -> None:
        self._awaited: Item | None = None
        self._budget = Budget(self.options.budget)
        self._playing = Playing(self.bench, self.conversations, self.options.jobs, self._judged)
        self.bench.glance = self._glanced if self.options.fail_fast else None

    @property
    def seconds(self) -> Mapping[str, float]:
        """How long each conversation took."""
        return self._playing.seconds

    @property
    def given_up(self) -> str | None:
        """Why some conversations were not played."""
        return self._playing.given_up

    @property
    def items(self) -> list[Item]:
        """What is played, in the order in which it is waited for."""
        early, late, others = parts(self.conversations)
        if self.bench.limit is not None:
            return [*early, *late, *others, *self.explorations]
        # The tracks go on by themselves, so an exploration is played beside conversations that are waited for later.
        return [*early, *self.explorations, *late, *others]

    @property
    def is_whole(self) -> bool:
        """Whether all was played that was to be."""
        return self.unreachable is None and self.cut is None and self.given_up is None and not self.options.fail_fast

    async def play(self, item: Item) -> tuple[Finding, ...]:
        """Play and judge one conversation or exploration. Returns the findings that fail the run."""
        if not await self._greeted():
            return ()
        self._playing.begin()
        self._awaited = item
        self._tell()
        try:
            found = await (self._explored(item) if isinstance(item, Exploration) else self._found(item))
        except BudgetSpent:
            self._spend("before")
            return ()
        except Exception as error:
            self.faults.append(f"{item.id}: {''.join(traceback.format_exception(error))}")
            return ()
        # Another track may have found a failure already that would end the run.
        if self.options.fail_fast and not any(map(self.is_fatal, found)):
            found = (*found, *self.finished())
        self.findings += found
        if any(finding.cause == FOREIGN for finding in found):
            self.cut = "The port does not implement this specification, so the run ended early."
        return tuple(finding for finding in found if self.is_fatal(finding))

    async def _found(self, conversation: Conversation) -> tuple[Finding, ...]:
        try:
            return await self._budget.within(self._playing.found(conversation))
        except Unreachable as error:
            return judge_death(conversation, f"could not be started again ({error})")

    def _tell(self) -> None:
        """Tell what is waited for, and how much has been played."""
        if self._awaited is not None:
            every = len(self.conversations) + len(self.explorations)
            self.options.on_progress(self._awaited.id, self._awaited.phase, self.played, every)

    async def _judged(self, observation: Observation) -> tuple[Finding, ...]:
        self.played += 1
        self._tell()
        self.options.on_played(observation)
        found = await self._at_leisure(observation)
        if any(finding.outcome == "fail" for finding in found):
            self.failing[observation.conversation.id] = observation
        if self.options.fail_fast and any(map(self.is_fatal, found)):
            self._playing.end_waits()
        return found

    async def _glanced(self, whole: Conversation, observation: Observation) -> None:
        """End the run if a conversation that goes on has shown what ends it."""
        # A port that has died may have been ended by an earlier conversation.
        if observation.died is not None or not self._playing.goes_on(whole):
            return
        found = tuple(filter(self.is_fatal, await self._at_leisure(observation)))
        if found:
            self.failing[whole.id] = replace(observation, conversation=whole)
            self._playing.settle(whole, found)
            self._playing.end_waits()

    async def _at_leisure(self, observation: Observation) -> tuple[Finding, ...]:
        """Judge a conversation, while those that are played beside it go on."""
        found: list[Finding] = []
        rested = time.monotonic()
        for findings in by_check(observation, self.checks):
            found += findings
            if time.monotonic() - rested > LEISURE:
                await asyncio.sleep(0)
                rested = time.monotonic()
        return tuple(found)

    def _spend(self, when: str) -> None:
        self.cut = f"The budget of {self.options.budget:g} seconds was spent {when} it."
        self.advice = SPENT.format(budget=self.options.budget)

    def interrupt(self) -> None:
        """Note that the operator has ended the run."""
        self.cut, self.advice = INTERRUPTED, "It was interrupted."

    def finished(self) -> Iterator[Finding]:
        """The findings of conversations that have been played, and that nobody has asked for yet."""
        return self._playing.finished()

    async def _explored(self, exploration: Exploration) -> tuple[Finding, ...]:
        calls = tuple(call(name, None, USUAL) for name in self.bench.spec.names)
        if not self._playing.is_worth(Conversation("", "", calls)):
            return ()
        known = {finding.requirement for finding in self.findings if finding.outcome == "fail"}
        deadline, is_enough = self._budget.deadline, lambda: self._playing.is_enough
        explorer = Explorer(exploration, await self._served(), self._seen, known, deadline, is_enough)
        await explorer.explore()
        self.played += 1
        if explorer.is_late():
            self._spend("during")
        self.failing |= {observation.conversation.id: observation for observation, _ in explorer.proofs}
        return (*explorer.findings.values(), *(finding for _, found in explorer.proofs for finding in found))

    async def _seen(self, conversation: Conversation) -> Seen:
        observation = await self.bench.play(conversation, EXPLORING)
        return observation, await self._at_leisure(observation)

    async def _served(self) -> Served:
        """The schemas that the port serves."""
        asked = Conversation("served", "The list of tools.", (Request("tools/list", walks=1),))
        pages = (await self.bench.play(asked, EXPLORING)).exchanges
        return {str(tool.get("name")): table(tool.get("inputSchema")) for tool in tools_on(pages)}

    async def end(self) -> None:
        """Cancel what has begun and nobody will wait for, and end every port."""
        await self._playing.end()
        await self.bench.end()

    async def _greeted(self) -> bool:
        """Whether the port answers at all; asked once."""
        if self.greeting is None and self.unreachable is None:
            try:
                self.greeting = await self._budget.within(self.bench.greet())
                self.cut = self.bench.declined
            except Unreachable as error:
                self.unreachable = f"{error}{self.bench.target.advice}"
            except BudgetSpent:
                silence = f"The port did not answer the handshake within the budget of {self.options.budget:g} seconds."
                self.unreachable = f"{silence}{self.bench.heard}{self.bench.target.advice}"
        return self.unreachable is None and self.cut is None
