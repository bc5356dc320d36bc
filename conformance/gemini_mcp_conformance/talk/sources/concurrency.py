"""Several calls at once: beside each other, one after the other where they must wait, each with its own answer."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.play.fake.script import Script
from gemini_mcp_conformance.talk.conversation import Await, Conversation, Release, Request, Step, call, path
from gemini_mcp_conformance.talk.plays import SESSION, fails, session
from gemini_mcp_conformance.talk.sources import Sources

ORDER = 40
PHASE = "concurrency"
CROWD = 16
FEW = 4
"""Calls that every port can run at once."""

BESIDE = ("concurrency:calls", "concurrency:crossed")


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Pairs of every kind, what else is asked meanwhile, a crowd, and what follows failures."""
    if not sources.spec.told_apart:
        return
    made = Concurrency(sources)
    yield from made.pairs()
    yield made.meanwhile()
    yield made.out_of_order()
    yield made.crowd()
    yield from made.files()
    yield from made.after_failures()


class Concurrency:
    """Calls of the tools of one specification, several at once."""

    def __init__(self, sources: Sources) -> None:
        self.sources, self.names = sources, sources.spec.told_apart
        self.begins, self.resumes = sources.spec.begins, sources.spec.resumes
        self.first, self.last = sources.first, sources.after(sources.first)

    def held(self, tool: str, name: str, release: str | None = None, **meant: Json) -> Request:
        """A call whose gemini waits for the release of that name."""
        script = self.sources.plays.answers(f"The answer to {name}.", session(name), release or name)
        return self._ask(tool, name, script, until="started", **meant)

    def quick(self, tool: str, name: str, **meant: Json) -> Request:
        """A call whose gemini answers at once."""
        return self._ask(tool, name, self.sources.plays.answers(f"The answer to {name}.", session(name)), **meant)

    def behind(self, tool: str, name: str, **meant: Json) -> tuple[Step, ...]:
        """A call that should wait; two others are served meanwhile, in which time it would begin if it did not."""
        waiting = self._ask(tool, name, self.sources.plays.answers(f"The answer to {name}."), until="sent", **meant)
        aside, own = self.begins or self.first, session(f"aside of {name}")
        others = (f"{name} / aside", f"{name} / aside again")
        return (waiting, *(self.quick(aside, each, session=own) for each in others))

    def _ask(self, tool: str, name: str, script: Script, **more: Json) -> Request:
        return self.sources.asking.ask(tool, f"The question of {name}?", script, name=name, **more)

    def pairs(self) -> Iterable[Conversation]:
        """Two calls, the second of which is sent while the first is held."""
        here, there = path("one"), path("other")
        beside = ("concurrency:other-session", "concurrency:crossed")
        same, different = {"session": SESSION}, {"session": f"{SESSION[:-1]}0"}
        if self.begins is not None:
            yield from self._of_beginning(self.begins, here)
        if self.resumes is None:
            return
        reply = self.resumes
        if self.begins is not None:
            yield _pair("reply-and-chat", "A reply, and another call beside it.", self.held(reply, "reply", **same),
                        self.held(self.begins, "beside", "reply"), shows=BESIDE)  # fmt: skip
            yield _pair("chat-and-reply", "A call, and a reply beside it.", self.held(self.begins, "first"),
                        self.held(reply, "reply", "first", **same), shows=BESIDE)  # fmt: skip
        yield _pair("sessions", "Replies in different sessions.", self.held(reply, "reply", **same),
                    self.held(reply, "other", "reply", **different), shows=beside)  # fmt: skip
        yield _pair("same-session", "Replies in one session, three of them.", self.held(reply, "first", **same),
                    *self.behind(reply, "second", **same), *self.behind(reply, "third", **same),
                    shows=("concurrency:same-session", "concurrency:crossed"))  # fmt: skip
        if self.sources.spec.latest(reply) is None:
            return
        latest = ("concurrency:latest", "concurrency:crossed")
        yield _pair("latest-by-default", "Replies to the latest session where the port runs.",
                    self.held(reply, "first"), *self.behind(reply, "second"), shows=latest)  # fmt: skip
        if self.sources.spec.directory(reply) is None:
            return
        yield _pair("latest-elsewhere", "Replies to the latest sessions of two directories.",
                    self.held(reply, "here", directory=here), self.held(reply, "there", "here", directory=there),
                    shows=beside)  # fmt: skip
        yield _pair("latest", "Replies to the latest session of one directory.",
                    self.held(reply, "first", directory=here), *self.behind(reply, "second", directory=here),
                    *self.behind(reply, "third", directory=here), shows=latest)  # fmt: skip
        yield _pair("latest-by-names", "Replies to the latest session of one directory, by its names.",
                    self.held(reply, "first"), *self.behind(reply, "second", directory=path()),
                    shows=latest)  # fmt: skip

    def _of_beginning(self, tool: str, here: Json) -> Iterable[Conversation]:
        yield _pair("chats", "Two calls that begin sessions.", self.held(tool, "first"),
                    self.held(tool, "second", "first"), shows=BESIDE)  # fmt: skip
        yield _pair("chats-in-one-directory", "Two of them in one directory.",
                    self.held(tool, "first", directory=here), self.held(tool, "second", "first", directory=here),
                    shows=BESIDE)  # fmt: skip

    def meanwhile(self) -> Conversation:
        """A ping and the list of tools while a call of any tool runs."""
        asked: list[Step] = []
        for tool in self.names:
            asked += [self.held(tool, tool), Request("ping"), Request("tools/list")]
            asked += [Release(tool), Await(tool), Request("ping")]
        shows = ("concurrency:ping", "concurrency:list")
        return Conversation("concurrency-meanwhile", "Requests while a call runs.", tuple(asked), PHASE, shows)

    def out_of_order(self) -> Conversation:
        """Four calls, answered in another order than asked, and one more between."""
        calls = [
            self.held(self.first, "one", session=session("s1")),
            self.held(self.last, "two", session=session("s2")),
        ]
        calls += [self.held(self.first, "three", option="a-model", session=session("s3"))]
        calls += [self.held(self.last, "four", session=session("s4"))]
        order = [step for name in ("three", "one", "four", "two") for step in (Release(name), Await(name))]
        five = self.quick(self.first, "five", session=session("s5"))
        steps = (*calls, *order[:4], five, *order[4:], self.quick(self.last, "six"))
        return Conversation("concurrency-out-of-order", "Answers out of order.", steps, PHASE, ("concurrency:crossed",))

    def crowd(self) -> Conversation:
        """All wait for one release, which comes when the first few, at least, have started."""
        calls: list[Step] = []
        for number in range(CROWD):
            name, tool = f"{number:02} of the crowd", self.names[number % len(self.names)]
            script = self.sources.plays.answers(f"The answer to {name}.", session(f"{name}, answered"), "crowd")
            until = "started" if number < FEW else "sent"
            calls.append(self._ask(tool, name, script, session=session(name), until=until))
        shows = ("concurrency:lost", "concurrency:crossed")
        return Conversation(
            "concurrency-crowd", "Sixteen calls at once.", (*calls, Release("crowd")), PHASE, shows, aside=True
        )

    def files(self) -> Iterable[Conversation]:
        """Each of three calls at once must see its own file, and the one without must see none."""
        names = [tool for tool in self.names if self.sources.spec.files(tool)]
        if not names:
            return
        pirate = "You are a pirate of the concurrent seas."
        calls = (
            self.held(names[0], "pirate", "all", file=pirate, session=session("s1")),
            self.held(names[-1], "poet", "all", file="You are a poet, and late.", session=SESSION),
            self.held(names[0], "nobody", "all", session=session("s3")),
            self.held(names[0], "twin", "all", file=pirate, session=session("s4")),
        )
        shows = ("system:isolation", "concurrency:crossed")
        steps = (*calls, Release("all"))
        yield Conversation("concurrency-system-prompts", "Texts in files at once.", steps, PHASE, shows)

    def after_failures(self) -> Iterable[Conversation]:
        """Whatever the failure and whichever tool, the next calls are served, those too that had to wait for it."""
        ask = self.sources.asking.ask
        for tool in self.names:
            failures = [ask(tool, f"Failure {exit} of {tool}", fails(exit), session=SESSION) for exit in (1, 53)]
            steps = [failures[0], self.quick(tool, "next", session=SESSION), call(tool, {"no": 7})]
            steps += [self.quick(self.first, "third"), failures[1], self.quick(self.last, "fourth", session=SESSION)]
            title = f"Calls after a failed {tool}."
            id = f"concurrency-after-failed-{tool}"
            yield Conversation(id, title, (*steps, self.quick(tool, "fifth")), PHASE, AFTER_FAILURE)
        kinds: list[tuple[str, dict[str, Json]]] = [("session", {"session": SESSION}), ("latest", {})]
        reply = self.resumes
        for name, meant in kinds:
            if reply is None:
                return
            failing = ask(reply, "The failing reply", fails(release="go"), name="failing", until="started", **meant)
            last = self.quick(reply, "last")
            waiting = self.behind(reply, "waiting", **meant)
            id = f"concurrency-behind-failed-{name}"
            steps = (failing, *waiting, Release("go"), last)
            yield Conversation(id, "A reply behind one that fails.", steps, PHASE, AFTER_FAILURE)


def _pair(id: str, title: str, one: Request, *other: Step, shows: tuple[str, ...]) -> Conversation:
    steps = (one, *other, Release(one.name), Await(one.name))
    return Conversation(f"concurrency-{id}", title, steps, PHASE, shows, files={"one": None, "other": None})


AFTER_FAILURE = ("concurrency:after-failure",)
