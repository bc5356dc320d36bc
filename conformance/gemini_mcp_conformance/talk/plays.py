"""Plays: the scripts that conversations write themselves, from the words they are about; pure."""

from __future__ import annotations

import json
import uuid

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.play.fake.script import Script

SESSION = "5b3b6b48-99e7-4be4-906c-9b1f2f76c7bc"


def session(name: str) -> str:
    """A session id that belongs to a name."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def answers(text: str, session: str = SESSION, release: str | None = None, wait: float = 0) -> Script:
    """An answer, once it is released, or after so many seconds."""
    held: list[Json] = [{"release": release}] if release else [{"wait": wait}] if wait else []
    document = json.dumps({"session_id": session, "response": text, "stats": {}})
    return Script("answers", (*held, {"stdout": document}))


def lists() -> Script:
    """An answer that names no session, and a list of sessions that does not end."""
    return Script("lists", ({"stdout": json.dumps({"response": "Unlisted.", "stats": {}})},), ({"hang": True},))


def fails(exit: int = 1, release: str | None = None) -> Script:
    """A failure, once it is released."""
    held: list[Json] = [{"release": release}] if release else []
    return Script("fails", (*held, {"stderr": "Something went wrong.\n"}, {"exit": exit}))


def hangs(child: bool = False, stubborn: bool = False) -> Script:
    """No end of its own; with a child that ignores SIGTERM, or ignoring signals itself."""
    ignored: list[Json] = [{"ignore": ["TERM", "INT", "HUP"]}] if stubborn else []
    started: list[Json] = [{"child": {"seconds": 30, "holds": "stdout", "ignore": ["TERM"]}}] if child else []
    return Script("hangs", (*ignored, *started, {"hang": True}))
