"""Bench: starts and ends the ports of a run, and plays the conversations on them. Effect.

It creates and removes every directory and process of a run. A port that died or kept silent is started again for the
next conversation; the observation says so.
"""

from __future__ import annotations

import asyncio
import shutil
import signal
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import ClassVar

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.fake.proof import prove
from gemini_mcp_conformance.play.fake.watched import watched
from gemini_mcp_conformance.play.greeting import Greeter, declining, unanswered, ungreeted
from gemini_mcp_conformance.play.lateness import Lateness
from gemini_mcp_conformance.play.pace import Pace
from gemini_mcp_conformance.play.patience import Patience
from gemini_mcp_conformance.play.player import Glance, Player
from gemini_mcp_conformance.play.port_process import Death, PortProcess
from gemini_mcp_conformance.play.session import Session
from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.play.wire import StdioWire, Unreachable, Wire
from gemini_mcp_conformance.play.workplace import FAKE, PORT, environment, make_files, make_place, scratch
from gemini_mcp_conformance.see.observation import Exchange, Observation, Place
from gemini_mcp_conformance.see.witness import stderr_shown
from gemini_mcp_conformance.spec.specification import Specification
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.steps import Request

JOURNAL = 64
"""Runs of gemini after which the journal of a shared fake is cleared, because a long one is slow to read."""

ECHO = "The port sent the suite's own messages back. Name the command that starts the server."


