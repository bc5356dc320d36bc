"""Calls with progress tokens of every type, quick and long ones, and calls without a token."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import cycle

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import fails, hangs, pieces, session
from gemini_mcp_conformance.talk.sources import Maker, Sources
from gemini_mcp_conformance.talk.steps import Await, Cancel, Release, Request, Step, call, path, told

ORDER = 70
LONG = 12.0
"""Seconds of a call that is long enough to show an interval of ten."""
LONGER, QUICK = 21.0, 2.5
"""Seconds of such a call that shows also whether the intervals grow, and of those beside it."""
RUNNING = 4
"""Calls of more than twenty seconds whose progress is told."""
LARGE, COMPOSED = 2**32 + 7, "e\u0301 질문"
"""A token of more than 32 bits, and one that is composed otherwise in another form."""
FOLDER = "elsewhere"
VERY_LONG = 45.0
"""Seconds of such a call in a thorough run, which shows several intervals."""

WARNING: Json = {"stderr": "It takes a while.\n"}
"""A step behind which there is something on stderr, whatever is still to come."""

HALTING, WAITING = "the halting one", "the waiting one"

TOKENS: tuple[Json, ...] = ("a token", 0, "", -3, 4_294_967_297, "7", 7, '질문 "\\\n', "t" * 200)
SHOWN = ("progress:token", "progress:increase", "progress:end", "progress:start")


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Short calls first, then long ones."""
    made = Progress(sources)
    yield made.tokens()
    yield made.at_once()
    yield made.long()
    yield made.longer()


