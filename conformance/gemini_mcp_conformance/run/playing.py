"""Playing: plays the conversations of a run on tracks side by side, and judges each as soon as it ends. Effect.

All begin when the first is asked for. A conversation is left out if the port has shown that it would be in vain.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from math import ceil

from gemini_mcp_conformance.judge.finding import Finding
from gemini_mcp_conformance.play.bench import Bench
from gemini_mcp_conformance.play.tracks import tracks_of
from gemini_mcp_conformance.see.observation import Observation
from gemini_mcp_conformance.talk.conversation import Conversation

Findings = tuple[Finding, ...]

SHARING = 12
"""Conversations that take about as long as the start of a port."""


def worthwhile(conversations: Sequence[Conversation], jobs: int) -> int:
    """How many of the ports side by side are worth their start: one for a few conversations that can share it."""
    apart = sum(conversation.alone for conversation in conversations)
    return max(1, min(jobs, apart + ceil((len(conversations) - apart) / SHARING)))


class Playing:
    """What was begun, and what has come of it. `judge` says what is found in a conversation."""

    def __init__(
        self,
        bench: Bench,
        conversations: Sequence[Conversation],
        jobs: int,
        judge: Callable[[Observation], Awaitable[Findings]],
    ) -> None:
        self._bench, self._conversations, self._jobs, self._judge = bench, conversations, jobs, judge
        self._begun: dict[str, asyncio.Future[Findings]] = {}
        self._enough: asyncio.Future[None] | None = None
        self._tracks: list[asyncio.Task[None]] = []
        self.seconds: dict[str, float] = {}
        """How long each conversation took."""
        self.given_up: str | None = None
        """Why some conversations were not played."""

    def begin(self) -> None:
        """Begin every track; a second time changes nothing."""
        if not self._tracks:
            loop = asyncio.get_running_loop()
            self._enough = loop.create_future()
            self._begun = {conversation.id: loop.create_future() for conversation in self._conversations}
            jobs = self._bench.limit or worthwhile(self._conversations, self._jobs)
            tracks, slots = tracks_of(self._conversations, jobs), asyncio.Semaphore(jobs)
            self._tracks = [loop.create_task(self._follow(n, track, slots)) for n, track in enumerate(tracks)]

    def is_worth(self, conversation: Conversation) -> bool:
        """Whether a conversation should be played, as far as the port has shown."""
        reason = self._bench.pace.given_up(conversation)
        self.given_up = self.given_up or reason
        return reason is None

    async def found(self, conversation: Conversation) -> Findings:
        """Wait for the findings of a conversation; none if it was asked for before, or if enough is known."""
        playing = self._begun.get(conversation.id)
        if playing is None or self._enough is None:
            return ()
        # The budget may end this wait. The conversation goes on, so that `finished` can still offer it.
        await asyncio.wait((playing, self._enough), return_when=asyncio.FIRST_COMPLETED)
        if not playing.done():
            return ()
        del self._begun[conversation.id]
        return playing.result()

    def goes_on(self, conversation: Conversation) -> bool:
        """Whether a conversation is played that somebody will ask for."""
        playing = self._begun.get(conversation.id)
        return playing is not None and not playing.done()

    def settle(self, conversation: Conversation, findings: Findings) -> None:
        """Take what was found so far for all that a conversation has shown."""
        self._begun[conversation.id].set_result(findings)

    @property
    def is_enough(self) -> bool:
        """Whether enough is known of the port."""
        return self._enough is not None and self._enough.done()

    def end_waits(self) -> None:
        """Let nobody wait any more: enough is known of the port."""
        if self._enough is not None and not self.is_enough:
            self._enough.set_result(None)

    def finished(self) -> Iterator[Finding]:
        """The findings of conversations that have been played, and that nobody has asked for yet."""
        for id, playing in tuple(self._begun.items()):
            if playing.done() and not playing.cancelled() and playing.exception() is None:
                del self._begun[id]
                yield from playing.result()

    async def end(self) -> None:
        """Cancel the tracks, and drop what nobody will wait for."""
        for task in self._tracks:
            task.cancel()
        await asyncio.gather(*self._tracks, return_exceptions=True)
        for playing in self._begun.values():
            # asyncio complains of an exception that nobody has asked for.
            if not playing.cancel():
                playing.exception()

    async def _follow(self, number: int, track: Sequence[Conversation], slots: asyncio.Semaphore) -> None:
        """Play the conversations of a track, one after the other."""
        async with slots:
            for conversation in track:
                playing = self._begun[conversation.id]
                try:
                    observation = await self._played(conversation, number)
                    found = () if observation is None else await self._judge(observation)
                    # It is done if it was settled while it went on.
                    if not playing.done():
                        playing.set_result(found)
                except Exception as error:
                    playing.set_exception(error)
            await self._bench.end_track(number)

    async def _played(self, conversation: Conversation, number: int) -> Observation | None:
        """Play a conversation, unless it would be in vain, and note how long it took."""
        began = time.monotonic()
        try:
            return await self._bench.play(conversation, number) if self.is_worth(conversation) else None
        finally:
            self.seconds[conversation.id] = time.monotonic() - began
