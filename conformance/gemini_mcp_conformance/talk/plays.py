"""Plays: scripts for gemini that conversations make themselves, with the keys of the specification; pure."""

from __future__ import annotations

import json
import uuid
from collections.abc import Set
from dataclasses import dataclass

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.spec.specification import Specification

SESSION = "5b3b6b48-99e7-4be4-906c-9b1f2f76c7bc"


def session(name: str) -> str:
    """A session id that belongs to a name."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def fails(exit: int = 1, release: str | None = None) -> Script:
    """A failure, after a release if one is named."""
    held: list[Json] = [{"release": release}] if release else []
    return Script("fails", (*held, {"stderr": "Something went wrong.\n"}, {"exit": exit}))


def hangs(child: bool = False, stubborn: bool = False) -> Script:
    """A script that does not end; with a child that ignores SIGTERM, or ignoring signals itself."""
    ignored: list[Json] = [{"ignore": ["TERM", "INT", "HUP"]}] if stubborn else []
    started: list[Json] = [{"child": {"seconds": 30, "holds": "stdout", "ignore": ["TERM"]}}] if child else []
    return Script("hangs", (*ignored, *started, {"hang": True}))


def does(script: Script, kinds: Set[str]) -> bool:
    """Whether a step of the script, or of its list of sessions, is of one of these kinds."""
    return any(step.keys() & kinds for step in (*script.play, *(script.list_sessions or ())))


@dataclass(frozen=True)
class Plays:
    """Writes answers as gemini writes them by one specification."""

    spec: Specification

    def document(self, text: Json, session: Json = None, **more: Json) -> dict[str, Json]:
        """The JSON of an answer; a session that is None is left out."""
        keys = self.spec.outcome.answer
        named = {} if session is None else {keys["session"]: session}
        return {**named, keys["text"]: text, **{keys.get(key, key): value for key, value in more.items()}}

    def answers(
        self, text: str, session: str | None = SESSION, release: str | None = None, wait: float = 0, **dump: Json
    ) -> Script:
        """An answer, after a release or a wait if there is one; `dump` are options of `json.dumps`."""
        held: list[Json] = [{"release": release}] if release else [{"wait": wait}] if wait else []
        document = json.dumps(self.document(text, session, stats={}), **dump)
        return Script("answers", (*held, {"stdout": document}))

    def lists(self) -> Script:
        """An answer that names no session, and a list of sessions that does not end."""
        return Script("lists", ({"stdout": json.dumps(self.document("Unlisted.", stats={}))},), ({"hang": True},))