class Progress(Maker):
    """Calls of the tools of one specification that ask for progress."""

    phase, prefix = "progress", "progress-"

    def asking(self, tool: str, token: Json, script: Script, name: str = "", **more: Json) -> Request:
        """A call with a progress token."""
        arguments = self.arguments(tool, f"How far is {tool}, {name or token!r}?", session=session(name))
        params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": token}}
        return Request("tools/call", params, (script,), name, **more)

    def tokens(self) -> Conversation:
        steps: list[Step] = []
        for number, token in enumerate(TOKENS):
            tool = self.names[number % len(self.names)]
            steps += [self.asking(tool, token, self.answers("Done."), str(number)), Request("ping")]
        for tool in self.names:
            steps += self._again(tool)
            steps.append(self.ask(tool, f"Who tells no progress of {tool}?", self.answers("Done.")))
        title = "Progress tokens of every type."
        return self.conversation("tokens", title, (*steps, Request("ping")), *SHOWN, "progress:unasked", "stdio:stdout")

    def _again(self, tool: str) -> Iterator[Step]:
        """One token for a call that is refused, one that fails, one that is cancelled and one that is answered."""
        token, name = f"of {tool}, again and again", f"cancelled {tool}"
        yield told(call(tool, self.wrong(tool)), token)
        yield from (Request("ping"), self._silent(tool, "refused"))
        yield from (self.asking(tool, token, fails(), "fails"), Request("ping"), self._silent(tool, "failed"))
        yield from (self.asking(tool, token, hangs(), name, until="started"), Cancel(name), Request("ping"))
        yield self._silent(tool, "cancelled")
        yield self.asking(tool, token, self.answers("Done."), f"after {name}")
        # No progress of a list is told, and none of a call that comes behind it and has not asked.
        yield Request("tools/list", {"_meta": {"progressToken": f"a list before {tool}"}})
        yield self._silent(tool, "listed")

    def _silent(self, tool: str, behind: str) -> Request:
        """A call without a token."""
        return self.ask(tool, f"No progress of {tool}, {behind}", self.answers("Done."))

    def at_once(self) -> Conversation:
        """Two calls whose tokens look alike, and one that did not ask; each is told of its own progress."""
        asking, answers = self.asking, self.answers
        steps = (
            asking(self.first, "Of ab", answers("First.", release="first"), "first", until="started"),
            asking(self.last, "of ab ", answers("Second.", release="second"), "second", until="started"),
            self.ask(self.first, "No progress wanted", answers("Third."), session=session("third")),
            *(step for name in ("second", "first") for step in (Release(name), Await(name))),
            Request("ping"),
        )
        return self.conversation(
            "at-once", "Progress of two calls at once.", steps, "progress:token", "concurrency:calls"
        )

    def _line(self) -> list[Request]:
        """A reply that stops in the middle of its answer, and two behind it; the last is cancelled while it waits."""
        tool = self.spec.resumes
        if tool is None:
            return []
        whole = json.dumps(self.sources.document("Half 서울.", session(HALTING)), ensure_ascii=False).encode()
        cut = whole.index("서".encode()) + 1
        begin, _, rest = pieces(whole[:cut], whole[cut:]).play
        halting = self.asking(tool, HALTING, Script("pieces", (begin, {"release": HALTING}, rest)), HALTING)
        words, own = f"Who is behind {HALTING}?", session(HALTING)
        behind = self.ask(tool, words, self.answers("Behind it.", own), session=own, name=f"behind {HALTING}")
        waiting = self.ask(tool, f"Who waits for {HALTING}?", hangs(), session=own, name=WAITING)
        line = (replace(halting, until="started"), behind, told(waiting, WAITING))
        return [line[0], *(replace(each, until="sent") for each in line[1:])]

    def long(self) -> Conversation:
        """Two long calls, and one that ends while they run; nothing is told for it afterwards."""
        one, answers, long = self.first, self.answers, VERY_LONG if self.sources.thorough else LONG
        line = self._line()
        unasked, failing = answers("At last as well.", wait=long), fails().behind({"wait": LONG / 2})
        warns, too = answers("At last.", wait=long), answers("At last, too.", wait=long)
        steps = (
            self.asking(one, "0", warns.behind(WARNING), "long", until="started"),
            self.asking(self.last, 0, too, "reply", until="started"),
            *line,
            *([Cancel(WAITING)] if line else []),
            # What is answered under the token of another request ends nobody's progress.
            Request("ping", id="0"),
            self.asking(one, 70_001, answers("In the middle.", wait=LONG / 2), "number", until="started"),
            self.asking(one, "failing late", failing, "failing late", until="started"),
            self.asking(one, "short", answers("At once."), "short"),
            Request("no/such/method"),
            *(self.asking(one, "given up", hangs(), "given up", until="started"), Cancel("given up")),
            self.ask(one, "Long, and not asked", unasked, until="started", session=session("unasked")),
            # The newest call has no token for a while, and then another one.
            self.ask(one, "Half as long", answers("In between.", wait=LONG / 2), session=session("half")),
            self.asking(one, "later", answers("At once."), "later"),
            *(Await("long"), Await("reply"), Request("ping")),
            *([Release(HALTING), *(Await(each.name) for each in line[:2])] if line else []),
        )
        shows = (*SHOWN, "progress:interval", "progress:unasked", "stdio:stderr:private", "concurrency:same-session")
        shows = (*shows, "result:success", "result:text", "result:text:split")
        return self.conversation("long", "Calls that take twelve seconds.", steps, *shows, aside=True)

    def _in_turn(self) -> list[Request]:
        """Two replies in one session, each of which takes half of the time."""
        tool, own = self.spec.resumes, session("in turn")
        if tool is None:
            return []
        answer = self.answers("In turn.", own, wait=LONGER / 2)
        calls = [self.ask(tool, f"What is in turn as {n}?", answer, session=own, name=f"turn {n}") for n in range(2)]
        # The one of which more is told is the one that waits.
        tokens = ("turn 0", COMPOSED)
        return [told(replace(each, until="sent"), token) for each, token in zip(calls, tokens, strict=True)]

    def _looked_up(self) -> Request:
        """A call that the port goes on with while it waits in vain for the list of sessions."""
        unnamed = self.sources.unnamed("Looked up in vain.", {"hang": True}, id="lists")
        script = unnamed.behind({"wait": LONGER - self.spec.invocation.listing.timeout})
        asking = self.ask(self.first, "Who is looked up?", script, directory=path(FOLDER), name="looked up")
        return told(replace(asking, until="started"), asking.name)

    def _ended(self) -> Iterator[Step]:
        """Calls that are told of their progress as well, and end soon in every way."""
        tool, name = self.first, "cancelled beside"
        # As many failures as calls run that are told: whoever counts the told ones may count a failure twice.
        yield from [self.asking(tool, "failed beside", fails())] * RUNNING
        yield self.asking(tool, "answered beside", self.answers("At once."))
        yield from (self.asking(tool, name, hangs(), name, until="started"), Cancel(name))
        yield told(call(tool, self.wrong(tool)), "refused")

    def longer(self) -> Conversation:
        """A long call whose client does not stop to speak."""
        answer = self.answers("At the end.", wait=LONGER)
        warns = answer.behind(WARNING)
        long = self.asking(self.first, LARGE, warns, "longer", until="started")
        beside: list[Step] = []
        for number, tool in zip(range(int(LONGER / QUICK)), cycle(self.names), strict=False):
            own = session(f"number {number}")
            answer = self.answers(f"Number {number}.", own, wait=QUICK)
            beside.append(self.ask(tool, f"What comes as number {number}?", answer, session=own))
        line = self._in_turn()
        begun = (long, self._looked_up(), *line)
        steps = (*begun, *self._ended(), *beside, *(Await(each.name) for each in begun), Request("ping"))
        shows = ("progress:interval", "progress:increase", "progress:end", "progress:token", "concurrency:same-session")
        title, files = f"A call of {LONGER:g} seconds, and others meanwhile.", {FOLDER: None}
        return self.conversation("longer", title, steps, *shows, aside=True, files=files)
