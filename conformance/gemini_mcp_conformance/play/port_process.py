"""Port process: a port with its fake and its directories, and what it says of its end. Effect."""

from __future__ import annotations

from dataclasses import dataclass

from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.session import Session
from gemini_mcp_conformance.see.observation import Exchange, Place
from gemini_mcp_conformance.see.witness import bytes_shown, stderr_shown
from gemini_mcp_conformance.talk.conversation import Conversation

SHOWN = 500
"""Bytes of a line that are shown."""


@dataclass(frozen=True)
class Death:
    """The conversation after which a port had ended unasked, how it ended, and what its stderr told."""

    conversation: Conversation
    how: str
    told: str


@dataclass
class PortProcess:
    """A port process with its fake and its directories."""

    session: Session
    fake: Fake | None
    place: Place
    circumstances: tuple[object, ...]
    greeting: Exchange | None = None
    is_new: bool = True
    played: Conversation | None = None
    declined: str | None = None

    def suits(self, conversation: Conversation) -> bool:
        """Whether a conversation can follow those that were played on it."""
        is_alike = self.circumstances == conversation.circumstances
        return is_alike and not conversation.needs_new_port and not self.session.wire.ended

    @property
    def told(self) -> str:
        """The end of its stderr, as a sentence."""
        return stderr_shown(self.session.wire.stderr(), self.place.root)

    @property
    def heard(self) -> str:
        """What it wrote instead of an answer, as sentences."""
        first = next((line.data for line in self.session.lines if not line.sent), b"")
        written = f" The first thing it wrote is {bytes_shown(first[:SHOWN])}." if first else ""
        return written + self.told
