"""Generated outcomes: what gemini prints and how it ends, put together by chance, for ordinary calls.

What a port should make of each, the rules of the specification say. Only what gemini may do belongs here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

from hypothesis import strategies as st

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.reading import newest
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.exploration import Exploration, Served
from gemini_mcp_conformance.talk.outcomes.answers import DUMPS, STATS, respelt
from gemini_mcp_conformance.talk.outcomes.listings import BEHIND, INDENTS, NUMBERS
from gemini_mcp_conformance.talk.plays import ends
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.sources.generated import MIXED, PHASE
from gemini_mcp_conformance.talk.steps import AUTO, call, path

Value = TypeVar("Value")

ORDER = 91
TITLE = "A generated outcome."

SHARE = 0.8
"""How many outcomes are generated for each of the examples that a run is asked for."""
SESSIONS, GREATEST = 12, 3000
"""How many sessions a list holds at most, and the greatest number of one."""
LAYOUTS: tuple[Mapping[str, Json], ...] = (*DUMPS, {"separators": (",", ":")}, {"indent": "\t"}, {"indent": 4})
SOME_STATS: tuple[Json, ...] = ({}, STATS)
BRACKETS = ("", "", " [draft]", "]", " [a [b", "[")
"""What a title may end with."""

SESSION = st.uuids(version=4).map(str)
NOISE = st.builds("{}{}".format, MIXED, st.sampled_from(("", "", "\0"))).map(
    lambda text: text.translate({ord(brace): "|" for brace in "{}"})
)
"""Text in which nobody can look for JSON."""
LINES = st.lists(NOISE.map("{}\n".format), max_size=3).map("".join)
BEHIND_JSON = st.sampled_from(("", "\n", "\r\n", "\n\n ")) | LINES.map("\n{}".format)
MEMBERS: Mapping[str, st.SearchStrategy[Json]] = {
    "text": MIXED | st.sampled_from(("", None, 0, False)),
    "session": SESSION | st.none(),
    "error": st.none() | st.fixed_dictionaries({"message": MIXED}),
    "warnings": st.just([]) | st.none() | st.lists(MIXED, min_size=1, max_size=2),
    "stats": st.sampled_from(SOME_STATS),
}
"""What may be in an object that gemini prints, each or not."""
WARNINGS = st.none() | st.lists(MIXED, min_size=1, max_size=3)


def conversations(sources: Sources) -> Iterable[Conversation]:
    """None: all of them are made by chance."""
    return ()


def explorations(sources: Sources) -> Iterable[Exploration]:
    shows = ("result:", "fallback:", "error:")
    examples = max(1, int(SHARE * sources.examples))

    def outcomes(served: Served) -> st.SearchStrategy[Conversation]:
        numbers = count()

        # hypothesis would write the sources out if they were an argument of a strategy.
        @st.composite
        def made(draw: st.DrawFn) -> Conversation:
            return Chance(sources, draw).conversation(next(numbers))

        return made()

    yield Exploration("generated-outcome", TITLE, outcomes, examples, sources.seed, PHASE, shows)


@dataclass(frozen=True)
class Chance:
    """Makes one conversation: `draw` decides."""

    sources: Sources
    draw: Callable[[st.SearchStrategy[Any]], Any]

    def conversation(self, number: int) -> Conversation:
        """A call of some tool with some of its arguments; no other has the number."""
        spec, tool = self.sources.spec, self.one_of(self.sources.spec.names)
        usual = {**spec.everything(tool), **self.sources.arguments(tool, "What comes of it?", session=self.session())}
        usual |= {name: path() for name in usual if name == spec.directory(tool)}
        given = {name: usual[name] for name in usual if name in spec.tools[tool].required or self.draw(st.booleans())}
        script = self.one_of((self.named, self.unnamed, self.plain, self.objects, self.failure))()
        # The same id must not come twice on one connection.
        id = self.one_of((AUTO, f"{self.draw(NOISE)}{number} by chance"))
        return Conversation("generated", TITLE, (call(tool, given, script, id=id),), PHASE)

    def named(self, session: str | None = None) -> Script:
        """An answer that names its session: this one, or some other."""
        return Script("named", self._printed(self._answer(session or self.session())))

    def unnamed(self) -> Script:
        """An answer that names no session, and a list of sessions."""
        return Script(
            "unnamed", self._printed(self._answer(None)), ({self.one_of(("stdout", "stderr")): self._list()},)
        )

    def plain(self) -> Script:
        """A text without JSON, and a list of sessions."""
        return Script("plain", ({"stdout": f"{self.draw(NOISE.filter(str.strip))}\n"},), ({"stdout": self._list()},))

    def objects(self) -> Script:
        """One or two objects with some of the members that answers and errors have."""
        printed = [json.dumps(self._members()) for _ in range(self.one_of((1, 2)))]
        return Script("objects", ({"stdout": "\n".join(printed)},), ({"stdout": self._list()},))

    def _members(self) -> dict[str, Json]:
        keys = self.sources.spec.outcome.answer
        held = {keys.get(name, name): self.draw(values) for name, values in MEMBERS.items() if self.draw(st.booleans())}
        return {**held, **self.one_of(({}, self.sources.unasked))}

    def failure(self) -> Script:
        """A bad end, behind nothing, behind a text or behind a whole answer."""
        stdout = self.one_of(("", self.draw(NOISE), self._answer(self.session())))
        return Script(
            "fails", ({"stdout": stdout}, *ends({"exit": self.draw(st.integers(1, 255))}, self.draw(LINES)).play)
        )

    def _printed(self, document: str) -> tuple[Json, ...]:
        """The steps that print a document among other lines, and something to stderr before or behind it."""
        steps: tuple[Json, Json] = (
            {"stderr": self.draw(LINES)},
            {"stdout": f"{self.draw(LINES)}{document}{self.draw(BEHIND_JSON)}"},
        )
        return tuple(self.draw(st.permutations(steps)))

    def _answer(self, session: str | None) -> str:
        """An answer in JSON, its keys in any order, laid out and spelt in any way."""
        warnings, stats = self.draw(WARNINGS), self.one_of(SOME_STATS)
        more: dict[str, Json] = {"stats": stats} if warnings is None else {"stats": stats, "warnings": warnings}
        held = list(self.sources.document(self.draw(MIXED), session, **more).items())
        printed = json.dumps(dict(self.draw(st.permutations(held))), **self.one_of(LAYOUTS))
        return self.one_of((printed, respelt(printed), _escaped(printed, self.draw(st.sampled_from("aeinorst")))))

    def _list(self) -> str:
        """A list of sessions in any order."""
        indent, behind = self.one_of(INDENTS), self.one_of(BEHIND)
        numbers = self.draw(st.lists(st.integers(1, GREATEST), min_size=1, max_size=SESSIONS, unique=True))
        entries = [self._entry(number, indent, behind) for number in numbers]
        return "\n".join(("", f"Available sessions for this project ({len(entries)}):", *entries, ""))

    def _entry(self, number: int, indent: str, behind: str) -> str:
        title, session = f"{self.draw(MIXED)}{self.one_of(BRACKETS)}".replace("\n", " "), self.session()
        entry = f"{indent}{self.one_of(NUMBERS).format(number)}{title} (3 hours ago) [{session}]{behind}"
        is_read = newest(entry, self.sources.spec.invocation.listing.entry) == session
        return entry if is_read else self.sources.entry(number, session)

    def session(self) -> str:
        """An id that no other session has."""
        return str(self.draw(SESSION))

    def one_of(self, values: Iterable[Value]) -> Value:
        value: Value = self.draw(st.sampled_from(tuple(values)))
        return value


def _escaped(printed: str, letter: str) -> str:
    """The same JSON with an escape for a letter in its texts, the keys among them."""
    text, escape = r'"(?:[^"\\]|\\.)*"', f"\\u{ord(letter):04x}"
    within = re.compile(rf"(\\u....|\\.)|{letter}")
    return re.sub(text, lambda found: within.sub(lambda each: each[1] or escape, found[0]), printed)
