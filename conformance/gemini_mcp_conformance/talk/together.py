"""Together: calls that run at once, wait for each other, or are served meanwhile; pure."""

from __future__ import annotations

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import session
from gemini_mcp_conformance.talk.sources import Maker, Sources
from gemini_mcp_conformance.talk.steps import Await, Release, Request, Step

CROWD = 16
"""Calls at once that must all be answered."""
BESIDE = ("concurrency:calls", "concurrency:crossed")
ELSEWHERE = ("concurrency:other-session", "concurrency:crossed")
LATEST = ("concurrency:latest", "concurrency:crossed")


class Together(Maker):
    """Calls of the tools of one specification, several at once."""

    phase, prefix = "concurrency", "concurrency-"

    def __init__(self, sources: Sources) -> None:
        super().__init__(sources)
        self.names = sources.spec.told_apart
        self.begins = next((tool for tool in self.names if sources.spec.resumed(tool) is None), None)
        self.resumes = sources.spec.resumes

    def quick(self, tool: str, name: str, **meant: Json) -> Request:
        """A call whose gemini answers at once."""
        return self.asked(tool, name, self.answers(f"The answer to {name}.", session(name)), **meant)

    def behind(self, tool: str, name: str, **meant: Json) -> tuple[Step, ...]:
        """A call that must wait, and two others that are served meanwhile, so that it has time to begin too early."""
        waiting = self.asked(tool, name, self.answers(f"The answer to {name}."), until="sent", **meant)
        return (waiting, *self.aside(f"aside of {name}", f"{name} / aside", f"{name} / aside again"))

    def aside(self, own: str, *names: str) -> tuple[Request, ...]:
        """Calls of a session of their own that are served meanwhile.

        Without a tool that begins sessions there are none: those that resume one may wait as well.
        """
        return tuple(self.quick(self.begins, each, session=session(own)) for each in names if self.begins is not None)

    def asked(self, tool: str, name: str, script: Script, **more: Json) -> Request:
        return self.ask(tool, f"The question of {name}?", script, name=name, **more)

    def pair(self, id: str, title: str, shows: tuple[str, ...], one: Request, *other: Step) -> Conversation:
        steps = (one, *other, Release(one.name), Await(one.name))
        return self.conversation(id, title, steps, *shows, files={"one": None, "other/one": None})
