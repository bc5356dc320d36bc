"""Calls that are cancelled: gemini ends, nothing is left of it, and the others go on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import CHILD, DEAF, SESSION, hangs, session
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.steps import Await, Cancel, Notify, Release, Request, Step
from gemini_mcp_conformance.talk.texts import NAMES_OF_OBJECTS
from gemini_mcp_conformance.talk.unending import BEGINNING, CANCELLED, LOGS, MARKS, Unending

ORDER = 60
IDS: tuple[Json, ...] = (-8_000_001, "질문 🙂", 2**53 - 8_000_001, "-8000002", "i" * 500, *NAMES_OF_OBJECTS[:3])
"""Ids of cancelled calls, dealt out to the tools."""
ALIKE = ("Call abc", "call abc", "call ab", "Call abc ", "call bac", "call cab", "call \u00e9", "call e\u0301")
"""Ids of calls that run at once: one begins like another, or differs in its case, in a blank, in its order or in how
its characters are composed."""
LONG_IDS = (f"{'i' * 500}1", f"{'i' * 500}2")
"""Ids of which only the ends differ."""
EARLY = 97_000_001
"""The id of a call that comes behind a cancellation of the same digits as a text."""
LATE = 96_000_001
"""The id of a call that is cancelled when it has been answered."""
FIRST = 3
"""Calls that are cancelled and end before the next one begins. The others end beside those that come later."""
LINGERS = 0.3
"""Seconds that a gemini lives on behind SIGTERM: fewer than ports wait before they send SIGKILL."""
CLOCK = 2.5
"""Seconds after which ports have sent SIGKILL."""


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Those of each tool, and those of several calls."""
    made = Cancelling(sources)
    for tool in sources.spec.names:
        yield from made.cancellations(tool)
    yield made.falsy_ids()
    yield made.ignored_term()
    yield made.one_of_several()
    yield from made.in_line()
    yield made.in_list()
    yield made.same_looking_ids()


