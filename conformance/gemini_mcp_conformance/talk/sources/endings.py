"""Ports that end while gemini runs, or while nothing does: no process of gemini may be left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import SESSION, fails, hangs, holder, session
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.steps import (
    Await,
    Cancel,
    End,
    Ending,
    Listen,
    Notify,
    Raw,
    Release,
    Request,
    Step,
    call,
    told,
)
from gemini_mcp_conformance.talk.unending import CANCELLED, LOGS, MARKS, Unending

ORDER = 61
MANY = 8
"""Calls that ignore SIGTERM: a port that waits for the end of one before it ends the next takes too long for them."""
TIMES, SOON = 50_000, 0.5
"""How often an answer that nobody reads repeats a text, and seconds until it fills every buffer."""
LONGER = 1.5
"""Seconds that a list of sessions takes which is not given up for that."""
DIGITS = "660007"
"""An id of two calls: of the one as a number, of the other as a text."""
TELLS = 16.0
"""Seconds of a call of whose progress something is told. What holds for a while often does so for ten or fifteen."""
SIGNALS: dict[Ending, str] = {"TERM": "sigterm", "INT": "sigint", "HUP": "sighup"}
HALF_A_LINE = Raw(b'{"jsonrpc": "2.0"')


def conversations(sources: Sources) -> Iterable[Conversation]:
    """First the end of stdin, then signals, then both in the eras without a handshake."""
    made = Endings(sources)
    yield from made.stdin_ends()
    for how, name in SIGNALS.items():
        yield from made.signals(how, name)
    for revision in sources.spec.manifest.stateless_revisions:
        yield from made.without_handshake(revision)


def _of_term(how: Ending) -> tuple[str, ...]:
    return ("shutdown:sigterm", "system:removed:sigterm") if how == "TERM" else ()


class Endings(Unending):
    """Ports of one specification that are told to end."""

    prefix = "end-"

    def _end(
        self,
        id: str,
        title: str,
        how: Ending,
        steps: Sequence[Step],
        *shows: str,
        then: Ending | None = None,
        **more: Json,
    ) -> Conversation:
        return self.conversation(id, title, (*steps, End(how, then)), *shows, **more)

    def stdin_ends(self) -> Iterable[Conversation]:
        """While nothing runs, during calls of every tool, of stubborn ones as well, and during a line of replies."""
        shows = ("shutdown:stdin-end:busy", "shutdown:stdin-end:group")
        removed = (*shows, "system:removed:stdin-end", "shutdown:prompt")
        idle = ("shutdown:stdin-end", "shutdown:prompt")
        # That of a whole line is in the scenarios.
        title = "The end of stdin in the middle of a line."
        yield self._end("stdin", title, "stdin", [*self._past("stdin"), HALF_A_LINE], *idle)
        yield self._end("stdin-unasked", "The end of stdin before any message.", "stdin", (), idle[0], greet=False)
        title = "The end of stdin when gemini cannot be started."
        steps = [self.ask(tool, f"Who starts {tool}?", file="You do not start.") for tool in self.names]
        yield self._end("stdin-unstarted", title, "stdin", steps, *idle, gemini="not-executable")
        title = "The end of stdin while nobody reads an answer."
        yield self._end("stdin-unread", title, "stdin", self._unread(), *idle, "system:removed:stdin-end")
        title = "The end of stdin behind a client that reads no more"
        yield self._end("stdin-left", f"{title}.", "stdin", self._abandoned_calls(False), *removed)
        title, steps = f"{title}, while an answer to it is due.", self._abandoned_calls(True)
        yield self._end("stdin-left-due", title, "stdin", steps, *removed, LOGS)
        yield self._end("stdin-busy", "The end of stdin during calls.", "stdin", self._busy("stdin"), *removed, LOGS)
        title = "The end of stdin in the middle of a line, while gemini ignores SIGTERM."
        ignored = "shutdown:stdin-end:ignored-term"
        deaf = [*self._deaf(MANY), HALF_A_LINE]
        yield self._end("stdin-ignored-term", title, "stdin", deaf, ignored, shows[0], "shutdown:prompt")
        title = "The end of stdin right behind the cancellation of calls that ignore SIGTERM, and SIGHUP soon after."
        names = {tool: f"cancelled at the end: {tool}" for tool in self.names}
        steps: list[Step] = [self.hanging(tool, id, hangs(stubborn=True), id=id) for tool, id in names.items()]
        steps += [Notify(CANCELLED, {"requestId": id}) for id in names.values()]
        yield self._end("stdin-cancelled", title, "stdin", steps, ignored, then="HUP")
        title = "The end of stdin behind answers for which a list has taken too long, twice."
        again = self.ask(
            self.last,
            "Is it listed now?",
            self.sources.listed("Listed again.", session("listed again"), {"wait": LONGER}),
        )
        listed = ("fallback:list-sessions", "fallback:latest", "fallback:failure", LOGS)
        lists = (self._abandoned(), self._abandoned(), again)
        yield self._end("stdin-after-list", title, "stdin", lists, shows[1], *listed)
        title = "The end of stdin, and SIGTERM soon after, while gemini ignores it."
        yield self._end("stdin-then-sigterm", title, "stdin", self.stubborn(), *removed, ignored, then="TERM")
        title = "The end of stdin, and SIGINT soon after, while gemini ignores SIGTERM."
        yield self._end("stdin-then-sigint", title, "stdin", self.stubborn(), *removed, ignored, then="INT")
        last = self.hanging(self.first, "the last moment", until="sent")
        title = "The end of stdin right behind a call, while a reply waits for another."
        yield self._end("stdin-at-once", title, "stdin", (*self._line(), last), *shows)

    def signals(self, how: Ending, name: str) -> Iterable[Conversation]:
        group = f"shutdown:{name}:group"
        yield self._end(f"{name}-busy", f"{name.upper()} during calls.", how, self._busy(how), group, *_of_term(how))
        if how == "TERM":
            shows = (*_of_term(how), "shutdown:prompt", "stdio:stdout")
            steps = [*self._past(how), HALF_A_LINE, Listen(True, SOON)]
            yield self._end(name, "SIGTERM in the middle of a line.", how, steps, *shows)
            title, shows = "SIGTERM, twice, while gemini ignores it.", (group, *_of_term(how))
            yield self._end(f"{name}-ignored", title, how, self.stubborn(), *shows, then=how)
            title = "SIGTERM while nobody reads an answer, nor what there is to tell of another call."
            beside = told(self.hanging(self.last, "beside", file="You are not told of."), "beside")
            yield self._end(f"{name}-unread", title, how, [beside, *self._unread()], *_of_term(how))

    def without_handshake(self, revision: str) -> Iterator[Conversation]:
        """A port may look after signals, or its calls, only once a client has greeted it."""
        families = [self.hanging(tool, f"family of {tool}", hangs(child=True)) for tool in self.names]
        title = f"SIGTERM during calls of the revision {revision}, of which many ignore it."
        shows = ("shutdown:sigterm:group", "shutdown:prompt", *_of_term("TERM"))
        busy = [*families, *self._deaf(MANY - len(families))]
        yield self._end(f"{revision}-busy", title, "TERM", busy, *shows, revision=revision)
        title = f"The end of stdin during calls of the revision {revision}."
        shows = ("shutdown:stdin-end:busy", "shutdown:stdin-end:group", "shutdown:stdin-end:ignored-term")
        steps = [*families, *self.stubborn()]
        yield self._end(f"{revision}-stdin", title, "stdin", steps, *shows, revision=revision)
        yield self._late_end(revision)

    def _late_end(self, revision: str) -> Conversation:
        """What is good for a while, or told now and then, is so at the end of a long call as well."""
        tool, name = self.spec.resumes or self.first, "the long one"
        long = self.ask(tool, "How long is it?", self.answers("Long.", wait=TELLS), session=SESSION, name=name)
        waiting = self.ask(tool, "Who waits for nothing?", hangs(), session=SESSION, name="waiting")
        calls = (told(replace(long, until="started"), name), told(replace(waiting, until="sent"), "waiting"))
        steps = [Request("tools/list"), *calls, Cancel("waiting"), Await(name), Request("tools/list")]
        shows = ("stateless:cancelled", "stateless:caching", "progress:interval")
        title = f"The end of stdin behind a long call of the revision {revision}."
        return self._end(f"{revision}-late", title, "stdin", steps, *shows, revision=revision)

    def _abandoned_calls(self, due: bool) -> list[Step]:
        """Calls of every tool whose client closes both pipes, as one does that is killed; one is answered meanwhile."""
        hung = [self.hanging(tool, f"left with {tool}", hangs(child=True), file="You are left.") for tool in self.names]
        answer = self.hanging(self.last, "due", self.answers("What nobody reads is due.", release="due"))
        left = Listen(False, leaves=True)
        return [*hung, answer, left, Release("due"), Listen(False, SOON)] if due else [*hung, left]

    def _unread(self) -> list[Step]:
        """An answer that fills every buffer, and a file that need not wait until it is read."""
        long = self.answers("Nobody reads this, and much more of the same. " * TIMES)
        asked = self.ask(self.first, "Who reads it?", long, until="started", file="You are not read.")
        return [Listen(False), asked, Listen(False, SOON)]

    def _past(self, how: Ending) -> Iterator[Step]:
        """What may have happened before nothing runs: a line without sense, and calls that ended in every way.

        The gemini of one has left a process behind that holds its output.
        """
        held = self.answers("Held.").behind(holder("stdout"))
        yield self.ask(self.last, f"What is held before {how}?", held)
        name, tool = f"past of {how}", self.first
        yield from (Raw(b"This is no JSON.\n"), self.hanging(tool, name), Cancel(name))
        yield call(tool, self.wrong(tool))
        # No system hands over an argument of that length, so gemini cannot be started.
        yield self.ask(tool, "What is too long?", option=self.overlong("m"))
        listed = self.sources.listed(f"Listed before {how}.", session(f"listed before {how}"))
        yield self.ask(self.last, f"What is listed before {how}?", listed, file="You are past.")
        yield told(self.ask(tool, self.overlong(f"How long is {how}? "), self.answers("Long.")), f"long {how}")
        yield from (self.ask(tool, f"A failure before {how}", fails()), self.served(f"the past of {how}"))

    def _busy(self, how: Ending) -> list[Step]:
        """Of each tool a call with a file, a plain one, one whose gemini has started a process; a line, and a list.

        The first has a prompt that gemini does not read; those behind it and the last have a file to be removed.
        """
        files = [
            self.hanging(tool, f"file of {tool} and {mark!r}", mark=mark, file="You are interrupted.")
            for tool, mark in zip(self.names, MARKS, strict=False)
        ]
        ids = (int(DIGITS), DIGITS)
        plain = [self.hanging(tool, f"plain {tool}", id=id) for tool, id in zip(self.names, cycle(ids), strict=False)]
        families = [
            self.hanging(tool, f"family of {tool}", hangs(child=True), long=number % 2 > 0)
            for number, tool in enumerate(self.names)
        ]
        line = self._line(session("the line"))
        # It begins before others with a file, and ends before them.
        gone = self.hanging(self.first, f"gone before {how}", file="You are gone.")
        unread = self.unread(self.first, f"unread at {how}")
        return [
            self.served("nothing"),
            unread,
            gone,
            *files,
            Cancel(gone.name),
            *self._turned(),
            *plain,
            *families,
            *line,
            self.listed(self.first),
        ]

    def _line(self, session: str | None = None) -> list[Request]:
        """A reply that runs, and two in the same session that wait for it: in the latest one if none is named."""
        tool = self.spec.resumes or self.first
        front = self.ask(tool, "In line 0", hangs(), session=session, until="started")
        waiting: dict[str, Json] = {"session": session, "until": "sent", "file": "You wait for the end."}
        return [front, *(self.ask(tool, f"In line {place}", hangs(), **waiting) for place in (1, 2))]

    def _turned(self) -> list[Request]:
        """A reply that has waited for another one in its session, and runs."""
        tool, own = self.spec.resumes or self.first, session("turned")
        front = self.ask(tool, "In front", self.answers("Done.", own, wait=SOON), session=own, until="started")
        return [front, self.hanging(tool, "turned", session=own, file="You have waited.")]

    def _deaf(self, many: int) -> list[Request]:
        """Calls that ignore SIGTERM."""
        tools = (self.names[number % len(self.names)] for number in range(many))
        return [self.hanging(tool, f"deaf {number}", hangs(stubborn=True)) for number, tool in enumerate(tools)]

    def _abandoned(self) -> Request:
        """A call that is answered when the port waits no longer for its list of sessions."""
        entry = f"{self.sources.entry(9, session('listed too late'))}\n"
        lists = self.sources.unnamed("Answered without a list.", {"stdout": entry}, {"hang": True}, id="lists")
        return told(self.ask(self.first, "Who waits for the list?", lists), "of a list")