class Bench:
    """The running ports of a run."""

    limit: ClassVar[int | None] = None
    """How many tracks can run at once; None is any number."""

    def __init__(self, target: Target, spec: Specification, patience: Patience | None = None) -> None:
        self.target = target
        self.spec = spec
        self._watched = watched(spec.invocation, spec.outcome, spec.live)
        self.pace = Pace()
        """What the ports of this run took so far."""
        self._patience = patience or Patience()
        self._lateness = Lateness()
        self._root = Path(tempfile.mkdtemp(prefix="gemini-conformance-", dir=scratch()))
        self._ports: list[PortProcess] = []
        self._endings: list[asyncio.Future[None]] = []
        self._tracks: dict[int, PortProcess] = {}
        self._made = 0
        self._greeter = Greeter(spec.manifest, target.revision, self._ask)
        self.glance: Glance | None = None
        """Looks at conversations that go on and have waited in vain."""
        self.deaths: list[Death] = []
        """In the order in which they were noticed."""

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def prove_fake(self) -> None:
        """Show that a fake works in the directory of this run, before any port is judged by one; else SuiteError."""
        prove(self._root / "proof")

    async def greet(self) -> Exchange:
        """Start the port and greet it; Unreachable when it does not answer."""
        port = await self._port_for(Conversation("greeting", "", ()), 0)
        assert port.greeting is not None
        if port.greeting.answer is None:
            raise Unreachable(unanswered(port, self.patience.launch))
        sent, *others = port.session.lines
        if any(line.data == sent.data for line in others):
            raise Unreachable(ECHO)
        return port.greeting

    async def play(self, conversation: Conversation, track: int = 0) -> Observation:
        """Play one conversation. Those of one track follow each other, on one port process as far as they can."""
        port = await self._port_for(conversation, track)
        try:
            before = port.played
            observation = await self._play(port, conversation)
            # A port that ended without a word may have been ended by the conversation before.
            if before is None or observation.died is None or any(observation.received):
                return observation
            port.played = None
            return await self._again(before, track)
        finally:
            if conversation.needs_new_port or conversation.ends:
                await self.end_track(track)

    async def end_track(self, track: int) -> None:
        """End the port of a track."""
        port = self._tracks.pop(track, None)
        if port is not None:
            self._note_death(port)
            await self._end_port(port)

    @property
    def patience(self) -> Patience:
        """How long a port is waited for by now."""
        return self._patience.at(self.pace)

    @property
    def heard(self) -> str:
        """What a port that did not answer wrote instead, as sentences."""
        return "".join(port.heard for port in self._ports)

    @property
    def declined(self) -> str | None:
        """Why the port does not speak the revision that the run asks for."""
        return self._tracks[0].declined if 0 in self._tracks else None

    async def end(self) -> None:
        """End every process and wait for it, so that the event loop can close."""
        for track in tuple(self._tracks):
            await self.end_track(track)
        for port in tuple(self._ports):
            await self._end_port(port)
        await asyncio.gather(*self._endings)
        await self._lateness.end()

    def close(self) -> None:
        """End every process and remove every file of the run; a second interrupt does not stop it."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
        try:
            for port in tuple(self._ports):
                self._kill(port)
            _remove(self._root)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    async def _play(self, port: PortProcess, conversation: Conversation) -> Observation:
        if (reason := port.declined or self._greeter.unfit(port, conversation)) is not None:
            return declining(port, conversation, self.spec, reason)
        if port.greeting is not None and port.greeting.answer is None:
            await self._end_port(port)
            return ungreeted(port, conversation, self.spec)
        make_files(port.place, conversation.files)
        if port.fake is not None and port.fake.last() > JOURNAL:
            port.fake.reset()
        player = self._player(port, conversation, self.glance)
        # Before it is over: it may be broken off, and what has ended the port is then this one.
        port.played = conversation
        observation = await player.play(port.greeting, port.is_new)
        self.pace = self.pace.after(observation, player.lost)
        port.is_new = False
        if observation.died is not None:
            told = stderr_shown(observation.stderr, port.place.root)
            self.deaths.append(Death(conversation, observation.died, told))
        # A late answer could be taken for one of the next conversation.
        if any(exchange.silence == "timeout" for exchange in observation.exchanges):
            await self._end_port(port)
        return observation

    async def _again(self, before: Conversation, track: int) -> Observation:
        """Play on a new port a conversation in which the last port said nothing and ended.

        If the new port does not end, the conversation before it ended the last one.
        """
        death = self.deaths.pop()
        again = await self._play(await self._port_for(death.conversation, track), death.conversation)
        if again.died is None:
            self.deaths.append(replace(death, conversation=before))
        return again

    def _player(self, port: PortProcess, conversation: Conversation, glance: Glance | None = None) -> Player:
        self._lateness.start()
        session, fake, place = port.session, port.fake, port.place
        return Player(session, fake, place, conversation, self.spec, self.patience, self._lateness, glance)

    async def _port_for(self, conversation: Conversation, track: int) -> PortProcess:
        """The port of a track, or a new one in its place when it has ended or does not suit."""
        port = self._tracks.get(track)
        if port is not None and port in self._ports and port.suits(conversation):
            return port
        await self.end_track(track)
        port = self._tracks[track] = await self._start(conversation)
        return port

    def _note_death(self, port: PortProcess) -> None:
        """A port that ended between two conversations was ended by the first of them."""
        wire, last = port.session.wire, port.played
        is_known = last in [death.conversation for death in self.deaths]
        if port in self._ports and wire.ended and last is not None and not last.ends and not is_known:
            self.deaths.append(Death(last, f"exited with {wire.code}", port.told))

    async def _start(self, conversation: Conversation) -> PortProcess:
        self._made += 1
        place, fake = self._workplace(self._root / str(self._made))
        session = Session(self._wire(conversation, place, fake), self.spec.manifest.handshake_revisions[-1])
        port = PortProcess(session, fake, place, conversation.circumstances)
        self._ports.append(port)
        await session.open()
        if fake is not None and session.wire.pid is not None:
            fake.know_stdin(session.wire.pid)
        if conversation.greet:
            await self._greeter.greet(port, conversation.revision)
        return port

    def _workplace(self, root: Path) -> tuple[Place, Fake | None]:
        """The directories and the fake of one port process."""
        return make_place(root / PORT), Fake.create(root / FAKE, self._watched)

    def _wire(self, conversation: Conversation, place: Place, fake: Fake | None) -> Wire:
        assert fake is not None
        env = environment(self.target, place, fake, conversation.gemini, conversation.env)
        fake.expect(env)
        return StdioWire(self.target.argv, env, place.work)

    async def _ask(self, port: PortProcess, method: str, params: Json) -> Exchange:
        """One request outside any conversation; the first conversation of the port shows it as its own."""
        greeting = Conversation("greeting", "", (Request(method, params),))
        player = self._player(port, greeting)
        seen = await player.play(None, first=True)
        self.pace = self.pace.after(seen, player.lost)
        # Only the first request of a port has to wait for its start.
        if seen.exchanges[0].answers and seen.exchanges[0].sent.order == 0:
            self.pace = self.pace.started(seen.exchanges[0].answers[0].at)
        return seen.exchanges[0]

    async def _end_port(self, port: PortProcess) -> None:
        self._kill(port)
        # A track that is cancelled does not wait any more, and asyncio complains of a process that nobody waits for.
        ending = asyncio.ensure_future(port.session.wire.closed())
        self._endings.append(ending)
        await asyncio.shield(ending)

    def _kill(self, port: PortProcess) -> None:
        if port not in self._ports:
            return
        self._ports.remove(port)
        port.session.wire.kill()
        if port.fake is not None:
            port.fake.close()
        shutil.rmtree(Path(port.place.root).parent, ignore_errors=True)


def _remove(root: Path) -> None:
    """Remove a directory in which a process that has just been killed may still have written."""
    deadline = time.monotonic() + 2
    shutil.rmtree(root, ignore_errors=True)
    while root.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
        shutil.rmtree(root, ignore_errors=True)
