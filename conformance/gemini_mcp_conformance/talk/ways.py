"""Ways: calls of one tool that meet one outcome, with everything that may stand beside it; pure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.sources import Maker, Sources, sequences
from gemini_mcp_conformance.talk.sources.listings import SESSION
from gemini_mcp_conformance.talk.steps import Request, Step, path, told

ELSEWHERE = "elsewhere"
LONGER = 1_000
"""Bytes by which a prompt is longer than what goes on the command line."""
FAILURE = (
    *("error:is-error", "error:content", "error:prefix", "error:exit", "error:signal", "error:session-id"),
    *("error:stderr", "error:stderr:empty", "error:stderr:tail", "error:json-on-stderr", "error:secrets"),
    *("error:quota", "error:session-gone", "concurrency:after-failure", "command:once"),
)
ANSWER = (
    *("result:content", "result:success", "result:text", "result:stderr", "result:large-stdout", "result:large-stderr"),
    *("result:session-id", "result:session-id:changed", "result:json:notice-before", "result:json:notice-after"),
    *("result:json:braces", "result:json:last", "result:json:encoding", "result:plain-text", "result:empty"),
    *("result:warnings", "result:error-key", "result:warnings:key", "result:no-output", "result:truncated"),
    *("result:no-response", "result:unasked", "error:is-error", "error:session-id"),
)
"""What a failure, and an answer, of any kind shows."""


class Ways(Maker):
    """Calls of one tool, and what each outcome meets in them."""

    phase, prefix = "outcomes", ""

    def __init__(self, sources: Sources, tool: str) -> None:
        super().__init__(sources)
        self.tool, self.ask = tool, partial(sources.ask, tool)
        self.place = self.names.index(tool)

    def conversation(self, id: str, title: str, steps: Iterable[Step], *shows: str, **more: Json) -> Conversation:
        asked = ("progress:start", "progress:token", "progress:end")
        every = dict.fromkeys((*shows, *sequences.shows(self.sources), *asked))
        return super().conversation(id, title, steps, *every, files={ELSEWHERE: None}, **more)

    def with_all(self, words: str, script: Script, session: str | None = None) -> Request:
        """The call with everything that the tool takes, and a token."""
        own: dict[str, Json] = {"directory": path(ELSEWHERE), "file": "You know all.", "option": "a-model"}
        asked = self.ask(words, script, session=session, **own)
        return told(asked, words[:99])

    def ways(self, words: str, script: Script) -> list[Request]:
        """The call with everything and a long prompt; if it resumes a session, the latest one, and once one by its id.

        Whatever a fault wants of the arguments beside this outcome, one of these has it.
        """
        long = self.long(words, script)
        return [self.named(words, script), long] if self.spec.session(self.tool) else [long]

    def in_turn(self, number: int, words: str, script: Script) -> Request:
        """A call with everything, every other time with a long prompt."""
        return (self.long if number % 2 else self.named)(words, script)

    def named(self, words: str, script: Script) -> Request:
        return self.with_all(words, script, SESSION)

    def long(self, words: str, script: Script) -> Request:
        return self.with_all(words.ljust(self.spec.limit + LONGER, "x"), script)

    def has(self, number: int) -> bool:
        """Whether this tool plays what two tools share; one alone plays all of it."""
        return self.sources.falls_to(self.tool, number)
