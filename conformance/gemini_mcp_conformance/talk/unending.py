"""Unending: calls that do not end by themselves, for conversations in which somebody ends them; pure."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

from gemini_mcp.spec.values import Json, table
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.plays import DEAF, hangs, session
from gemini_mcp_conformance.talk.sources import Maker, Sources
from gemini_mcp_conformance.talk.steps import Request, Step

CANCELLED = "notifications/cancelled"
LOGS = "stdio:stderr:private"
MARKS = ("", "-", "/", "@")
"""What prompts begin with that reach gemini in unlike ways."""
BEGINNING: Json = {"stdout": '{"a": ["Not the end yet", '}
"""A step that prints the beginning of an answer: what comes behind it, from whatever gemini, is no answer."""
GOING_ON: tuple[Json, ...] = ({"wait": 0.3}, {"stdout": '"nor yet", '}) * 40
"""Steps that print something again and again, for longer than a port may take to end gemini."""


class Unending(Maker):
    """Calls of the tools of one specification that do not end by themselves."""

    phase, prefix = "endings", ""

    def __init__(self, sources: Sources) -> None:
        super().__init__(sources)
        self.names = sources.spec.told_apart or sources.spec.names[:1]
        self.asks_progress = cycle((True, False))
        self.escapes = cycle((False, False, True))

    def unread(self, tool: str, name: str) -> Request:
        """A call whose gemini does not read its prompt, which is longer than a pipe holds, and does not end."""
        script = Script("unread", ({"unread": name}, {"hang": True}))
        words = self.overlong(f"No end of {name}. ")
        return self.ask(tool, words, script, session=session(name), name=name, until="started")

    def hanging(
        self, tool: str, name: str, script: Script | None = None, mark: str = "", long: bool = False, **more: Json
    ) -> Request:
        """A call whose gemini does not end; every other one asks for progress, every third is written in escapes.

        Its prompt begins with the mark.
        """
        how = {"session": session(name), "name": name, "until": "started", "escaped": next(self.escapes), **more}
        words = f"{mark}No end of {name}"
        asked = self.ask(tool, self.overlong(f"{words}. ") if long else words, script or hangs(), **how)
        meta: Json = {"_meta": {"progressToken": name}} if next(self.asks_progress) else {}
        return replace(asked, params={**table(asked.params), **meta})

    def served(self, name: str, tool: str | None = None) -> Request:
        words = f"Served after {name}"
        # A session of its own: a port may let a reply to the latest session wait for every reply of the directory.
        return self.ask(tool or self.first, words, self.answers(f"{words}."), session=session(words))

    def stubborn(self) -> list[Step]:
        names = {tool: f"{tool}, stubborn" for tool in self.names}
        # Every other one has begun its answer, and goes on with it whatever it is asked.
        deaf = hangs(stubborn=True)
        scripts = cycle((deaf, Script("goes on", (DEAF, BEGINNING, *GOING_ON, {"hang": True}))))
        return [
            self.hanging(tool, name, script, id=name, file="You are stubborn.")
            for (tool, name), script in zip(names.items(), scripts, strict=False)
        ]

    def listed(self, tool: str, *before: Json) -> Request:
        """A call whose list of sessions hangs behind these steps."""
        lists = self.sources.unnamed("Unlisted.", *before, {"hang": True}, id="lists")
        named: dict[str, Json] = {"name": f"list of {tool}", "until": "listing"}
        return self.ask(tool, f"What lists {tool}?", lists, file="You are about to be listed.", **named)
