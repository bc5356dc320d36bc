"""Greeting: begins a session in the era that a port speaks, and says why a port takes no part. Effect.

The bench sends the requests. What a greeting should hold is for the checks to say.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from gemini_mcp.spec import Manifest
from gemini_mcp.spec.values import Json, inside, items
from gemini_mcp_conformance.play.http_wire import HttpWire
from gemini_mcp_conformance.play.port_process import PortProcess
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.spec.specification import Specification
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.messages import UNKNOWN_METHOD, UNSUPPORTED_VERSION, handshake, notification

UNKNOWN_TO_PORT = (UNKNOWN_METHOD, UNSUPPORTED_VERSION)
"""Error codes of a port that knows no handshake."""


class Greeter:
    """Greets the ports of a run. What one has shown of the eras that it knows is remembered for the next."""

    def __init__(
        self, manifest: Manifest, revision: str | None, ask: Callable[[PortProcess, str, Json], Awaitable[Exchange]]
    ) -> None:
        self._stateless = manifest.stateless_revisions
        self._revision = revision
        self._ask = ask
        self._shakes_hands = True

    async def greet(self, port: PortProcess, revision: str | None) -> None:
        """Begin a session in that revision, or in the one that the run asks for, or in any that the port knows."""
        revision = revision or self._revision
        if revision in self._stateless:
            await self._discover(port, revision)
            return
        session = port.session
        session.revision = revision or session.revision
        port.greeting = await self._ask(port, "initialize", handshake(session.revision))
        result = port.greeting.result
        if result is None and port.greeting.answer is not None and revision is None:
            await self._discover(port, self._stateless[-1])
            self._shakes_hands = port.declined is not None
            return
        spoken = (result or {}).get("protocolVersion")
        # MCP lets a server answer with another revision than the requested one. It need not support all.
        if revision and port.greeting.answer is not None and spoken != revision:
            port.declined = f"The port answered {revision} with {spoken or 'an error'}."
        session.revision = spoken if isinstance(spoken, str) else session.revision
        await session.send(notification("notifications/initialized"))

    async def _discover(self, port: PortProcess, revision: str) -> None:
        port.session.revision, port.session.is_stateless = revision, True
        port.greeting = await self._ask(port, "server/discover", None)
        named = items(inside(port.greeting.result, "supportedVersions"))
        if revision not in named and not await self._serves_as_it_is(port):
            port.declined = f"The port does not speak {revision}."

    async def _serves_as_it_is(self, port: PortProcess) -> bool:
        """Whether a port speaks the revision although it does not name it."""
        assert port.greeting is not None
        if port.greeting.answer is None:
            return False
        # A port that serves the era belongs to it; that it does not name the revision is for a check to complain about.
        listed = await self._ask(port, "tools/list", None)
        return "resultType" in (listed.result or {})

    def unfit(self, port: PortProcess, conversation: Conversation) -> str | None:
        """Why a conversation does not suit a port that knows only the stateless era; None when it does."""
        shakes_hands = self._shakes_hands and self._revision not in self._stateless
        if not shakes_hands and not conversation.greet:
            return "The port begins no session with a handshake."
        if port.session.is_stateless and conversation.revision is None and conversation.needs_handshake:
            return "It holds requests that need a handshake, and the port knows only the era without one."
        return None


def declining(port: PortProcess, conversation: Conversation, spec: Specification, reason: str) -> Observation:
    """The observation of a port that does not take part, with its answer to `initialize`."""
    greeting = port.greeting
    is_handshake = greeting is not None and greeting.method == "initialize"
    # Only these errors say that the port knows no handshake. Any other answer to one is judged.
    code = inside(greeting.error, "code") if greeting else None
    return Observation(
        conversation,
        spec,
        port.place,
        port.session.wire.transport,
        exchanges=(greeting,) if greeting and is_handshake and code not in UNKNOWN_TO_PORT else (),
        declined=reason,
    )


def ungreeted(port: PortProcess, conversation: Conversation, spec: Specification) -> Observation:
    """The observation of a conversation that could not begin."""
    return Observation(
        conversation,
        spec,
        port.place,
        port.session.wire.transport,
        lines=tuple(port.session.lines),
        exchanges=(port.greeting,) if port.greeting else (),
        greeting=port.greeting,
        died="did not answer the handshake",
    )


def unanswered(port: PortProcess, seconds: float) -> str:
    """Why there is no answer to the greeting, for which so many seconds were waited."""
    wire, is_late = port.session.wire, port.greeting is not None and port.greeting.silence == "timeout"
    if isinstance(wire, HttpWire) and wire.fault is not None and not is_late:
        return f"The port at {wire.url} did not answer: {wire.fault}. Start it first, and check the address."
    if isinstance(wire, HttpWire) and port.greeting is not None and port.greeting.silence == "closed":
        told = f"HTTP {wire.web[-1].status}, and with no answer to it"
        return f"The port at {wire.url} answered the handshake with {told}. Check the address."
    within = f" within {seconds:g} seconds" if is_late else ""
    ended = f" It exited with {wire.code}." if wire.code is not None else ""
    return f"The port did not answer the handshake{within}.{ended}{port.heard}"
