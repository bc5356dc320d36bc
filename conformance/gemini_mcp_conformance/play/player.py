"""Player: plays one conversation on an open session with the fake, and returns the Observation. Effect.

All steps and all waits happen here, and every wait has a limit; the checks judge the lines and runs. A new kind of step
is one method and one arm of `_step`.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from gemini_mcp.spec.values import Json, decode, inside, table
from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.gemini import Gemini
from gemini_mcp_conformance.play.http_wire import HttpWire, elsewhere
from gemini_mcp_conformance.play.lateness import Lateness
from gemini_mcp_conformance.play.pace import Kind
from gemini_mcp_conformance.play.patience import Patience
from gemini_mcp_conformance.play.session import Session
from gemini_mcp_conformance.play.surroundings import directory, real_path, take_canaries
from gemini_mcp_conformance.play.workplace import make_files, make_links, remove_files
from gemini_mcp_conformance.see.attribution import Pending, claimed, exchange, is_late, taken
from gemini_mcp_conformance.see.observation import Exchange, Exit, Line, Observation, Place, Run, Web
from gemini_mcp_conformance.spec.interpreter import is_absent
from gemini_mcp_conformance.spec.specification import Specification
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.durations import BUSY, seconds
from gemini_mcp_conformance.talk.messages import encode, is_request, notification
from gemini_mcp_conformance.talk.steps import (
    AUTO,
    Arrange,
    Await,
    Cancel,
    End,
    Http,
    Listen,
    Notify,
    Raw,
    Release,
    Request,
    Step,
    located,
)

PAGES = 50
"""How many pages of one list are asked for at most."""

TIME_TO_END = 1.0
"""Seconds that gemini has to end while nobody reads what the port writes."""

ARRIVAL = 1.0
"""Seconds that a call over HTTP has to begin before it is cancelled."""

PAUSE = 0.005
"""Seconds between two looks at the journal or at a directory."""


@dataclass
class Player:
    """The state of one conversation while it is played."""

    session: Session
    fake: Fake | None
    place: Place
    conversation: Conversation
    spec: Specification
    patience: Patience = field(default_factory=Patience)
    lateness: Lateness = field(default_factory=Lateness)
    requests: list[Pending] = field(default_factory=list[Pending])
    exit: Exit | None = None
    began: float = field(default_factory=time.monotonic)
    lost: float = 0.0
    """Seconds for which answers were waited for in vain."""
    _sent_noise: bool = False
    _cancelled: tuple[Json, ...] = ()

    def __post_init__(self) -> None:
        self._gemini = Gemini(self.fake, self.spec, self.requests)

    async def play(self, greeting: Exchange | None, first: bool) -> Observation:
        """Play every step. `first` says that the greeting belongs to this conversation."""
        self._gemini.forget_releases()
        begin = 0 if first else len(self.session.lines)
        asked = 0 if first else len(self._web())
        before = self._temporary()
        self._cancelled = tuple(self.session.cancelled)
        self.session.reserve(step.id for step in self.conversation.steps if isinstance(step, Request))
        for number, step in enumerate(self.conversation.steps):
            await self._step(number, step)
        await self._finish()
        lines = tuple(line for line in self.session.lines[begin:] if not is_late(line, self._cancelled, self.requests))
        seen = self._observed(lines, greeting if first else None)
        seen = replace(seen, greeting=greeting, leftovers=await self._leftovers(before))
        wire = self.session.wire
        web = tuple(replace(web, manifest=self.spec.manifest) for web in self._web()[asked:])
        delay = self.lateness.since(self.began)
        return replace(seen, stderr=wire.stderr(), died=self._death(), delay=delay, web=web)

    def _observed(self, lines: tuple[Line, ...], greeting: Exchange | None) -> Observation:
        """What was said and run, before it is known what is left."""
        by_step, unclaimed = claimed(self.requests, self._gemini.examined_runs())
        frame = self._frame()
        exchanges = [exchange(pending, self.requests, by_step, lines, frame) for pending in self.requests]
        asked = [each for each in self.requests if isinstance(each.step, Request) and not each.is_page]
        return Observation(
            conversation=self.conversation,
            spec=self.spec,
            place=self.place,
            transport=self.session.wire.transport,
            lines=lines,
            exchanges=(*((greeting,) if greeting else ()), *exchanges),
            unclaimed=unclaimed,
            exit=self.exit,
            ids=tuple(pending.id for pending in asked),
        )

    def _web(self) -> Sequence[Web]:
        """The requests over HTTP so far."""
        return self.session.wire.web if isinstance(self.session.wire, HttpWire) else ()

    async def _step(self, number: int, step: Step) -> None:
        match step:
            case Request():
                await self._request(number, step)
            case Raw():
                await self._raw(number, step)
            case Notify():
                await self.session.send(notification(step.method, self._located(step.params)))
            case Await():
                await self._answered(self._named(step.name))
            case Cancel():
                await self._cancel(self._named(step.name))
            case Release():
                self._gemini.release(step.name)
            case End():
                await self._end(step.how)
            case Listen():
                await self._listen(step)
            case Arrange():
                remove_files(self.place, step.gone)
                make_files(self.place, step.files)
                make_links(self.place, step.links)
            case Http():
                await self._http(step)

    async def _request(self, number: int, step: Request) -> None:
        id = self.session.next_id() if step.id == AUTO else step.id
        message = self.session.request(id, step.method, self._located(step.params), step.bare)
        send = partial(self.session.send, message, self.patience.answer, step.escaped)
        pending = await self._opened(number, step, message, send)
        if step.pages:
            await self._pages(number, step, pending)

    async def _pages(self, number: int, step: Request, pending: Pending) -> None:
        """Ask for the pages behind the first, as long as each names a new one."""
        seen: set[str] = set()
        while isinstance(cursor := next_cursor(pending.answers), str) and cursor not in seen and len(seen) < PAGES:
            seen.add(cursor)
            following = replace(step, params={**table(step.params), "cursor": cursor}, id=AUTO, pages=False)
            message = self.session.request(self.session.next_id(), step.method, following.params)
            send = partial(self.session.send, message, self.patience.answer)
            pending = await self._opened(number, following, message, send, True)

    async def _raw(self, number: int, step: Raw) -> None:
        edges = (0, *step.cuts, len(step.data))
        pieces = [step.data[begin:end] for begin, end in itertools.pairwise(edges)]
        message = decode(step.data)
        if is_request(message):
            send = partial(self.session.send_bytes, pieces, message, pause=step.pause)
            await self._opened(number, step, message, send)
        else:
            self._sent_noise = True
            await self.session.send_bytes(pieces, message, pause=step.pause)

    async def _opened(
        self,
        number: int,
        step: Request | Raw,
        message: Mapping[str, Json],
        send: Callable[[], Awaitable[Line]],
        is_page: bool = False,
    ) -> Pending:
        before = self._temporary()
        pending = Pending(self.spec, number, step, message, self._gemini.last(), is_page=is_page)
        named = self.spec.directory(pending.tool) if pending.tool else None
        cwd = pending.arguments.get(named or "")
        is_none = named is None or is_absent(named, cwd, self.spec.invocation)
        pending.cwd = "none" if is_none else directory(cwd, self.place.work)
        is_there = pending.cwd in ("absolute", "relative")
        pending.directory = real_path(str(cwd), self.place.work) if is_there else ""
        self.requests.append(pending)
        # Before the request is sent, since gemini may start as soon as the port has read it.
        self._gemini.load()
        pending.sent = await send()
        if step.until == "answered":
            await self._answered(pending)
            pending.leftovers = await self._leftovers(before) if pending.has_file else ()
            pending.canaries = take_canaries(self.place) if pending.has_canary else ()
        elif step.until != "sent":
            others = sum(other.is_unfinished for other in self.requests) - 1
            if not await self._poll(lambda: self._has_begun(pending), self.patience.start_of(_kind(pending), others)):
                self.patience = self.patience.unstarted()
            pending.last = self._gemini.last() if pending.answers else None
        return pending

    def _has_begun(self, pending: Pending) -> bool:
        """Whether gemini runs for a request, or lists sessions for it, or the request is answered without a list."""
        if pending.step.until == "started":
            return bool(self._gemini.runs_of(pending))
        return self._take(pending, False) or any(run.call.kind == "list" for run in self._gemini.runs(pending.mark))

    async def _answered(self, pending: Pending) -> None:
        """Wait for the answer. A response with a wrong id counts if no other request is pending."""
        unfinished = [other for other in self.requests if other.is_unfinished]
        only, began = unfinished == [pending], self.session.now()
        # A busy port takes long to read what was sent before. After a wait in vain it gets no more time for that.
        unheeded = 0 if self.lost else self.session.unheeded
        at_least = seconds(pending.step, self.spec.invocation.listing.timeout) + unheeded / BUSY
        wait = self.patience.answer_to(_kind(pending), at_least, not self.session.is_heard, len(unfinished) - 1)
        answered = await self.session.wait(lambda: self._take(pending, only), wait)
        pending.last = self._gemini.last()
        if not answered:
            pending.silence, pending.waited = "died" if self.session.wire.ended else "timeout", wait
            self.patience, self.lost = self.patience.lost(), self.lost + self.session.now() - began

    def _take(self, pending: Pending, only: bool) -> bool:
        if not pending.answers:
            own, strays = taken(pending, self.requests, self.session.responses, self._cancelled, self._sent_noise)
            pending.answers = (own or (strays if only else ()))[:1]
        return bool(pending.answers)

    async def _cancel(self, pending: Pending) -> None:
        if isinstance(self.session.wire, HttpWire):
            # Requests over HTTP have no order: the cancellation could overtake the call.
            await self._poll(lambda: self._has_begun(pending), ARRIVAL)
        pending.silence = "cancelled" if pending.is_unfinished else pending.silence
        await self.session.cancel(pending.id)
        await self._gone(self._gemini.runs_of(pending))
        pending.last = self._gemini.last() if pending.last is None else pending.last

    async def _end(self, how: str) -> None:
        began = time.monotonic()
        await self.session.wire.end(how)
        wire = self.session.wire
        # A port may close its stdout before it exits.
        if await self.session.wait_for_end(self.patience.end):
            await self._poll(lambda: wire.code is not None, self.patience.end)
        self.exit = Exit(how, wire.code, time.monotonic() - began)
        await self._gone(self._gemini.runs())
        for pending in self.requests:
            pending.silence = pending.silence or ("ended" if pending.is_unfinished else "")

    async def _listen(self, step: Listen) -> None:
        """A port that waits until it is read may keep gemini waiting, too."""
        await asyncio.sleep(step.wait)
        if step.on:
            runs = self._gemini.runs()
            await self._poll(lambda: self._gemini.has_ended(runs), TIME_TO_END, 4 * PAUSE)
        self.session.wire.listen(step.on)

    async def _http(self, step: Http) -> None:
        wire = self.session.wire
        assert isinstance(wire, HttpWire)
        host = elsewhere() if step.elsewhere else None
        if step.elsewhere and host is None:
            return
        message = self._located(step.message)
        body = b"" if message is None else encode(message).strip()
        headers = {**wire.headers(message), **step.headers}
        kept = {name: value for name, value in headers.items() if value is not None}
        task = asyncio.ensure_future(wire.ask(step.verb, body, kept, host=host))
        await asyncio.wait((task,), timeout=max(self.patience.answer, self.patience.launch))
        task.cancel()

    async def _finish(self) -> None:
        """Wait for the pending requests, then send one more, whose answer comes after everything else."""
        for pending in self.requests:
            if pending.is_unfinished and not pending.silence:
                await self._answered(pending)
        loose = any(isinstance(step, Notify | Raw | Cancel) for step in self.conversation.steps)
        if loose and self.exit is None and not self.session.wire.ended:
            method = "server/discover" if self.session.is_stateless else "ping"
            await self._request(len(self.conversation.steps), Request(method))

    async def _gone(self, runs: tuple[Run, ...]) -> None:
        if not await self._poll(lambda: self._gemini.has_ended(runs), self.patience.end, 4 * PAUSE):
            self.patience = self.patience.lost()

    async def _poll(self, condition: Callable[[], bool], seconds: float, pause: float = PAUSE) -> bool:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(pause)
        return True

    def _named(self, name: str) -> Pending:
        return next(pending for pending in self.requests if pending.step.name == name)

    def _located(self, params: Json) -> Json:
        return located(params, self.place.work)

    def _temporary(self) -> frozenset[str]:
        return frozenset(os.listdir(self.place.tmp))

    async def _leftovers(self, before: frozenset[str]) -> tuple[str, ...]:
        """The files that are new in the temporary directory and stay there."""
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
            "delay": self.lateness.since(self.began),
        }


def next_cursor(answers: Sequence[Line]) -> Json:
    """The cursor of the page behind an answer, or None."""
    return inside(answers[0].table, "result", "nextCursor") if answers else None


def _kind(pending: Pending) -> Kind:
    return Kind(pending.message["method"], pending.tool or "", bool(pending.step.scripts))
