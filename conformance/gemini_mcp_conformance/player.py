"""Player: plays one conversation on an open session, with the fake beside it, and returns the Observation.

The steps happen here, and every wait, each with its bound; what the lines and runs mean is left to the checks. A new
kind of step is one method and one arm of `_step`.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from gemini_mcp_conformance.attribution import Open, claimed, exchange
from gemini_mcp_conformance.conversation import (
    AUTO,
    Await,
    Cancel,
    Conversation,
    End,
    Notify,
    Raw,
    Release,
    Request,
    Step,
    located,
)
from gemini_mcp_conformance.fake import Fake, Play
from gemini_mcp_conformance.observation import Exchange, Exit, Line, Observation, Place, Run
from gemini_mcp_conformance.session import Session, decode
from gemini_mcp_conformance.understanding import Understood, effective_prompt, understand
from gemini_mcp_conformance.values import Json, table

PAUSE = 0.005
"""Seconds between two looks at the journal or at a directory."""


@dataclass(frozen=True)
class Patience:
    """Seconds that the player waits for what should happen at once."""

    answer: float = 10
    start: float = 5
    end: float = 10
    files: float = 1

    def shortened(self) -> Patience:
        """After a port has kept silent once, it is waited for less."""
        return replace(self, answer=max(1.0, self.answer / 3), start=max(1.0, self.start / 3))


@dataclass
class Player:
    """The state of one conversation while it is played."""

    session: Session
    fake: Fake | None
    place: Place
    conversation: Conversation
    patience: Patience = field(default_factory=Patience)
    opens: list[Open] = field(default_factory=list[Open])
    exit: Exit | None = None

    async def play(self, greeting: Exchange | None, first: bool) -> Observation:
        """Play every step. `first` says that the greeting belongs to this conversation."""
        begin = 0 if first else len(self.session.lines)
        before = self._temporary()
        self.session.reserve(step.id for step in self.conversation.steps if isinstance(step, Request))
        for number, step in enumerate(self.conversation.steps):
            await self._step(number, step)
        await self._finish()
        runs = self._runs()
        lines = tuple(self.session.lines[begin:])
        by_open, unclaimed = claimed(self.opens, runs)
        exchanges = [exchange(open, self.opens, by_open, lines, self._frame()) for open in self.opens]
        return Observation(
            conversation=self.conversation,
            place=self.place,
            transport=self.session.wire.transport,
            lines=lines,
            exchanges=(*((greeting,) if greeting and first else ()), *exchanges),
            greeting=greeting,
            unclaimed=unclaimed,
            exit=self.exit,
            leftovers=await self._leftovers(before),
            stderr=self.session.wire.stderr(),
            died=self._death(),
            ids=tuple(open.id for open in self.opens if isinstance(open.step, Request)),
        )

    async def _step(self, number: int, step: Step) -> None:
        match step:
            case Request():
                await self._request(number, step)
            case Raw():
                await self._raw(number, step)
            case Notify():
                await self.session.send(self.session.notification(step.method, self._located(step.params)))
            case Await():
                await self._answered(self._named(step.name))
            case Cancel():
                await self._cancel(self._named(step.name))
            case Release():
                if self.fake is not None:
                    self.fake.release(step.name)
            case End():
                await self._end(step.how)

    async def _request(self, number: int, step: Request) -> None:
        id = self.session.next_id() if step.id == AUTO else step.id
        message = self.session.request(id, step.method, self._located(step.params), step.bare)
        await self._opened(number, step, message, lambda: self.session.send(message, self.patience.answer))

    async def _raw(self, number: int, step: Raw) -> None:
        edges = (0, *step.cuts, len(step.data))
        pieces = [step.data[begin:end] for begin, end in itertools.pairwise(edges)]
        message = decode(step.data)
        if {"method", "id"} <= set(table(message)):
            await self._opened(number, step, message, lambda: self.session.send_bytes(pieces, message))
        else:
            await self.session.send_bytes(pieces, message)

    async def _opened(
        self, number: int, step: Request | Raw, message: Mapping[str, Json], send: Callable[[], Awaitable[Line]]
    ) -> None:
        before = self._temporary()
        open = Open(number, step, message, self._last_run())
        self.opens.append(open)
        self._load()
        open.sent = await send()
        if step.until == "answered":
            await self._answered(open)
            open.leftovers = await self._leftovers(before) if open.has_system_prompt else ()
        elif step.until == "started":
            await self._poll(lambda: bool(self._runs_of(open)), self.patience.start)

    def _load(self) -> None:
        """What gemini plays: for one open request its scripts in order, for several each its own, by the prompt."""
        if self.fake is None:
            return
        pending = [open for open in self.opens if open.is_pending]
        matched = len(pending) > 1 or pending[0].step.until != "answered"
        plays = [
            Play(script, open.token if matched and open.token else None)
            for open in pending
            for script in open.step.scripts
        ]
        self.fake.load(plays)

    async def _answered(self, open: Open) -> None:
        """Stay until the answer. A response with a wrong id is taken for it when nothing else is open."""
        only = [other for other in self.opens if other.is_pending] == [open]
        answered = await self.session.wait(lambda: self._take(open, only), self.patience.answer)
        open.last = self._last_run()
        if not answered:
            open.silence = "died" if self.session.wire.ended else "timeout"

    def _take(self, open: Open, only: bool) -> bool:
        if open.answers:
            return True
        assert open.sent is not None
        since = [line for line in reversed(self.session.responses) if line.order > open.sent.order]
        known = [other for other in self.opens if other is not open]
        own = [line for line in since if open.is_answered_by(line)]
        strays = [line for line in since if not any(other.is_answered_by(line) for other in known)]
        open.answers = tuple(own or (strays if only else ()))[:1]
        return bool(open.answers)

    async def _cancel(self, open: Open) -> None:
        open.silence = "cancelled"
        params = {"requestId": open.id, "reason": "The suite cancels this call."}
        await self.session.send(self.session.notification("notifications/cancelled", params))
        await self._gone(self._runs_of(open))
        open.last = self._last_run()

    async def _end(self, how: str) -> None:
        began = time.monotonic()
        await self.session.wire.end(how)
        ended = await self.session.wait_for_end(self.patience.end)
        self.exit = Exit(how, self.session.wire.code if ended else None, time.monotonic() - began)
        await self._gone(self._runs())
        for open in self.opens:
            open.silence = open.silence or ("ended" if open.is_pending else "")

    async def _finish(self) -> None:
        """Wait for what is still open, then ask once more, so that whatever was coming has come."""
        for open in self.opens:
            if open.is_pending and not open.silence:
                await self._answered(open)
        loose = any(isinstance(step, Notify | Raw | Cancel) for step in self.conversation.steps)
        if loose and self.exit is None and not self.session.wire.ended:
            method = "server/discover" if self.session.is_stateless else "ping"
            await self._request(len(self.conversation.steps), Request(method))

    async def _gone(self, runs: tuple[Run, ...]) -> None:
        fake = self.fake
        if fake is not None and runs:
            await self._poll(lambda: not any(fake.alive(run.call) for run in runs), self.patience.end, 4 * PAUSE)

    async def _poll(self, condition: Callable[[], bool], seconds: float, pause: float = PAUSE) -> bool:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(pause)
        return True

    def _runs(self) -> tuple[Run, ...]:
        since = self.opens[0].mark if self.opens else 0
        calls = self.fake.calls() if self.fake is not None else ()
        return tuple(self._run(call) for call in calls if call.number > since)

    def _run(self, call: Json) -> Run:
        assert self.fake is not None
        understood = understand(call.argv)
        prompt = effective_prompt(understood, call.stdin) if isinstance(understood, Understood) else None
        survivors = self.fake.living(call) if call.ended is None or call.children else frozenset[int]()
        return Run(call, understood, prompt, survivors)

    def _runs_of(self, open: Open) -> tuple[Run, ...]:
        runs, _ = claimed(self.opens, self._runs())
        return tuple(run for run in runs.get(open.step_number, ()) if run.call.kind == "call")

    def _last_run(self) -> int:
        return max((call.number for call in self.fake.starts()), default=0) if self.fake is not None else 0

    def _named(self, name: str) -> Open:
        return next(open for open in self.opens if open.step.name == name)

    def _located(self, params: Json) -> Json:
        return located(params, self.place.work)

    def _temporary(self) -> frozenset[str]:
        return frozenset(os.listdir(self.place.tmp))

    async def _leftovers(self, before: frozenset[str]) -> tuple[str, ...]:
        """What is new below the temporary directory and stays there."""
        await self._poll(lambda: self._temporary() <= before, self.patience.files)
        return tuple(sorted(self._temporary() - before))

    def _death(self) -> str | None:
        if not self.session.wire.ended or self.exit is not None:
            return None
        code = self.session.wire.code
        return "closed its stdout" if code is None else f"exited with {code}"

    def _frame(self) -> Json:
        return {
            "conversation": self.conversation.id,
            "place": self.place,
            "revision": self.session.revision,
            "transport": self.session.wire.transport,
            "gemini": self.conversation.gemini,
            "directories": frozenset(self._directories()),
        }

    def _directories(self) -> list[str]:
        made = [name for name, text in self.conversation.files.items() if text is None]
        return [".", *made, *(f"{self.place.work}/{name}" for name in made)]
