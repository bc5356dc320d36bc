"""Player: plays one conversation on an open session with the fake, and returns the Observation. Effect.

Every wait has a limit; the checks judge the lines and runs. A new kind of step is one method and one arm of `_step`.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from dataclasses import InitVar, dataclass, replace
from functools import partial
from typing import TypeAlias

from gemini_mcp.spec.values import Json, decode, inside
from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.http_wire import HttpWire, elsewhere
from gemini_mcp_conformance.play.lateness import Lateness
from gemini_mcp_conformance.play.patience import Patience
from gemini_mcp_conformance.play.record import Record
from gemini_mcp_conformance.play.requests import PAUSE, Requests, polled
from gemini_mcp_conformance.play.session import Session
from gemini_mcp_conformance.play.wire import StdioWire
from gemini_mcp_conformance.play.workplace import make_files, make_links, remove_files
from gemini_mcp_conformance.see.attribution import Pending, claimed
from gemini_mcp_conformance.see.observation import Exchange, Exit, Line, Observation, Place
from gemini_mcp_conformance.spec.specification import Specification
from gemini_mcp_conformance.talk.clients import is_marked
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.messages import SESSION, encode, handshake, is_request, notification, request
from gemini_mcp_conformance.talk.steps import (
    OTHER_SESSION,
    Arrange,
    Await,
    Cancel,
    End,
    Http,
    Listen,
    Neighbour,
    Notify,
    Raw,
    Release,
    Request,
    Step,
    located,
)

Glance: TypeAlias = Callable[[Conversation, Observation], Awaitable[None]]
"""Takes a conversation that goes on, and what was seen of it so far."""

TIME_TO_END = 1.0
"""Seconds that gemini has to end while nobody reads what the port writes."""

THEN = 0.1
"""Seconds from one way to end a port to the next: less than a gemini that ignores SIGTERM is given to end."""


@dataclass
class Player:
    """The state of one conversation while it is played."""

    session: Session
    fake: Fake | None
    place: Place
    conversation: Conversation
    spec: Specification
    patience: InitVar[Patience]
    lateness: Lateness
    glance: Glance | None = None
    """Called whenever a step has waited in vain: what it shows may be all that somebody wants to know."""
    exit: Exit | None = None
    is_reading: bool = True
    """Whether anybody reads what the port writes."""
    is_session_over: bool = False
    """Whether the port has ended the session when it was asked to."""

    def __post_init__(self, patience: Patience) -> None:
        self.requests = Requests(self.session, self.place, self.spec, self.fake, patience)
        self._gemini = self.requests.gemini
        self._gemini.state = self.conversation.gemini if self.conversation.gemini != "only" else "present"

    @property
    def lost(self) -> float:
        """Seconds for which answers were waited for in vain."""
        return self.requests.lost

    async def play(self, greeting: Exchange | None, first: bool) -> Observation:
        """Play every step. `first` says that the greeting belongs to this conversation."""
        self._gemini.forget_releases()
        record = Record(self.requests, self.conversation, self.lateness, greeting, first)
        before = self.requests.temporary()
        self.session.reserve(step.id for step in self.conversation.steps if isinstance(step, Request))
        for number, step in enumerate(itertools.takewhile(self._has_client, self.conversation.steps)):
            patience = self.requests.patience
            await self._step(number, step)
            # A wait in vain leaves less patience.
            if self.glance is not None and self.requests.patience is not patience:
                await self.glance(self.conversation, record.so_far(number, self.exit))
        await self._finish()
        seen = record.observed(self.exit)
        self.session.running_on += [each.request for each in seen.exchanges if each.runs_on]
        return record.completed(replace(seen, leftovers=await self.requests.leftovers(before)))

    def _has_client(self, step: Step) -> bool:
        """Whether there is somebody to take a step. A port may begin no sessions, or one at a time."""
        wire = self.session.wire
        is_theirs = isinstance(step, Request) and is_marked(step.id)
        return not is_theirs or (isinstance(wire, HttpWire) and wire.tells_clients_apart)

    async def _step(self, number: int, step: Step) -> None:
        match step:
            case Request():
                # Where a stranger could end the session, the answer would say nothing of the request.
                if not self.is_session_over:
                    await self.requests.ask(number, step)
            case Raw():
                await self._raw(number, step)
            case Notify():
                await self.session.send(notification(step.method, self._located(step.params)))
            case Await():
                await self.requests.over(self._named(step.name))
            case Cancel():
                await self._cancel(step)
            case Release():
                self._gemini.release(step.name)
            case End():
                await self._end(step)
            case Listen():
                await self._listen(step)
            case Arrange():
                remove_files(self.place, step.gone)
                make_files(self.place, step.files)
                make_links(self.place, step.links)
                self._gemini.become(step.gemini)
            case Http():
                await self._http(step)
            case Neighbour():
                await self._neighbour()

    async def _raw(self, number: int, step: Raw) -> None:
        message = decode(step.data)
        if is_request(message):
            await self.requests.opened(number, step, message, partial(self._written, step, message))
        else:
            self.requests.noise.append(inside(message, "id"))
            await self._written(step, message)

    async def _written(self, step: Raw, message: Json) -> Line:
        if step.until == "held":
            return self.session.hold(step.data, message)
        edges = (0, *step.cuts, len(step.data))
        pieces = [step.data[begin:end] for begin, end in itertools.pairwise(edges)]
        return await self.session.send_bytes(pieces, message, pause=step.pause)

    async def _cancel(self, step: Cancel) -> None:
        pending = self._named(step.name)
        await self.requests.cancel(pending)
        if step.until == "ended":
            await self.requests.ended(pending)

    async def _end(self, step: End) -> None:
        began, wire = time.monotonic(), self.session.wire
        over = {run.call.number for run in self._gemini.runs() if run.call.ended is not None}
        await wire.end(step.how)
        if step.then is not None:
            await asyncio.sleep(THEN)
            await wire.end(step.then)
        patience = self.requests.patience
        time_to_end = patience.end_of(script for each in self.requests.every for script in each.step.scripts)
        # A port that has said nothing yet may still be starting.
        time_to_end = time_to_end if self.session.is_heard else max(time_to_end, patience.launch)
        has_exited = await polled(lambda: wire.code is not None, time_to_end)
        self.exit = Exit(step.how, wire.code, time.monotonic() - began)
        # What it has written last is read too, unless nobody reads.
        if has_exited and self.is_reading:
            await self.session.wait_for_end(patience.end)
        # What a gemini has left that had ended before is nobody's affair.
        await self.requests.gone(tuple(run for run in self._gemini.runs() if run.call.number not in over))
        self.requests.expect_nothing()

    async def _listen(self, step: Listen) -> None:
        """A port that waits until it is read may keep gemini waiting, too."""
        await asyncio.sleep(step.wait)
        self.is_reading = step.on
        if step.on:
            runs = self._gemini.runs()
            await polled(lambda: self._gemini.has_ended(runs), TIME_TO_END, 4 * PAUSE)
        if step.leaves:
            self.session.wire.leave()
        else:
            self.session.wire.listen(step.on)

    async def _http(self, step: Http) -> None:
        wire = self.session.wire
        assert isinstance(wire, HttpWire)
        host = elsewhere() if step.elsewhere else None
        if step.elsewhere and host is None:
            return
        message = self._located(step.message)
        body = step.body if message is None else encode(message).strip()
        headers = {**wire.usual(message), **step.headers}
        kept = wire.filled(headers)
        # Of a port without sessions, another client cannot be told from this one.
        if OTHER_SESSION in step.headers.values() and SESSION not in kept:
            return
        task = wire.begin(wire.ask(step.verb, body, kept, host=host, stays=step.until == "sent"))
        if step.until == "sent":
            return
        await asyncio.wait((task,), timeout=max(self.requests.patience.answer, self.requests.patience.launch))
        if task.done() and task.result().ends_session and OTHER_SESSION not in step.headers.values():
            self.requests.expect_nothing()
            self.is_session_over = True
        task.cancel()

    async def _neighbour(self) -> None:
        wire = self.session.wire
        # A port at an address has been started by somebody else.
        if not isinstance(wire, StdioWire):
            return
        session = Session(wire.another(), self.session.revision)
        await session.open()
        try:
            await session.send(request("neighbour", "initialize", handshake(session.revision)))
            await session.wait(lambda: session.is_heard, self.requests.patience.launch)
            await session.wire.end("stdin")
            await session.wait_for_end(self.requests.patience.end)
        finally:
            session.wire.kill()
            await session.wire.closed()

    async def _finish(self) -> None:
        """Wait for the pending requests, then send one more, whose answer comes after everything else."""
        for pending in self.requests.every:
            if pending.is_unfinished and not pending.silence:
                await self.requests.answered(pending)
        loose = any(isinstance(step, Notify | Raw | Cancel) for step in self.conversation.steps)
        if loose and self.exit is None and not self.session.wire.ended:
            method = "server/discover" if self.session.is_stateless else "ping"
            await self.requests.ask(len(self.conversation.steps), Request(method))
        # A gemini that was only about to start when its call was cancelled may end later than the rest.
        cancelled = [each.step_number for each in self.requests.every if each.silence == "cancelled"]
        if cancelled:
            runs, unclaimed = claimed(self.requests.every, self._gemini.runs())
            theirs = [run for number in cancelled for run in runs.get(number, ()) if run.call.kind == "call"]
            await self.requests.gone((*theirs, *(run for run in unclaimed if run.call.kind == "list")))

    def _named(self, name: str) -> Pending:
        return next(pending for pending in self.requests.every if pending.step.name == name)

    def _located(self, params: Json) -> Json:
        return located(params, self.place.work)
