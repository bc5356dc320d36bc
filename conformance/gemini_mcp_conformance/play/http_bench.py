"""HTTP bench: plays conversations on one running port and, if asked for, on the same port over stdio too. Effect.

All conversations share the port and its fake, so they run one after another. The port is not ended, and its files are
not removed; only processes that gemini left running are ended.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from gemini_mcp_conformance.play.bench import Bench
from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.http_wire import HttpWire
from gemini_mcp_conformance.play.patience import Patience
from gemini_mcp_conformance.play.port_process import PortProcess
from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.play.wire import Wire
from gemini_mcp_conformance.play.workplace import make_place
from gemini_mcp_conformance.see.observation import Observation, Place
from gemini_mcp_conformance.spec.specification import Specification
from gemini_mcp_conformance.talk.conversation import Conversation


class HttpBench(Bench):
    """Sessions with the port at one address."""

    limit = 1

    def __init__(self, target: Target, spec: Specification, patience: Patience | None = None) -> None:
        super().__init__(target, spec, patience)
        is_double = bool(target.command) and target.fake is not None
        self._fake = None if target.fake is None else Fake(target.fake.resolve() / "fake", self._watched)
        self._twin = Bench(replace(target, url=None, fake=None), spec, patience) if is_double else None

    async def play(self, conversation: Conversation, track: int = 0) -> Observation:
        """Play one conversation over HTTP, and over stdio too if both are compared."""
        if self._twin is None or conversation.alone or conversation.needs_http:
            return await super().play(conversation, track)
        observation, twin = await asyncio.gather(super().play(conversation, track), self._twin.play(conversation))
        return observation if observation.declined else replace(observation, twin=twin)

    async def end(self) -> None:
        await super().end()
        if self._twin is not None:
            await self._twin.end()

    def close(self) -> None:
        super().close()
        if self._twin is not None:
            self._twin.close()

    def _workplace(self, root: Path) -> tuple[Place, Fake | None]:
        if self._fake is None:
            return make_place(root), None
        port = self._fake.root.with_name("port")
        return Place(str(port), *(str(port / name) for name in ("work", "home", "tmp"))), self._fake

    def _wire(self, conversation: Conversation, place: Place, fake: Fake | None) -> Wire:
        assert self.target.url is not None
        return HttpWire(self.target.url)

    def _kill(self, port: PortProcess) -> None:
        if port not in self._ports:
            return
        self._ports.remove(port)
        port.session.wire.kill()
        if port.fake is not None:
            port.fake.reset()