class Cancelling(Unending):
    """Calls of the tools of one specification that a client cancels."""

    prefix = "cancel-"

    def cancellations(self, tool: str) -> Iterable[Conversation]:
        """Cancellations of calls of one tool: while gemini runs, after the answer, and for ids that no call has."""
        other = self.sources.after(tool)
        yield self._running(tool, other)
        steps = [self.hanging(tool, "family", hangs(child=True)), Cancel("family"), self.served("family", other)]
        title = f"A cancelled {tool} whose gemini has started a process."
        yield self.conversation(f"{tool}-group", title, steps, "cancel:group")
        yield self._late(tool, other)
        yield self._unknown(tool)

    def _running(self, tool: str, other: str) -> Conversation:
        """Calls with ids of both types, and a call served after each: when all of it has ended, or meanwhile."""
        number = self.names.index(tool) if tool in self.names else 0
        # Whichever cancellation a port does not carry out whole, something is left of it.
        family: dict[str, Json] = {"script": hangs(child=True)}
        kinds: tuple[dict[str, Json], ...] = (
            {**family, "file": None}, {**family, "long": True}, {**family, "id": f"cancelled-{tool}"},
            {"script": Script("lingers", (*self.answers("Not the end yet.").play, {"hang": True}))},
            {"script": Script("broken off", (BEGINNING, {"hang": True}))},
            {"script": Script("obeys", ({"until": "TERM"}, *self.answers("It ended, and nobody hears of it.").play))},
            {"script": Script("begins late", ({"until": "TERM"}, CHILD, {"hang": True}))},
            *({**family, "id": id} for id in IDS[number :: len(self.names)]),
        )  # fmt: skip
        steps: list[Step] = []
        names = [f"{tool} {number}" for number in range(len(kinds))]
        for number, (name, more) in enumerate(zip(names, kinds, strict=True)):
            cancel = Cancel(name, "ended" if number < FIRST else "sent")
            how: dict[str, Json] = {"mark": MARKS[number % len(MARKS)], "file": "You end.", **more}
            steps += [self.hanging(tool, name, **how), cancel, self.served(name, (tool, other)[number % 2])]
        unread = self.unread(tool, f"unread {tool}")
        steps += [*map(Await, names[FIRST:]), unread, Cancel(unread.name), self.served(unread.name, other)]
        # The same call as the first, which is over.
        again = self.hanging(tool, names[0], self.answers("Asked once more."), MARKS[0])
        steps.append(replace(again, name="", until="answered"))
        # Last, so that no call has ended since when its session is asked for.
        lists = self.sources.unnamed("It ended, and nobody asks for its session.", {"hang": True}, id="lists")
        name, words = f"unlisted {tool}", f"Who lists nothing for {tool}?"
        obeys = lists.behind({"until": "TERM"})
        steps.append(self.ask(tool, words, obeys, session=session(name), name=name, until="started"))
        steps += [Cancel(name), Request("tools/list")]
        shows = ("cancel:child", "cancel:unanswered", "cancel:others", "system:removed:cancel", LOGS, "cancel:group")
        shows = (*shows, "system:life")
        return self.conversation(tool, f"A cancelled {tool}.", steps, *shows, aside=True)

    def _late(self, tool: str, other: str) -> Conversation:
        steps: list[Step] = []
        for name in ("late", "later"):
            first = self.ask(tool, f"Who answers before {name}?", self.answers("Answered."), name=name)
            steps += [first, Cancel(name), Request("tools/list"), self.served(name, other)]
        steps += [Request("tools/list", name="list"), Cancel("list", "sent"), Request("tools/list")]
        steps += self._late_in_digits(tool)
        beside = f"beside {tool}"
        before = self.ask(other, f"Answered before {beside}", self.answers("Before."), session=session(beside))
        held = self.hanging(other, beside, self.answers("Beside.", release="beside"))
        # A session of its own, as in `served`.
        how = {"session": session(f"answered {tool}"), "name": "answered"}
        answered = self.ask(tool, "Answered beside another", self.answers("Answered."), **how)
        hung = self.hanging(tool, f"hung beside {tool}")
        steps += [replace(before, name="before"), held, answered, hung, Cancel("answered"), Cancel("before")]
        steps += [Request("tools/list"), Cancel(hung.name), Release("beside"), Await(held.name)]
        title = f"A {tool} cancelled after its answer."
        shows = ("cancel:late", "cancel:others", "rpc:response:id", "cancel:child", "cancel:unanswered")
        return self.conversation(f"{tool}-late", title, steps, *shows)

    def _late_in_digits(self, tool: str) -> Iterable[Step]:
        """A number and the text that looks like it: one of them is cancelled too late, then the other asks."""
        number = LATE + self.spec.names.index(tool)
        for late, id in ((f"{number}", number), (-number, f"{-number}")):
            words = f"Who has the id {late!r} for {tool}?"
            yield self.ask(tool, words, self.answers("Answered."), id=late, session=session(words))
            yield from self._served_behind(tool, late, id, f"Who has the id {id!r} for {tool}?")

    def _served_behind(self, tool: str, cancelled: Json, id: Json, words: str) -> Iterable[Step]:
        """A call behind the cancellation of an id that nothing has.

        Something is asked between the two: ports that read both at once may take the cancellation for a later one.
        """
        yield from (Notify(CANCELLED, {"requestId": cancelled}), Request("tools/list"))
        yield self.ask(tool, words, self.answers("Served."), id=id, session=session(words))

    def _unknown(self, tool: str) -> Conversation:
        """Ids that nothing has, and the id of a call that is sent afterwards; all while another call runs."""
        beside = f"beside nothing of {tool}"
        number = EARLY + self.spec.names.index(tool)
        digits = f"{number}0"
        kept = self.answers("Beside nothing.", release=beside)
        held = self.hanging(self.sources.after(tool), beside, kept, id=digits)
        hung = self.hanging(tool, f"hung beside nothing of {tool}")
        steps: list[Step] = [held, hung]
        same = (f"0{digits}", f"{digits}.0", f" {digits}", f"+{digits}")
        for id in ("no such call", 99_000_002, 0, "", *same):
            steps += [Notify(CANCELLED, {"requestId": id}), Request("tools/list")]
        for params in ({"requestId": "no such call", "reason": "None."}, None, {}, {"requestId": None}):
            steps += [Notify(CANCELLED, params), self.served(f"{params}", tool)]
        for wanted, id in ((f"early {tool}", f"early {tool}"), (f"{number}", number), (-number, f"{-number}")):
            words = f"Whom does a cancellation of {wanted!r} reach before {tool}?"
            steps += self._served_behind(tool, wanted, id, words)
        steps += [Cancel(hung.name), Release(beside), Await(beside)]
        shows = ("cancel:unknown", "cancel:others", "cancel:child", "rpc:notification:unanswered")
        title = "A cancellation of an unknown call."
        return self.conversation(f"{tool}-unknown", title, steps, *shows)

    def falsy_ids(self) -> Conversation:
        steps: list[Step] = []
        for id in (0, ""):
            name = f"falsy {id!r}"
            steps += [self.hanging(self.first, name, id=id), Cancel(name), self.served(name)]
        return self.conversation("falsy-ids", "Cancelled calls whose ids are 0 and empty.", steps, "cancel:falsy-id")

    def ignored_term(self) -> Conversation:
        """It takes a port some time to end what ignores SIGTERM; meanwhile others are served.

        First the list of sessions of a call ignores it, while no other call runs whose list it could be.
        """
        listed = self.listed(self.first, DEAF)
        steps: list[Step] = [listed, Cancel(listed.name, "sent"), *self.stubborn()]
        steps += [self.hanging(self.first, "quick", self.answers("Quick.", release="quick"))]
        names = [f"{tool}, stubborn" for tool in self.names]
        # Twice: while the port ends gemini, the call is neither unknown nor answered.
        steps += [Notify(CANCELLED, {"requestId": name}) for name in names]
        steps += [Cancel(name, "sent") for name in names]
        steps += [*map(Await, names), Release("quick"), Await("quick"), Await(listed.name)]
        steps += [self.served("stubborn"), self.served("stubborn ones", self.last)]
        title, shows = "Cancelled calls that ignore SIGTERM.", ("cancel:ignored-term", "cancel:unanswered")
        return self.conversation("ignored-term", title, steps, *shows, aside=True)

    def one_of_several(self) -> Conversation:
        """Of four whose ids look alike, the first and the third are cancelled while the others run."""
        steps: list[Step] = []
        for number in range(4):
            name, tool = f"{number} of four", (self.first, self.last)[number % 2]
            script = self.answers(f"The answer {name}.", release=name) if number % 2 else hangs()
            steps.append(self.hanging(tool, name, script, file=f"You are {name}.", id=ALIKE[number]))
        order: list[Step] = [Cancel("2 of four"), self.served("one", self.last), Cancel("0 of four")]
        order += [step for name in ("3 of four", "1 of four") for step in (Release(name), Await(name))]
        steps += order
        for one, other in (ALIKE[4:6], ALIKE[6:8], LONG_IDS):
            hung, held = f"hung beside {other[-9:]}", f"held beside {one[-9:]}"
            beside = self.hanging(self.first, held, self.answers("Held.", release=held), id=other)
            steps += [self.hanging(self.last, hung, id=one), beside, Cancel(hung), Release(held), Await(held)]
        shows = ("cancel:others", "cancel:child", "system:life")
        return self.conversation("some", "Calls of which some are cancelled.", steps, *shows)

    def in_line(self) -> Iterable[Conversation]:
        """Replies in one session: the one that runs is cancelled, others while they wait; the rest is served."""
        tool = self.spec.resumes
        if tool is None:
            return

        def reply(name: str, script: Script, until: str = "sent") -> Request:
            words = f"In line: {name}"
            return self.ask(tool, words, script, session=SESSION, name=name, until=until)

        steps: list[Step] = [reply("runs", hangs(), "started")]
        steps += [reply("second", self.answers("Second.", release="second")), reply("waits", hangs())]
        steps += [reply("waits too", hangs()), reply("waits as well", hangs()), reply("last", self.answers("Last."))]
        steps += [self.served("the line"), Cancel("waits"), Cancel("runs"), self.served("the first in line")]
        # Two in a row: whoever removes them from the line while it goes through it may pass over the second.
        steps += [Cancel("waits too"), Cancel("waits as well")]
        new = reply("new", self.answers("New.", release="new"), "started")
        steps += [Release("second"), Await("second"), Await("last"), new, reply("behind", self.answers("Behind."))]
        steps += [self.served("the new one"), Release("new"), Await("new"), Await("behind")]
        lingers = Script(
            "lingers", ({"until": "TERM"}, {"wait": LINGERS}, *self.answers("Nobody hears this answer.").play)
        )
        # Whoever kills what was cancelled by the clock may hit what runs by then.
        steps += [reply("stays", lingers, "started"), reply("after all", self.answers("After all.", wait=CLOCK))]
        steps += [Cancel("stays"), Await("after all")]
        # One that has waited for another, and runs.
        steps += [reply("front", self.answers("Front.", wait=LINGERS), "started")]
        steps += [reply("turned", hangs(), "started"), Cancel("turned"), self.served("the turned one")]
        shows = ("cancel:others", "cancel:unanswered", "cancel:child", "concurrency:same-session")
        yield self.conversation("in-line", "Replies that wait for a cancelled one.", steps, *shows)

    def in_list(self) -> Conversation:
        """Calls of every tool whose session gemini has not named, while the list of sessions does not end.

        A call whose session only the list names comes behind each.
        """
        steps: list[Step] = []
        for number, tool in enumerate(self.names):
            listed = self.sources.listed(f"Listed after {tool}.", session(f"listed {number}"))
            steps += [self.listed(tool, CHILD), Request("ping"), Request("tools/list"), Cancel(f"list of {tool}")]
            steps.append(self.ask(tool, f"Is {tool} listed now?", listed))
        shows = ("cancel:child", "cancel:unanswered", "system:removed:cancel", "fallback:list-sessions")
        shows = (*shows, "concurrency:ping", "concurrency:list", "cancel:others", "cancel:group")
        return self.conversation("in-list", "Calls cancelled during the list of sessions.", steps, *shows)

    def same_looking_ids(self) -> Conversation:
        """A number and the text that looks like it are two ids, whichever is cancelled and whichever came last."""
        steps: list[Step] = []
        tools = (self.first, self.last, self.first, self.last)
        for tool, number in zip(tools, range(770_007, 770_011), strict=True):
            kept, gone = (number, str(number)) if number % 2 else (str(number), number)
            names = f"kept {number}", f"gone {number}"
            calls = [self.hanging(tool, names[0], self.answers(f"The {names[0]}.", release=names[0]), id=kept)]
            calls += [self.hanging(tool, names[1], id=gone)]
            steps += calls if number < 770_009 else reversed(calls)
            steps += [Cancel(names[1]), self.served(names[1]), Notify(CANCELLED, {"requestId": gone})]
            steps += [Request("tools/list"), Release(names[0]), Await(names[0])]
        return self.conversation("ids", "Ids that look the same.", steps, "cancel:others")
