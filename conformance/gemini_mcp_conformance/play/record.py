"""Record: what was seen of a conversation, at its end or while it goes on, as an Observation. Effect."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.play.http_wire import HttpWire
from gemini_mcp_conformance.play.lateness import Lateness
from gemini_mcp_conformance.play.requests import Requests
from gemini_mcp_conformance.see.attribution import claimed, exchange, is_late, is_overdue, progress
from gemini_mcp_conformance.see.observation import Exchange, Exit, Line, Observation, Web
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.steps import Request


@dataclass
class Record:
    """The record of one conversation, which begins now. `first` says that the greeting belongs to it."""

    requests: Requests
    conversation: Conversation
    lateness: Lateness
    greeting: Exchange | None
    first: bool
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        """What was said and logged earlier belongs to other conversations."""
        self.session = self.requests.session
        self._begin = 0 if self.first else len(self.session.lines)
        self._asked = 0 if self.first else len(self._web())
        self._logged = b"" if self.first else self.session.wire.stderr()

    def so_far(self, number: int, exit: Exit | None) -> Observation:
        """What was seen up to a step, as if the conversation had ended with it."""
        seen = self.observed(exit)
        played = replace(self.conversation, steps=self.conversation.steps[: number + 1])
        exchanges = tuple(
            each if each.answers or each.silence else replace(each, silence="ended") for each in seen.exchanges
        )
        return self.completed(replace(seen, conversation=played, exchanges=exchanges))

    def observed(self, exit: Exit | None) -> Observation:
        """What was said and run, before it is known what is left."""
        requests, every, frame = self.requests, self.requests.every, self._frame()
        lines = self._lines()
        by_step, unclaimed = claimed(every, requests.gemini.examined_runs())
        told = progress(every, lines)
        responses = [line for line in lines if line.is_response and not line.sent]
        exchanges = [exchange(pending, every, by_step, responses, told, frame) for pending in every]
        asked = [each for each in every if isinstance(each.step, Request) and not each.is_page]
        return Observation(
            conversation=self.conversation,
            spec=requests.spec,
            place=requests.place,
            transport=self.session.wire.transport,
            lines=lines,
            exchanges=(*((self.greeting,) if self.greeting and self.first else ()), *exchanges),
            greeting=self.greeting,
            unclaimed=unclaimed,
            exit=exit,
            ids=tuple(pending.id for pending in asked),
        )

    def completed(self, seen: Observation) -> Observation:
        """With what is known last: what was logged, what was asked over HTTP, and how the port has ended."""
        web = tuple(replace(web, manifest=seen.spec.manifest) for web in self._web()[self._asked :])
        stderr = self.session.wire.stderr().removeprefix(self._logged)
        delay = self.lateness.since(self.began)
        return replace(seen, stderr=stderr, died=self._death(seen), delay=delay, web=web)

    def _lines(self) -> tuple[Line, ...]:
        """The lines since the conversation began, without those that came late for an earlier one."""
        cancelled, running, every = self.requests.cancelled_before, self.requests.running_before, self.requests.every
        lines = [line for line in self.session.lines[self._begin :] if not is_late(line, cancelled, every)]
        return tuple(line for line in lines if not is_overdue(line, running, every))

    def _web(self) -> Sequence[Web]:
        """The requests over HTTP so far."""
        return self.session.wire.web if isinstance(self.session.wire, HttpWire) else ()

    def _death(self, seen: Observation) -> str | None:
        if not self.session.wire.ended or seen.exit is not None:
            return None
        code = self.session.wire.code
        if self.session.wire.transport == "http":
            return "took no more connections"
        return "closed its stdout" if code is None else f"exited with {code}"

    def _frame(self) -> Json:
        return {
            "conversation": self.conversation.id,
            "place": self.requests.place,
            "revision": self.session.revision,
            "transport": self.session.wire.transport,
            "delay": self.lateness.since(self.began),
        }
