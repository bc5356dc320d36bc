"""Requests: the requests of one conversation, each sent, waited for, perhaps cancelled. Effect.

Every wait has a limit, which shrinks after a wait in vain.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from functools import partial
from typing import TypeAlias

from gemini_mcp.spec.values import Json, inside, table
from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.gemini import Gemini
from gemini_mcp_conformance.play.http_wire import HttpWire
from gemini_mcp_conformance.play.lateness import unhurried
from gemini_mcp_conformance.play.pace import Kind
from gemini_mcp_conformance.play.patience import Patience
from gemini_mcp_conformance.play.session import Session
from gemini_mcp_conformance.play.surroundings import directory, real_path, take_canaries
from gemini_mcp_conformance.see.attribution import Pending, own_responses, strays
from gemini_mcp_conformance.see.observation import Line, Place, Run
from gemini_mcp_conformance.spec.interpreter import is_absent
from gemini_mcp_conformance.spec.script import prepares
from gemini_mcp_conformance.spec.specification import Specification
from gemini_mcp_conformance.talk.durations import BUSY, seconds
from gemini_mcp_conformance.talk.messages import encode
from gemini_mcp_conformance.talk.steps import AUTO, Raw, Request, located

PAGES = 50
"""How many pages of one list are asked for at most."""

ARRIVAL = 1.0
"""Seconds that a call over HTTP has to begin before it is cancelled."""

PAUSE = 0.005
"""Seconds between two looks at the journal or at a directory."""

Send: TypeAlias = Callable[[], Awaitable[Line]]


@dataclass
class Requests:
    """The requests so far, in their order, and the patience with the next one."""

    session: Session
    place: Place
    spec: Specification
    fake: InitVar[Fake | None]
    patience: Patience
    every: list[Pending] = field(default_factory=list[Pending])
    lost: float = 0.0
    """Seconds for which answers were waited for in vain."""
    noise: list[Json] = field(default_factory=list[Json])
    """The ids, or None, in what was sent that is no request."""
    cancelled_before: tuple[Json, ...] = field(init=False)
    """The ids that earlier conversations on this port cancelled."""
    running_before: tuple[Mapping[str, Json], ...] = field(init=False)
    """The requests that earlier conversations on this port cancelled in vain."""

    def __post_init__(self, fake: Fake | None) -> None:
        self.gemini = Gemini(fake, self.spec, self.every)
        self.cancelled_before = tuple(self.session.cancelled)
        self.running_before = tuple(self.session.running_on)

    async def ask(self, number: int, step: Request) -> None:
        """Send the request of a step, and ask for the further pages of a list."""
        begun = [await self._sent(number, step) for _ in range(step.walks or 1)]
        for pending in begun[: step.walks]:
            await self._walk(number, step, pending)

    async def _walk(self, number: int, step: Request, pending: Pending) -> None:
        """Ask for the pages behind the first, as long as each names a new one."""
        seen: set[str] = set()
        while isinstance(cursor := next_cursor(pending.answers), str) and cursor not in seen and len(seen) < PAGES:
            seen.add(cursor)
            following = replace(step, params={**table(step.params), "cursor": cursor}, id=AUTO, walks=0)
            pending = await self._sent(number, following, is_page=True)

    async def _sent(self, number: int, step: Request, is_page: bool = False) -> Pending:
        id = self.session.next_id() if step.id == AUTO else step.id
        message = self.session.request(id, step.method, located(step.params, self.place.work), step.bare)
        send = partial(self._send, message, step)
        return await self.opened(number, step, message, send, is_page)

    async def _send(self, message: Mapping[str, Json], step: Request) -> Line:
        if step.until == "held":
            return self.session.hold(encode(message, step.escaped), message)
        return await self.session.send(message, self.patience.answer, step.escaped)

    async def opened(
        self, number: int, step: Request | Raw, message: Mapping[str, Json], send: Send, is_page: bool = False
    ) -> Pending:
        """Send a request, and wait as its step says."""
        before = self.temporary()
        mark, state = self.gemini.last(), self.gemini.state
        pending = Pending(self.spec, number, step, message, mark, is_page=is_page, gemini=state)
        self._find_directory(pending)
        self.every.append(pending)
        # Before the request is sent, since gemini may start as soon as the port has read it.
        self.gemini.load()
        pending.sent = await send()
        if step.until == "answered":
            await self.answered(pending)
            pending.leftovers = await self.leftovers(before) if pending.has_file else ()
            pending.canaries = take_canaries(self.place) if pending.has_canary else ()
        elif step.until not in ("sent", "held"):
            await self._begun(pending)
        return pending

    def _find_directory(self, pending: Pending) -> None:
        """Note where gemini is to run for a request, before anything can change there."""
        named = self.spec.directory(pending.tool) if pending.tool else None
        cwd = pending.arguments.get(named or "")
        is_none = named is None or is_absent(named, cwd, self.spec.invocation)
        pending.cwd = "none" if is_none else directory(cwd, self.place.work)
        is_there = pending.cwd in ("absolute", "relative")
        pending.directory = real_path(str(cwd), self.place.work) if is_there else ""

    async def _begun(self, pending: Pending) -> None:
        others = sum(other.is_unfinished for other in self.every) - 1
        if not await polled(lambda: self._has_begun(pending), self.patience.start_of(_kind(pending), others)):
            self.patience = self.patience.unstarted()
        pending.last = self.gemini.last() if pending.answers else None

    def _has_begun(self, pending: Pending) -> bool:
        """Whether gemini runs for a request, or lists sessions for it; once it is answered, none will."""
        if self._take(pending, False):
            return True
        if pending.step.until == "started":
            runs = self.gemini.runs_of(pending)
            is_hard = any(prepares(script.play) for script in pending.step.scripts)
            # To be hard to end gemini must get that far, unless it ends before.
            return any(not is_hard or run.call.is_prepared or self.gemini.has_ended((run,)) for run in runs)
        return any(run.call.kind == "list" for run in self.gemini.runs(pending.mark))

    async def answered(self, pending: Pending) -> None:
        """Wait for the answer. A response with a wrong id counts if no other request is pending."""
        unfinished = [other for other in self.every if other.is_unfinished]
        only, began = unfinished == [pending], self.session.now()
        # A busy port takes long to read what was sent before. After a wait in vain it gets no more time for that.
        reading = 0.0 if self.lost else self.session.unheeded / BUSY
        wait = self.patience.answer_to(_kind(pending), reading, not self.session.is_heard, len(unfinished) - 1)
        take = partial(self._take, pending, only)
        answered = await self.session.wait(take, wait, pending.id)
        if not answered and self.gemini.last() > pending.mark:
            scripts = self._scripts_of(pending)
            answered = await self.session.wait(take, scripts, pending.id)
            wait += scripts
        pending.last = self.gemini.last()
        if not answered and not self.session.wire.ended and self.session.wire.is_over(pending.id):
            pending.silence = "closed"
        elif not answered:
            pending.silence, pending.waited = "died" if self.session.wire.ended else "timeout", wait
            self.patience, self.lost = self.patience.lost(), self.lost + self.session.now() - began

    def _scripts_of(self, pending: Pending) -> float:
        """How long the scripts of a request are waited for."""
        return self.patience.scripts_of(_kind(pending), seconds(pending.step, self.spec.invocation.listing.timeout))

    def _take(self, pending: Pending, only: bool) -> bool:
        if not pending.answers:
            responses = self.session.responses
            own = own_responses(pending, responses)
            pending.answers = own[:1] or (self._strays(pending, responses)[:1] if only else ())
        return bool(pending.answers)

    def _strays(self, pending: Pending, responses: Sequence[Line]) -> tuple[Line, ...]:
        return strays(pending, self.every, responses, self.cancelled_before, self.noise)

    async def over(self, pending: Pending) -> None:
        """Wait until a request is answered, or the gemini of one that need not be answered has ended."""
        await (self.ended(pending) if pending.silence in ("cancelled", "ended") else self.answered(pending))

    def expect_nothing(self) -> None:
        """Wait for no answer any more: the port or its session has ended."""
        for pending in self.every:
            pending.silence = pending.silence or ("ended" if pending.is_unfinished else "")

    async def cancel(self, pending: Pending) -> None:
        """Cancel a request."""
        if isinstance(self.session.wire, HttpWire):
            # Requests over HTTP have no order: the cancellation could overtake the call.
            await polled(lambda: bool(self.gemini.runs_of(pending)) or self._has_begun(pending), ARRIVAL)
        pending.silence = "cancelled" if pending.is_unfinished else pending.silence
        await self.session.cancel(pending.id)

    async def ended(self, pending: Pending) -> None:
        """Wait until the runs of gemini for a cancelled request have ended."""
        runs = self.gemini.runs_of(pending)
        await self.gone(runs, self._time_to_end(pending, runs))
        pending.last = self.gemini.last() if pending.last is None else pending.last

    def _time_to_end(self, pending: Pending, runs: tuple[Run, ...]) -> float:
        """How long the runs of a cancelled request are waited for."""
        if any(run.call.kind == "list" for run in runs):
            # The port itself ends a list that takes too long.
            return self.patience.before(self.spec.invocation.listing.timeout)
        return self.patience.end_of(pending.step.scripts)

    async def gone(self, runs: tuple[Run, ...], patience: float | None = None) -> None:
        """Wait until no process of these runs lives."""
        if not await polled(lambda: self.gemini.has_ended(runs), patience or self.patience.end, 4 * PAUSE):
            self.patience = self.patience.lost()

    def temporary(self) -> frozenset[str]:
        """The directories in the temporary one; a file there, such as a log or a lock, holds no argument."""
        with os.scandir(self.place.tmp) as entries:
            return frozenset(entry.name for entry in entries if entry.is_dir())

    async def leftovers(self, before: frozenset[str]) -> tuple[str, ...]:
        """The directories that are new in the temporary directory and stay there."""
        if not await polled(lambda: self.temporary() <= before, self.patience.files):
            self.patience = self.patience.littered()
        return tuple(sorted(self.temporary() - before))


async def polled(condition: Callable[[], bool], seconds: float, pause: float = PAUSE) -> bool:
    """Whether the condition came true in time."""
    deadline = time.monotonic() + unhurried(seconds)
    while not condition():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(pause)
    return True


def next_cursor(answers: Sequence[Line]) -> Json:
    """The cursor of the page behind an answer, or None."""
    return inside(answers[0].table, "result", "nextCursor") if answers else None


def _kind(pending: Pending) -> Kind:
    return Kind(pending.message["method"], pending.tool or "", bool(pending.step.scripts))
