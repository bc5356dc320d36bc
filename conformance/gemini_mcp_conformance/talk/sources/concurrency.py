"""Several calls at once, which may run at the same time: each gets its own answer, and others are served."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import cycle, product

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.outcomes.failures import exits_with_meaning
from gemini_mcp_conformance.talk.plays import SESSION, fails, session
from gemini_mcp_conformance.talk.showing import shown_by
from gemini_mcp_conformance.talk.sources import Sources, sequences
from gemini_mcp_conformance.talk.steps import Await, Cancel, Neighbour, Release, Request, Step, call, path, told
from gemini_mcp_conformance.talk.together import BESIDE, CROWD, Together

ORDER = 40
BESIDE_MANY = "It failed beside many others.\n"
FEW = 8
"""Calls that every port can run at once."""

FLOOD, SLOW = 300_000, 2.5
"""Bytes that gemini writes to stderr before it reads its stdin, and seconds until then; both are more than pipes and
hasty ports have."""
SAME = "The same words for both. "
LONG = "prompt:long:whole"
AFTER_FAILURE = "concurrency:after-failure"


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Pairs of every kind, what else is asked meanwhile, a crowd, and what follows failures."""
    if not sources.spec.told_apart:
        return
    made = Concurrency(sources)
    yield from made.pairs()
    yield made.meanwhile()
    yield made.neighbours()
    yield made.out_of_order()
    yield made.alike_ids()
    yield from made.unread()
    yield made.in_a_row()
    yield made.starts()
    yield made.crowd()
    yield made.crowd_again()
    if made.begins is not None:
        yield made.crowd_of_lists(made.begins)
    yield from made.files()
    yield from made.after_failures()


