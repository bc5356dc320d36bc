"""Limits which calls run at once: one in each session, and a number in all. Effect: waits, and says so.

A reply can name its session by id, by its number in the list, or as the latest. Which session is the latest of a
directory is known only after an answer that nothing ran beside; where it is not known, replies of the directory wait
for each other. A call waits for its session before it takes a slot, so that it occupies none while it waits.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

Say = Callable[[str], Awaitable[None]]
Way = Literal["new", "id", "latest", "number"]
"""How a call names its session; a new one has no name yet."""

MAX_KNOWN = 1000
"""Directories whose latest session is remembered."""


@dataclass(eq=False)
class Turn:
    """One call. `session` becomes None where nobody knows which one it means; `answered` is the one that answered."""

    directory: str
    way: Way
    session: str | None
    answered: str | None = None
    is_alone: bool = True
    is_over: asyncio.Event = field(default_factory=asyncio.Event)

    def may_touch(self, other: "Turn") -> bool:
        """Whether both may continue one session."""
        if "new" in (self.way, other.way):
            return False
        # Two replies in one session at once interleave in its history.
        if self.session is None or other.session is None:
            return self.directory == other.directory
        return self.session == other.session


class SessionLocks:
    """The turns of one server that are not over, in the order in which they came, and its slots for running calls."""

    def __init__(self, slots: int) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._turns: list[Turn] = []
        self._latest: dict[str, str] = {}

    @asynccontextmanager
    async def hold(self, turn: Turn, say: Say) -> AsyncGenerator[None]:
        """Wait until a run may begin, and hold its session and its slot while the body runs."""
        self._begin(turn)
        try:
            await _wait_for([other.is_over for other in self._turns[:-1] if turn.may_touch(other)], say)
            if self._slots.locked():
                await say("Waiting for a running call to end")
            async with self._slots:
                yield
        finally:
            self._end(turn)

    def _begin(self, turn: Turn) -> None:
        beside = [other for other in self._turns if other.directory == turn.directory]
        if turn.way != "id":
            latest = self._latest.get(turn.directory)
            is_known = turn.way == "latest" and all(other.session == latest for other in beside)
            turn.session = latest if is_known else None
        for other in beside:
            if turn.session is None or turn.session != other.session:
                turn.is_alone = other.is_alone = False
        self._turns.append(turn)

    def _end(self, turn: Turn) -> None:
        self._turns.remove(turn)
        turn.is_over.set()
        # A reply by id or number may make its session the latest, or not: that depends on the version of Gemini CLI.
        is_latest = turn.way in ("new", "latest") or turn.answered == self._latest.get(turn.directory)
        if turn.answered is not None and turn.is_alone and is_latest and len(self._latest) < MAX_KNOWN:
            self._latest[turn.directory] = turn.answered
        else:
            self._latest.pop(turn.directory, None)


async def _wait_for(ends: Iterable[asyncio.Event], say: Say) -> None:
    waits = [end for end in ends if not end.is_set()]
    if waits:
        await say("Waiting for an earlier reply in this session")
    for end in waits:
        await end.wait()
