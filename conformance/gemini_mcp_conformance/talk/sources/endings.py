"""Calls and ports that end while gemini runs: no process of gemini may be left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle

from gemini_mcp.spec.values import Json, table
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import CHILD, DEAF, SESSION, fails, hangs, session
from gemini_mcp_conformance.talk.sources import Maker, Sources
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
from gemini_mcp_conformance.talk.texts import NAMES_OF_OBJECTS

ORDER = 60
CANCELLED = "notifications/cancelled"
IDS: tuple[Json, ...] = (-8_000_001, "질문 🙂", 2**53 - 8_000_001, "-8000002", "i" * 500, *NAMES_OF_OBJECTS[:3])
"""Ids of cancelled calls, dealt out to the tools."""
ALIKE = ("Call abc", "call abc", "call ab", "Call abc ", "call bac", "call cab", "call \u00e9", "call e\u0301")
"""Ids of calls that run at once: one begins like another, or differs in its case, in a blank, in its order or in how
its characters are composed."""
LONG_IDS = (f"{'i' * 500}1", f"{'i' * 500}2")
"""Ids of which only the ends differ."""
EARLY = 97_000_001
"""The id of a call that comes behind a cancellation of the same digits as a text."""
MARKS = ("", "-", "/", "@")
"""What prompts begin with that reach gemini in unlike ways."""
FIRST = 3
"""Calls that are cancelled and end before the next one begins. The others end beside those that come later."""
MANY = 8
"""Calls that ignore SIGTERM: a port that waits for the end of one before it ends the next takes too long for them."""
TIMES, SOON = 50_000, 0.5
"""How often an answer that nobody reads repeats a text, and seconds until it fills every buffer."""
LOGS = "stdio:stderr:private"
BEGINNING: Json = {"stdout": '{"a": ["Not the end yet", '}
"""A step that prints the beginning of an answer: what comes behind it, from whatever gemini, is no answer."""
GOING_ON: tuple[Json, ...] = ({"wait": 0.3}, {"stdout": '"nor yet", '}) * 40
"""Steps that print something again and again, for longer than a port may take to end gemini."""
LONGER = 1.5
"""Seconds that a list of sessions takes which is not given up for that."""
LINGERS = 0.3
"""Seconds that a gemini lives on behind SIGTERM: fewer than ports wait before they send SIGKILL."""
TELLS = 10.6
"""Seconds of a call of whose progress something is told."""
CLOCK = 2.5
"""Seconds after which ports have sent SIGKILL."""
SIGNALS: dict[Ending, str] = {"TERM": "sigterm", "INT": "sigint", "HUP": "sighup"}
HALF_A_LINE = Raw(b'{"jsonrpc": "2.0"')


def conversations(sources: Sources) -> Iterable[Conversation]:
    """First the ends of calls, then those of the port."""
    made = Endings(sources)
    for tool in sources.spec.names:
        yield from made.cancellations(tool)
    yield made.cancel_falsy_ids()
    yield made.cancel_stubborn()
    yield made.cancel_one_of_several()
    yield from made.cancel_in_line()
    yield made.cancel_in_list()
    yield made.same_looking_ids()
    yield from made.stdin_ends()
    for how, name in SIGNALS.items():
        yield from made.signals(how, name)
    for revision in sources.spec.manifest.stateless_revisions:
        yield from made.without_handshake(revision)


def _of_term(how: Ending) -> tuple[str, ...]:
    return ("shutdown:sigterm", "system:removed:sigterm") if how == "TERM" else ()


class Endings(Maker):
    """Calls of the tools of one specification that do not end by themselves."""

    phase, prefix = "endings", ""

    def __init__(self, sources: Sources) -> None:
        super().__init__(sources)
        self.names = sources.spec.told_apart or sources.spec.names[:1]
        self.asks_progress = cycle((True, False))

    def _cancel(self, id: str, title: str, steps: Sequence[Step], *shows: str, **more: Json) -> Conversation:
        return self.conversation(f"cancel-{id}", title, steps, *shows, **more)

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
        return self.conversation(f"end-{id}", title, (*steps, End(how, then)), *shows, **more)

    def unread(self, tool: str, name: str) -> Request:
        """A call whose gemini does not read its prompt, which is longer than a pipe holds, and does not end."""
        script = Script("unread", ({"unread": name}, {"hang": True}))
        words = self.overlong(f"No end of {name}. ")
        return self.ask(tool, words, script, session=session(name), name=name, until="started")

    def hanging(
        self, tool: str, name: str, script: Script | None = None, mark: str = "", long: bool = False, **more: Json
    ) -> Request:
        """A call whose gemini does not end; every other one asks for progress. Its prompt begins with the mark."""
        how = {"session": session(name), "name": name, "until": "started", **more}
        words = f"{mark}No end of {name}"
        asked = self.ask(tool, self.overlong(f"{words}. ") if long else words, script or hangs(), **how)
        meta: Json = {"_meta": {"progressToken": name}} if next(self.asks_progress) else {}
        return replace(asked, params={**table(asked.params), **meta})

    def served(self, name: str, tool: str | None = None) -> Request:
        words = f"Served after {name}"
        # A session of its own: a port may let a reply to the latest session wait for every reply of the directory.
        return self.ask(tool or self.first, words, self.answers(f"{words}."), session=session(words))

    def cancellations(self, tool: str) -> Iterable[Conversation]:
        """Cancellations of calls of one tool: while gemini runs, after the answer, and for ids that no call has."""
        other = self.sources.after(tool)
        yield self._cancel_running(tool, other)
        steps = [self.hanging(tool, "family", hangs(child=True)), Cancel("family"), self.served("family", other)]
        title = f"A cancelled {tool} whose gemini has started a process."
        yield self._cancel(f"{tool}-group", title, steps, "cancel:group")
        yield self._cancel_late(tool, other)
        yield self._cancel_unknown(tool)

    def _cancel_running(self, tool: str, other: str) -> Conversation:
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
        shows = ("cancel:child", "cancel:unanswered", "cancel:others", "system:removed:cancel", LOGS, "cancel:group")
        return self._cancel(tool, f"A cancelled {tool}.", steps, *shows, aside=True)

    def _cancel_late(self, tool: str, other: str) -> Conversation:
        steps: list[Step] = []
        for name in ("late", "later"):
            first = self.ask(tool, f"Who answers before {name}?", self.answers("Answered."), name=name)
            steps += [first, Cancel(name), Request("tools/list"), self.served(name, other)]
        steps += [Request("tools/list", name="list"), Cancel("list", "sent"), Request("tools/list")]
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
        return self._cancel(f"{tool}-late", title, steps, *shows)

    def _cancel_unknown(self, tool: str) -> Conversation:
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
        # Something is asked between the two: ports that read both at once may take the cancellation for a later one.
        for wanted, id in ((f"early {tool}", f"early {tool}"), (f"{number}", number), (-number, f"{-number}")):
            words = f"Whom does a cancellation of {wanted!r} reach before {tool}?"
            steps += [Notify(CANCELLED, {"requestId": wanted}), Request("tools/list")]
            steps += [self.ask(tool, words, self.answers("Served."), id=id, session=session(words))]
        steps += [Cancel(hung.name), Release(beside), Await(beside)]
        shows = ("cancel:unknown", "cancel:others", "cancel:child", "rpc:notification:unanswered")
        title = "A cancellation of an unknown call."
        return self._cancel(f"{tool}-unknown", title, steps, *shows)

    def cancel_falsy_ids(self) -> Conversation:
        steps: list[Step] = []
        for id in (0, ""):
            name = f"falsy {id!r}"
            steps += [self.hanging(self.first, name, id=id), Cancel(name), self.served(name)]
        return self._cancel("falsy-ids", "Cancelled calls whose ids are 0 and empty.", steps, "cancel:falsy-id")

    def cancel_stubborn(self) -> Conversation:
        """It takes a port some time to end what ignores SIGTERM; meanwhile others are served.

        First the list of sessions of a call ignores it, while no other call runs whose list it could be.
        """
        listed = self._listed(self.first, DEAF)
        steps: list[Step] = [listed, Cancel(listed.name, "sent"), *self._stubborn()]
        steps += [self.hanging(self.first, "quick", self.answers("Quick.", release="quick"))]
        names = [f"{tool}, stubborn" for tool in self.names]
        # Twice: while the port ends gemini, the call is neither unknown nor answered.
        steps += [Notify(CANCELLED, {"requestId": name}) for name in names]
        steps += [Cancel(name, "sent") for name in names]
        steps += [*map(Await, names), Release("quick"), Await("quick"), Await(listed.name)]
        steps += [self.served("stubborn"), self.served("stubborn ones", self.last)]
        title, shows = "Cancelled calls that ignore SIGTERM.", ("cancel:ignored-term", "cancel:unanswered")
        return self._cancel("ignored-term", title, steps, *shows, aside=True)

    def cancel_one_of_several(self) -> Conversation:
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
        return self._cancel("some", "Calls of which some are cancelled.", steps, *shows)

    def cancel_in_line(self) -> Iterable[Conversation]:
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
        shows = ("cancel:others", "cancel:unanswered", "concurrency:same-session")
        yield self._cancel("in-line", "Replies that wait for a cancelled one.", steps, *shows)

    def cancel_in_list(self) -> Conversation:
        """Calls of every tool whose session gemini has not named, while the list of sessions does not end.

        A call whose session only the list names comes behind each.
        """
        steps: list[Step] = []
        for number, tool in enumerate(self.names):
            listed = self.sources.listed(f"Listed after {tool}.", session(f"listed {number}"))
            steps += [self._listed(tool, CHILD), Request("ping"), Request("tools/list"), Cancel(f"list of {tool}")]
            steps.append(self.ask(tool, f"Is {tool} listed now?", listed))
        shows = ("cancel:child", "cancel:unanswered", "system:removed:cancel", "fallback:list-sessions")
        shows = (*shows, "concurrency:ping", "concurrency:list", "cancel:others", "cancel:group")
        return self._cancel("in-list", "Calls cancelled during the list of sessions.", steps, *shows)

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
        return self._cancel("ids", "Ids that look the same.", steps, "cancel:others")

    def stdin_ends(self) -> Iterable[Conversation]:
        """While nothing runs, during calls of every tool, of stubborn ones as well, and during a line of replies."""
        shows = ("shutdown:stdin-end:busy", "shutdown:stdin-end:group")
        removed = (*shows, "system:removed:stdin-end", "shutdown:prompt")
        idle = ("shutdown:stdin-end", "shutdown:prompt")
        # That of a whole line is in the scenarios.
        title = "The end of stdin in the middle of a line."
        yield self._end("stdin", title, "stdin", [*self._past("stdin"), HALF_A_LINE], *idle)
        yield self._end("stdin-unasked", "The end of stdin before any message.", "stdin", (), idle[0], greet=False)
        title = "The end of stdin while nobody reads an answer."
        yield self._end("stdin-unread", title, "stdin", self._unread(), *idle)
        yield self._end("stdin-busy", "The end of stdin during calls.", "stdin", self._busy("stdin"), *removed, LOGS)
        title = "The end of stdin while gemini ignores SIGTERM."
        tools = (self.names[number % len(self.names)] for number in range(MANY))
        many = [self.hanging(tool, f"deaf {number}", hangs(stubborn=True)) for number, tool in enumerate(tools)]
        ignored = "shutdown:stdin-end:ignored-term"
        yield self._end("stdin-ignored-term", title, "stdin", many, ignored, "shutdown:prompt")
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
        listed = ("fallback:list-sessions", "fallback:latest", LOGS)
        lists = (self._abandoned(), self._abandoned(), again)
        yield self._end("stdin-after-list", title, "stdin", lists, shows[1], *listed)
        title = "The end of stdin, and SIGTERM soon after, while gemini ignores it."
        yield self._end("stdin-then-sigterm", title, "stdin", self._stubborn(), *removed, ignored, then="TERM")
        title = "The end of stdin, and SIGINT soon after, while gemini ignores SIGTERM."
        yield self._end("stdin-then-sigint", title, "stdin", self._stubborn(), *removed, ignored, then="INT")
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
            yield self._end(f"{name}-ignored", title, how, self._stubborn(), *shows, then=how)
            title = "SIGTERM while nobody reads an answer."
            yield self._end(f"{name}-unread", title, how, self._unread(), _of_term(how)[0])

    def without_handshake(self, revision: str) -> Iterator[Conversation]:
        """A port may look after signals, or its calls, only once a client has greeted it."""
        families = [self.hanging(tool, f"family of {tool}", hangs(child=True)) for tool in self.names]
        title = f"SIGTERM during calls of the revision {revision}."
        shows = ("shutdown:sigterm:group", *_of_term("TERM"))
        yield self._end(f"{revision}-busy", title, "TERM", families, *shows, revision=revision)
        title = f"The end of stdin during calls of the revision {revision}."
        shows = ("shutdown:stdin-end:busy", "shutdown:stdin-end:group", "shutdown:stdin-end:ignored-term")
        steps = [*families, *self._stubborn()]
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

    def _unread(self) -> list[Step]:
        """An answer that fills every buffer."""
        long = self.answers("Nobody reads this, and much more of the same. " * TIMES)
        return [Listen(False), self.ask(self.first, "Who reads it?", long, until="started"), Listen(False, SOON)]

    def _past(self, how: Ending) -> Iterator[Step]:
        """What may have happened before nothing runs: a line without sense, and calls that ended in every way."""
        name, tool = f"past of {how}", self.first
        yield from (Raw(b"This is no JSON.\n"), self.hanging(tool, name), Cancel(name))
        yield call(tool, self.wrong(tool))
        yield from (self.ask(tool, f"A failure before {how}", fails()), self.served(f"the past of {how}"))

    def _busy(self, how: Ending) -> list[Step]:
        """Of each tool a call with a file, a plain one, one whose gemini has started a process; a line, and a list.

        The first has a prompt that gemini does not read; those behind it and the last have a file to be removed.
        """
        files = [
            self.hanging(tool, f"file of {tool} and {mark!r}", mark=mark, file="You are interrupted.")
            for tool, mark in zip(self.names, MARKS, strict=False)
        ]
        plain = [self.hanging(tool, f"plain {tool}") for tool in self.names]
        families = [
            self.hanging(tool, f"family of {tool}", hangs(child=True), long=number % 2 > 0)
            for number, tool in enumerate(self.names)
        ]
        line = self._line(session("the line"))
        gone = self.hanging(self.first, f"gone before {how}")
        unread = self.unread(self.first, f"unread at {how}")
        return [
            self.served("nothing"),
            gone,
            Cancel(gone.name),
            unread,
            *files,
            *plain,
            *families,
            *line,
            self._listed(self.first),
        ]

    def _line(self, session: str | None = None) -> list[Request]:
        """A reply that runs, and one in the same session that waits for it: in the latest one if none is named."""
        tool = self.spec.resumes or self.first
        front = self.ask(tool, "In line 0", hangs(), session=session, until="started")
        return [
            front,
            self.ask(tool, "In line 1", hangs(), session=session, until="sent", file="You wait for the end."),
        ]

    def _stubborn(self) -> list[Step]:
        names = {tool: f"{tool}, stubborn" for tool in self.names}
        # Every other one has begun its answer, and goes on with it whatever it is asked.
        deaf = hangs(stubborn=True)
        scripts = cycle((deaf, Script("goes on", (DEAF, BEGINNING, *GOING_ON, {"hang": True}))))
        return [
            self.hanging(tool, name, script, id=name, file="You are stubborn.")
            for (tool, name), script in zip(names.items(), scripts, strict=False)
        ]

    def _abandoned(self) -> Request:
        """A call that is answered when the port waits no longer for its list of sessions."""
        entry = f"{self.sources.entry(9, session('listed too late'))}\n"
        lists = self.sources.unnamed("Answered without a list.", {"stdout": entry}, {"hang": True}, id="lists")
        return self.ask(self.first, "Who waits for the list?", lists)

    def _listed(self, tool: str, *before: Json) -> Request:
        """A call whose list of sessions hangs behind these steps."""
        lists = self.sources.unnamed("Unlisted.", *before, {"hang": True}, id="lists")
        named: dict[str, Json] = {"name": f"list of {tool}", "until": "listing"}
        return self.ask(tool, f"What lists {tool}?", lists, file="You are about to be listed.", **named)