class Concurrency(Together):
    """Calls that run beside others, whichever they are."""

    def pairs(self) -> Iterable[Conversation]:
        """Two calls, the second of which is sent while the first is held, as far as there are tools for them."""
        begin, reply = self.begins, self.resumes
        if begin is not None:
            yield from self._of_beginning(begin)
        if begin is not None and reply is not None:
            same, declared = {"session": SESSION}, self.spec.tools[begin].properties
            named = self.spec.session(reply)
            undeclared = {named: SESSION} if named is not None and named not in declared else {}
            yield self.pair("reply-and-chat", "A reply, and other calls beside it.", (*BESIDE, "arguments:unknown"),
                             self.held(reply, "reply", **same), self.quick(begin, "of no session", also=undeclared),
                             self.held(begin, "beside", "reply"))  # fmt: skip
            yield self.pair("chat-and-reply", "A call, and a reply beside it.", BESIDE,
                             self.held(begin, "first"), self.held(reply, "reply", "first", **same))  # fmt: skip

    def _of_beginning(self, tool: str) -> Iterable[Conversation]:
        here = path("one")
        yield self.pair("chats", "Two calls that begin sessions.", BESIDE,
                         self.held(tool, "first"), self.held(tool, "second", "first"))  # fmt: skip
        yield self.pair("chats-in-one-directory", "Two of them in one directory.", BESIDE,
                         self.held(tool, "first", directory=here),
                         self.held(tool, "second", "first", directory=here))  # fmt: skip
        yield self.pair("chats-beside-everything", "One with everything, and one with nothing beside it.",
                         (*BESIDE, *sequences.shows(self.sources)),
                         self.held(tool, "first", directory=here, file="You are first.", option="a-model"),
                         self.held(tool, "second", "first"))  # fmt: skip
        steps: list[Step] = []
        questions = {"twins": "The question of twins?", "long twins": self.overlong("The question of long twins? ")}
        for name, words in questions.items():
            script = self.answers("The answer to twins.", session("twins"), name)
            twin = self.ask(tool, words, script, name=name, until="started", file="You are a twin.")
            other = f"other of {name}"
            steps += [twin, replace(twin, name=other), Release(name), Await(name), Await(other)]
        if self.spec.resumes:
            steps += self._like_replies(self.spec.resumes)
        yield self.conversation("twins", "The same call twice at once.", steps, *BESIDE, "command:once", LONG)

    def _like_replies(self, tool: str) -> Iterable[Step]:
        """The same reply twice at once: the second waits for its turn, and is run too."""
        name, other = "like replies", "other of like replies"
        script = self.answers("The answer to like replies.", session(name), name)
        twin = self.ask(tool, "The question of like replies?", script, session=session(name), name=name)
        yield from (replace(twin, until="started"), replace(twin, name=other, until="sent"))
        # A port that answers it has read what was written before.
        yield Request("tools/list")
        yield from (Release(name), Await(name), Await(other))

    def meanwhile(self) -> Conversation:
        """A ping and the list of tools while a call of any tool runs."""
        asked: list[Step] = []
        for tool, escaped in product(self.names, (False, True)):
            name = f"{tool}, in escapes" if escaped else tool
            asked += [self.held(tool, name, escaped=escaped), Request("ping"), Request("tools/list")]
            asked += [Release(name), Await(name), Request("ping")]
        shows = ("concurrency:ping", "concurrency:list", "tools:order")
        return self.conversation("meanwhile", "Requests while a call runs.", asked, *shows)

    def neighbours(self) -> Conversation:
        """Calls of every tool while another program of the user starts the same port, twice, and ends it."""
        calls = [self.held(tool, tool, session=session(tool), file=f"You stay with {tool}.") for tool in self.names]
        steps: list[Step] = [*calls, Neighbour(), Request("ping")]
        steps += [step for tool in self.names for step in (Release(tool), Await(tool), Neighbour())]
        shows = (*BESIDE, "system:life", "system:isolation", "command:once")
        return self.conversation("neighbours", "Ports of other programs.", steps, *shows)

    def out_of_order(self) -> Conversation:
        """Four calls, answered in another order than asked, and one more between."""
        tools = (self.first, self.last) * 2
        # Sessions of their own: where every tool resumes one, all would resume the latest and wait for each other.
        calls = [
            self.held(tool, name, option="a-model", session=session(f"the {name}"))
            for tool, name in zip(tools, ("one", "two", "three", "four"), strict=True)
        ]
        order = [step for name in ("three", "one", "four", "two") for step in (Release(name), Await(name))]
        five = self.quick(self.first, "five", session=session("s5"))
        steps = (*calls, *order[:4], five, *order[4:], self.quick(self.last, "six"), *self._nearly_alike())
        return self.conversation("out-of-order", "Answers out of order.", steps, *BESIDE)

    def _nearly_alike(self) -> Iterable[Step]:
        """Calls whose prompts, or texts in files, begin alike and are as long; the second is answered first."""
        plain, with_file = ("the former", "the latter"), ("the first of two", "the other of two")
        for has_file, names in ((False, plain), (True, with_file)):
            for name in names:
                script = self.answers(f"The answer to {name}.", session(name), name)
                own: dict[str, Json] = {"session": session(name), "name": name, "until": "started"}
                own |= {"file": f"{SAME * 100}You are {name}."} if has_file else {}
                yield self.ask(self.first, f"{SAME * 12}Who is {name}? {SAME * 100}", script, **own)
            yield from (step for name in reversed(names) for step in (Release(name), Await(name)))

    def alike_ids(self) -> Conversation:
        """Calls at once, with a number for an id and the text that looks like it, or with one composed otherwise."""
        ids: tuple[Json, ...] = (880_007, "880007", "880008", 880_008, "\u00e9 880009", "e\u0301 880009")
        named = {f"{type(id).__name__} {id}": id for id in ids}
        calls = [
            self.held(self.first, name, session=session(name), id=id, file=f"You are {name}.")
            for name, id in named.items()
        ]
        ends = [step for name in named for step in (Release(name), Await(name))]
        title = "Ids that look alike, at the same time."
        shows = ("rpc:response:id", "concurrency:crossed", "system:isolation")
        return self.conversation("alike-ids", title, (*calls, *ends), *shows)

    def unread(self) -> Iterable[Conversation]:
        """Others are served while gemini has not read its stdin, and their geminis do not keep it open."""
        name, words = self.spec.prompt(self.first), self.overlong("Unread, and long. ")
        if name is None or len(words) > (self.spec.longest(name) or len(words)):
            return
        script = Script("unread", ({"unread": "read"}, {"flood": FLOOD}, *self.answers("Read at last.").play))
        own, aside, beside, other = (session(f"{each} the unread") for each in ("of", "aside of", "beside", "not"))
        long = self.ask(self.first, words, script, session=own, name="long", until="started")
        as_long = self.ask(self.last, self.overlong("Read, and as long. "), self.answers("At once."), session=other)
        steps = (long, self.quick(self.last, "aside", session=aside), as_long, Request("ping"), Request("tools/list"))
        slow = self.ask(self.last, "What takes its time?", self.answers("It took it.", wait=SLOW), session=aside)
        steps = (*steps, self.held(self.last, "beside", session=beside), slow, Release("read"), Await("long"))
        shows = (
            "concurrency:ping",
            "concurrency:list",
            "concurrency:calls",
            "process:stdin:ended",
            LONG,
            "result:session-id",
        )
        title = "A gemini that takes its time to read."
        yield self.conversation("unread", title, (*steps, Release("beside"), Await("beside")), *shows, aside=True)

    def in_a_row(self) -> Conversation:
        """Requests of every kind, each of which is sent before the one in front of it is answered.

        Their prompts are long, so that what is meant for one gemini can reach another.
        """
        steps: list[Step] = []
        for number in range(2):
            for tool in self.names:
                refused = self.wrong(tool)
                name = f"{number} in a row of {tool}"
                script = self.answers(f"The answer to {name}.", session(name))
                sent: dict[str, Json] = {"until": "sent"}
                asked = self.ask(
                    tool, self.overlong(f"The question of {name}? "), script, session=session(name), **sent
                )
                steps += [call(tool, refused, **sent), replace(asked, name=name)]
                steps += [call("no-such-tool", refused, **sent), Request("no/such/method", {}, **sent)]
                steps += [Request("tools/list", **sent), Request("ping", **sent)]
        shows = ("rpc:response:id", "concurrency:crossed", "tools:unknown", "rpc:error:method", LONG)
        return self.conversation("in-a-row", "Requests that wait for no answer.", steps, *shows)

    def starts(self) -> Conversation:
        """Calls that start at the same time, every second one with everything, the others with nothing of their own."""
        steps: list[Step] = []
        for number, tool in zip(range(FEW), cycle(self.names)):
            given: dict[str, Json] = {}
            if number // len(self.names) % 2 == 0:
                given = {
                    "directory": path("one"),
                    "file": f"You are number {number}.",
                    "option": f"model-{number}:latest",
                }
            name = f"start {number}"
            steps.append(replace(self.quick(tool, name, session=session(f"session of {name}"), **given), until="sent"))
        options = (id for tool in self.names for id in shown_by(self.spec, tool, *self.spec.options(tool)))
        title, shows = "Calls that start at the same time.", (*BESIDE, *sequences.shows(self.sources), *options)
        return self.conversation("starts", title, steps, *shows, files={"one": None})

    def crowd(self) -> Conversation:
        """Sixteen calls wait for one release, which comes when at least the first eight have started."""
        calls: list[Step] = []
        for number in range(CROWD):
            name, tool = f"{number:02} of the crowd", self.names[number % len(self.names)]
            script = self.answers(f"The answer to {name}.", session(f"{name}, answered"), "crowd")
            until = "started" if number < FEW else "sent"
            file = f"You are {name}."
            asked = self.asked(tool, name, script, session=session(name), file=file, until=until)
            calls.append(told(asked, name))
        failing = self.asked(self.first, "fails in the crowd", fails(release="fails", stderr=BESIDE_MANY), until="sent")
        calls.insert(FEW, failing)
        steps = (*calls, Request("ping"), Request("tools/list"), Release("crowd"), Release("fails"))
        shows = ("concurrency:lost", "concurrency:crossed", "concurrency:ping", "concurrency:list", "progress:start")
        shows = (*shows, "system:isolation", "system:life", "concurrency:calls", "concurrency:other-session")
        shows = (*shows, "error:stderr")
        return self.conversation("crowd", "Sixteen calls at once.", steps, *shows, aside=True)

    def crowd_again(self) -> Conversation:
        """Eight calls, and two that are cancelled before a port that serves no more at once has begun with them."""
        steps: list[Step] = []
        for crowd in ("first crowd", "second crowd"):
            names = [f"number {number} of the {crowd}" for number in range(FEW + 2)]
            calls = [
                self.held(tool, name, crowd, session=session(name)) for tool, name in zip(cycle(self.names), names)
            ]
            steps += [*calls[:FEW], *(replace(each, until="sent") for each in calls[FEW:])]
            steps += [Request("ping"), *map(Cancel, names[FEW:]), Request("ping")]
            steps += [Release(crowd), *map(Await, names[:FEW])]
        title = "As many calls as every port can run, twice."
        shows = ("concurrency:calls", "concurrency:crossed", "cancel:others")
        return self.conversation("crowd-again", title, steps, *shows, aside=True)

    def crowd_of_lists(self, tool: str) -> Conversation:
        """Sixteen calls that end at the same time, and all of whose sessions only the list of their directory names."""
        steps, places = list[Step](), ("one", "other/one") if self.spec.directory(tool) is not None else ("one",)
        for number in range(CROWD):
            name, where = f"{number:02} of those that look it up", places[number % len(places)]
            listed = self.sources.listed(f"The answer to {name}.", session(f"whichever is the newest in {where}"))
            until = "started" if number < FEW else "sent"
            held = listed.behind({"release": "lists"})
            steps.append(self.asked(tool, name, held, file=f"You are {name}.", directory=path(where), until=until))
        shows = (
            "concurrency:lost",
            "concurrency:crossed",
            "fallback:list-sessions",
            "fallback:cwd",
            "system:isolation",
        )
        title = "Sixteen calls that ask for their lists at once."
        files = dict.fromkeys(places)
        return self.conversation("crowd-of-lists", title, (*steps, Release("lists")), *shows, aside=True, files=files)

    def files(self) -> Iterable[Conversation]:
        """Each of three calls at once must see its own file, and the one without must see none."""
        names = [tool for tool in self.names if self.spec.files(tool)]
        if not names:
            return
        pirate = "You are a pirate of the concurrent seas."
        calls = (
            self.held(names[0], "pirate", "all", file=pirate, session=session("s1")),
            self.held(names[-1], "poet", "all", file="You are a poet, and late.", session=SESSION),
            self.held(names[0], "nobody", "all", session=session("s3")),
            self.held(names[0], "twin", "all", file=pirate, session=session("s4")),
        )
        steps, shows = (*calls, Release("all")), ("system:isolation", "concurrency:crossed")
        yield self.conversation("system-prompts", "Texts in files at once.", steps, *shows)

    def after_failures(self) -> Iterable[Conversation]:
        """After a failure of any tool the next calls are served, also those that had to wait for it."""
        ask = self.ask
        for tool in self.names:
            failures = [ask(tool, f"Failure {exit} of {tool}", fails(exit), session=SESSION) for exit in (1, 53)]
            steps = [failures[0], self.quick(tool, "next", session=SESSION), call(tool, {"no": 7})]
            steps += [self.quick(self.first, "third"), failures[1], self.quick(self.last, "fourth", session=SESSION)]
            nowhere = ask(tool, "Where is it?", session=SESSION, directory=path("no-such"))
            steps += [self.quick(tool, "fifth"), nowhere, self.quick(tool, "behind nowhere", session=SESSION)]
            other = self.sources.after(tool)
            for exit in exits_with_meaning(self.spec):
                # Whoever takes a model for out of order does so for every tool.
                words, option = f"Failure {exit} of {tool}, by its model", f"model-{exit}"
                steps.append(ask(tool, words, fails(exit), session=SESSION, option=option))
                steps.append(self.quick(other, f"other than {exit} of {tool}", session=session(words), option=option))
            shows = (AFTER_FAILURE, *shown_by(self.spec, other, *self.spec.options(other)))
            yield self.conversation(f"after-failed-{tool}", f"Calls after a failed {tool}.", steps, *shows)
        reply = self.resumes
        has_latest = reply is not None and self.spec.latest(reply) is not None
        kinds: list[tuple[str, dict[str, Json]]] = [("session", {"session": SESSION})]
        kinds += [("latest", {})] if has_latest else []
        for name, meant in kinds:
            if reply is None:
                return
            failing = ask(reply, "The failing reply", fails(release="go"), name="failing", until="started", **meant)
            last = self.quick(reply, "last")
            # Two wait: whoever lets all of them go on runs both at once, until one release.
            waiting = [replace(self.held(reply, name, "go on", **meant), until="sent") for name in ("second", "third")]
            again = (self.held(reply, "held again", **meant), *self.behind(reply, "behind again", **meant))
            aside = self.aside("aside of it", *(f"aside of it {number}" for number in range(4)))
            steps = [failing, *waiting, *aside[:2], Release("go"), Await("failing"), *aside[2:], Release("go on")]
            steps += [*(Await(each.name) for each in waiting), last]
            steps += [*again, Release("held again"), Await("held again")]
            title, locks = "A reply behind one that fails.", ("concurrency:same-session", "concurrency:latest")
            yield self.conversation(f"behind-failed-{name}", title, steps, AFTER_FAILURE, *locks)
