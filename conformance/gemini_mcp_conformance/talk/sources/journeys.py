"""Journeys: calls of all kinds in any order on one port, some side by side; hypothesis makes and shortens them.

Each move is drawn by what is open and what has happened so far, so that every port can serve it, and no request waits
for one that is answered later. What must hold after each move, the checks know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Literal, TypeVar

from hypothesis import strategies as st

from gemini_mcp.spec.values import Json, table
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk import plays
from gemini_mcp_conformance.talk.circumstances import MEANWHILE
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.exploration import Exploration, Served
from gemini_mcp_conformance.talk.sources import Maker, Sources, sequences
from gemini_mcp_conformance.talk.sources.generated import FRAGMENTS, WORD
from gemini_mcp_conformance.talk.sources.surprises import Chance
from gemini_mcp_conformance.talk.steps import AUTO, Await, Cancel, Notify, Release, Request, Step, path, told

ORDER = 45
TITLE = "Calls in any order."
LEAST, MOST = 8, 16
"""Moves of a journey."""
OPEN = 3
"""Calls that are open at once."""
AGAIN = "What do you say?"
LATEST = "latest"
MODEL = st.sampled_from(("a-model", "b-model")) | st.text(WORD, max_size=12).map("m{}".format)
SOME = st.lists(st.sampled_from(FRAGMENTS), max_size=3).map("".join)
"""A few fragments: a journey needs many texts."""

Value = TypeVar("Value")


def conversations(sources: Sources) -> Iterable[Conversation]:
    """None: all of them are made by chance."""
    return ()


def explorations(sources: Sources) -> Iterable[Exploration]:
    def journeys(served: Served) -> st.SearchStrategy[Conversation]:
        numbers = count()

        @st.composite
        def made(draw: st.DrawFn) -> Conversation:
            return Journey(sources, draw, next(numbers)).whole()

        return made()

    examples = max(1, sources.examples // 8)
    shows = (*sequences.shows(sources), *MEANWHILE, "result:", "error:", "prompt:", "rpc:response:id")
    yield Exploration("generated-journey", TITLE, journeys, examples, sources.seed, sequences.PHASE, shows)


@dataclass
class Journey(Maker):
    """Makes one journey: `draw` decides. `open` holds the requests that wait, with the sessions in which they run.

    `token` is the last progress token, and `over` the id of the last call that was answered at once, if it had its own.

    hypothesis may make almost the same journey again, but no id may come twice: so each has a number.
    """

    sources: Sources
    draw: Callable[[st.SearchStrategy[Any]], Any]
    number: int
    steps: list[Step] = field(default_factory=list[Step])
    open: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    known: list[str] = field(default_factory=list[str])
    token: str | None = None
    over: Json = None

    def __post_init__(self) -> None:
        super().__init__(self.sources)
        self.chance = Chance(self.sources, self.draw)
        self.name = f"journey {self.number}"
        self.moves = [self._answered, self._answered, self._refused, self._spoken, self._hopeless]
        waiting = [tool for tool in self.names if self.spec.resumed(tool) and self.spec.session(tool) is None]
        if set(self.names) == set(self.spec.told_apart) and not waiting:
            self.moves += [self._held, self._held, self._in_line, self._finished, self._cancelled]

    def whole(self) -> Conversation:
        """Some moves, the end of all that is open, and a bare call of each tool."""
        for _ in range(self.draw(st.integers(LEAST, MOST))):
            self.chance.one_of(self.moves)()
        while self.open:
            self._finished()
        self.steps += [self.ask(tool, self._words(), self.answers("The last answer.")) for tool in self.names]
        return Conversation("generated", TITLE, tuple(self.steps), sequences.PHASE, files=sequences.FILES)

    def _answered(self) -> None:
        """A call that is answered, whatever is open."""
        tool, session = self._tool_and_session()
        # Of two calls at once nobody can tell which asks for a list, nor which has the same prompt as the other.
        listing = [] if self.open else [self.chance.unnamed, self.chance.objects, self.chance.plain]
        words = [] if self.open else [AGAIN]
        asked = self._call(tool, session, self._script(session, *listing), *words)
        self.steps.append(asked)
        self.over = None if asked.id == AUTO else asked.id

    def _held(self) -> None:
        """A call that goes on until it is released."""
        tool, session = self._tool_and_session()
        self._opened(tool, session, "started")

    def _in_line(self) -> None:
        """A reply in a session in which another one runs."""
        busy = [session for session in self.open.values() if session not in (None, LATEST)]
        for session in busy[:1]:
            able = [tool for tool in self.names if self.spec.session(tool) is not None]
            self._opened(self.chance.one_of(able), session, "sent")

    def _opened(self, tool: str, session: str | None, until: Literal["started", "sent"]) -> None:
        if len(self.open) < OPEN:
            name, script = f"held {len(self.steps)}", self._script(session)
            held = script.behind({"release": name})
            self.steps.append(replace(self._call(tool, session, held), name=name, until=until))
            self.open[name] = session

    def _finished(self) -> None:
        """The end of a call that waits for no other."""
        names, sessions = tuple(self.open), tuple(self.open.values())
        fronts = [name for at, name in enumerate(names) if sessions[at] is None or sessions[at] not in sessions[:at]]
        if fronts:
            name = self.chance.one_of(fronts)
            self.steps += [Release(name), Await(name)]
            del self.open[name]

    def _cancelled(self) -> None:
        if self.open:
            name = self.chance.one_of(self.open)
            self.steps.append(Cancel(name))
            del self.open[name]

    def _hopeless(self) -> None:
        """A call that has no end but a cancellation."""
        tool, session = self._tool_and_session()
        name = f"hopeless {len(self.steps)}"
        asked = self._call(tool, session, plays.hangs())
        self.steps += [replace(asked, name=name, until="started"), Cancel(name)]

    def _refused(self) -> None:
        """A call that no port may serve, for one of three reasons."""
        tool, session = self._tool_and_session()
        asked = self._call(tool, session, self.answers("Nobody asked for this."))
        called = table(asked.params)
        given, directory = table(called["arguments"]), self.spec.directory(tool)
        spoilt: list[dict[str, Json]] = [{"name": f"no-{tool}"}, {"arguments": {**given, **self.wrong(tool)}}]
        spoilt += [{"arguments": {**given, directory: path("no-such")}}] if directory is not None else []
        self.steps.append(replace(asked, params={**called, **self.chance.one_of(spoilt)}))

    def _spoken(self) -> None:
        """A request that is no call, perhaps with a token for its id; or a cancellation that comes too late."""
        asked = [Request(method) for method in ("ping", "tools/list", "no/such/method")]
        asked += [Request("ping", id=self.token)] if self.token is not None else []
        late = [Notify("notifications/cancelled", {"requestId": self.over})] if self.over is not None else []
        self.steps.append(self.chance.one_of((*asked, *late)))
        # No id may come twice.
        self.token = None

    def _call(self, tool: str, session: str | None, script: Script, *words: str) -> Request:
        """A call with some of the other arguments, perhaps with one of these prompts, an id and a token of its own."""
        meant: dict[str, Json] = {
            "session": None if session == LATEST else session,
            "option": self._perhaps(MODEL),
            "file": self._perhaps(SOME.map("You are {}.".format)),
            "directory": self._perhaps(st.sampled_from((".", *map(path, sequences.FILES), *sequences.FILES))),
        }
        given = {name: value for name, value in meant.items() if value is not None}
        id = self.chance.one_of((AUTO, f"{self.draw(SOME)}{len(self.steps)} of {self.name}"))
        asked = self.ask(tool, self._words(*words), script, id=id, **given)
        number = len(self.steps)
        self.token = f"{self.draw(SOME)}{number} told in {self.name}"
        return self.chance.one_of((asked, told(asked, self.token), told(asked, number)))

    def _words(self, *others: str) -> str:
        """A prompt, which no other call has, or one of the others; one in four is too long for a command line."""
        words = self.chance.one_of((f"Turn {len(self.steps)}: {self.draw(SOME)} {self.name}?", *others))
        return self.overlong(words) if self.draw(st.integers(0, 3)) == 0 else words

    def _tool_and_session(self) -> tuple[str, str | None]:
        """A tool, and the session that it resumes, if it does: one in which nothing runs."""
        replies = {session for session in self.open.values() if session is not None}
        # Beside a reply to the latest session every other reply may have to wait.
        tool = self.chance.one_of([self.spec.begins] if LATEST in replies and self.spec.begins else self.names)
        if self.spec.session(tool) is None:
            return tool, None
        idle = [session for session in self.known if session not in replies]
        may_be_latest = not replies and None not in (self.spec.latest(tool), self.spec.begins)
        return tool, self.chance.one_of([*idle, self._new_session(), *([LATEST] if may_be_latest else [])])

    def _script(self, session: str | None, *others: Callable[[], Script]) -> Script:
        """An answer that names the session which is resumed, or else a new one; a failure; or something else."""

        def named() -> Script:
            self.known.append(self._new_session() if session in (None, LATEST) else str(session))
            return self.chance.named(self.known[-1])

        return self.chance.one_of((named, named, self.chance.failure, *others))()

    def _new_session(self) -> str:
        return plays.session(f"{self.name} {len(self.steps)}")

    def _perhaps(self, values: st.SearchStrategy[Value]) -> Value | None:
        return self.draw(st.none() | values)
