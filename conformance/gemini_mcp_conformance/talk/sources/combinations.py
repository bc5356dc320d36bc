"""Combinations: calls in which every form of an argument meets every other form, outcome and circumstance.

The forms come from `forms`, the outcomes from `outcomes`; how they meet is worked out by `covering`. In thorough runs
every three of them meet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from typing import TypeVar

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.talk import outcomes
from gemini_mcp_conformance.talk.circumstances import (
    A_LIST,
    ALONE,
    BEFORE,
    BESIDE,
    CHEAP,
    CIRCUMSTANCES,
    ID,
    IDS,
    MEANWHILE,
    OUTCOME,
    SAME_SESSION,
    SESSIONS,
    TOKEN,
    TOKENS,
    WRITTEN,
    apart,
    impossible,
    numbered,
)
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.covering import Coverage, Demand, Dimensions, Row, cover, share
from gemini_mcp_conformance.talk.forms import FOLDERS, CallForms, Forms
from gemini_mcp_conformance.talk.outcomes.outcome import Outcome, Turn
from gemini_mcp_conformance.talk.plays import hangs, session
from gemini_mcp_conformance.talk.showing import everything_shows, shown_by
from gemini_mcp_conformance.talk.sources import Maker, Sources
from gemini_mcp_conformance.talk.sources.listings import FALLBACK
from gemini_mcp_conformance.talk.sources.results import TEXT
from gemini_mcp_conformance.talk.steps import Await, Cancel, Release, Request, Step, call, path
from gemini_mcp_conformance.talk.ways import ANSWER, FAILURE

ORDER = 60
OF_RESULTS = ("stateless:result-type", "stateless:server-info")
"""What results show that no handshake came before."""
TOGETHER = 4
"""Calls of one conversation."""

Value = TypeVar("Value")


def conversations(sources: Sources) -> Iterable[Conversation]:
    """The calls of every tool, then a few of them in each revision of the protocol."""
    rotation, names = Rotation(), sources.spec.names
    # Prompts, ids and sessions are made of the number of their call, so no two tools share one.
    every = [Combinations(sources, tool, number * 100_000, rotation) for number, tool in enumerate(names)]
    for made in every:
        yield from made.usual()
        yield from made.of_revisions()
    for made in every:
        yield from made.rest()


def dimensions(
    forms: Mapping[str, Forms], outcomes: Mapping[str, tuple[Outcome, ...]], left_out: Collection[str]
) -> Dimensions:
    """Everything in which calls of a tool differ, by name."""
    arguments = {name: tuple(values) for name, values in forms.items()}
    met = {name: tuple(each for each in every if each not in left_out) for name, every in CIRCUMSTANCES.items()}
    return {**arguments, OUTCOME: tuple(outcomes), **met}


def dimensions_of_tools(sources: Sources) -> Mapping[str, Dimensions]:
    """The dimensions of the calls of each tool."""
    return {tool: Combinations(sources, tool).dimensions for tool in sources.spec.names}


def coverage(sources: Sources) -> tuple[Coverage, ...]:
    """What the combined calls of each tool cover."""
    return tuple(Combinations(sources, tool).coverage() for tool in sources.spec.names)


@cache
def covering(sources: Sources, tool: str) -> Sequence[Row]:
    """The calls of a tool in which any two values meet, in a thorough run any three, and any three of the core."""
    made = Combinations(sources, tool)
    every, core = Demand(tuple(made.dimensions), 3 if sources.thorough else 2), Demand(tuple(made.core), 3)
    return cover(made.dimensions, [every, core], cheap=CHEAP)


@dataclass
class Rotation:
    """Takes the values of each form in turn, for all tools together."""

    taken: dict[str, int] = field(default_factory=dict[str, int])

    def next(self, form: str, values: Sequence[Value]) -> Value:
        number = self.taken.get(form, 0)
        self.taken[form] = number + 1
        return values[number % len(values)]

    def left(self, form: str, values: Sequence[object]) -> int:
        """How many of the values were never taken."""
        return max(0, len(values) - self.taken.get(form, 0))


class Combinations(Maker):
    """The combinations of one tool."""

    phase, prefix = "combinations", "combined-"

    def __init__(self, sources: Sources, tool: str, first: int = 0, rotation: Rotation | None = None) -> None:
        super().__init__(sources)
        self.tool, self.numbers, self.rotation = tool, count(first + 1), rotation or Rotation()
        self.forms, self.outcomes = CallForms(sources.spec, tool).arguments(), outcomes.kinds(sources)
        self.dimensions = dimensions(self.forms, self.outcomes, impossible(sources.spec, tool))
        self.core = {name: self.dimensions[name] for name in (*self.forms, OUTCOME)}

    def coverage(self) -> Coverage:
        rows = covering(self.sources, self.tool)
        never = tuple(f"`{each}`: {why}" for each, why in impossible(self.spec, self.tool).items())
        pairs, triples = (share(self.dimensions, strength, rows) for strength in (2, 3))
        core = share(self.core, 3, rows)
        sizes = {name: len(values) for name, values in self.dimensions.items()}
        return Coverage(self.tool, len(rows), sizes, pairs, core, triples, never)

    def usual(self) -> Iterator[Conversation]:
        rows, title = covering(self.sources, self.tool), f"Calls of `{self.tool}` in which much meets."
        for number, start in enumerate(range(0, len(rows), TOGETHER), 1):
            yield self._conversation(f"{self.tool}-{number:03}", title, rows[start : start + TOGETHER])

    def rest(self) -> Iterator[Conversation]:
        """Calls with the values that no call has taken yet, several in one call."""
        title = f"Calls of `{self.tool}` with what was left."
        for number in count(1):
            rows = list(self._rows_of_the_rest())
            if not rows:
                return
            yield self._conversation(f"{self.tool}-rest-{number}", title, rows)

    def _rows_of_the_rest(self) -> Iterator[Row]:
        usual = {name: values[0] for name, values in self.dimensions.items()}
        left = {name: list(self._left(name, forms)) for name, forms in {**self.forms, OUTCOME: self.outcomes}.items()}
        for number in range(min(TOGETHER, max(map(len, left.values())))):
            yield usual | {name: forms[number] for name, forms in left.items() if number < len(forms)}

    def _left(self, name: str, forms: Mapping[str, Sequence[object]]) -> Iterator[str]:
        """The forms with values that were not taken yet, each once for every such value."""
        for form, values in forms.items():
            yield from [form] * self.rotation.left(f"{name} {form}", values)

    def of_revisions(self) -> Iterator[Conversation]:
        """Each form once in each revision, on the port that speaks this revision for other conversations as well."""
        rows = cover(self.dimensions, [Demand(tuple(self.dimensions), 1)], cheap=CHEAP)
        manifest = self.spec.manifest
        for revision in (*manifest.handshake_revisions, *manifest.stateless_revisions):
            title = f"Calls of `{self.tool}` in the revision {revision}."
            own = () if revision in manifest.handshake_revisions else OF_RESULTS
            yield self._conversation(f"{self.tool}-{revision}", title, rows, *own, revision=revision)

    def _conversation(self, id: str, title: str, rows: Sequence[Row], *shows: str, **more: Json) -> Conversation:
        steps = [step for row in rows for step in self._steps(row)]
        return self.conversation(id, title, steps, *self._shows(), *shows, files=dict.fromkeys(FOLDERS), **more)

    def _steps(self, row: Row) -> Iterator[Step]:
        """What comes before, what runs beside it, and the call."""
        number = next(self.numbers)
        arguments = self._arguments(row, number)
        yield from self._before(row, arguments, number)
        outcome = self.rotation.next(f"{OUTCOME} {row[OUTCOME]}", self.outcomes[row[OUTCOME]])
        asked = self._call(row, arguments, outcome, number)
        if row[BESIDE] == ALONE:
            yield asked
            return
        held = self._held(f"beside turn {number}", is_listing=row[BESIDE] == A_LIST)
        if row[BESIDE] == SAME_SESSION:
            held, asked = self._same(arguments, number), replace(asked, name=f"turn {number}", until="sent")
        yield from (held, asked, Release(held.name), Await(held.name))
        yield from [Await(asked.name)] if asked.name else []

    def _arguments(self, row: Row, number: int) -> dict[str, Json]:
        values = {
            name: self.rotation.next(f"{name} {row[name]}", forms[row[name]]) for name, forms in self.forms.items()
        }
        given = {name: numbered(value, number) for name, value in values.items() if value is not None}
        # JSON gives the keys of an object no order.
        return dict(reversed(given.items())) if row[WRITTEN] == "the other way round" else given

    def _call(self, row: Row, arguments: dict[str, Json], outcome: Outcome, number: int) -> Request:
        private = [arguments.get(name) for name in self.spec.template(self.tool).private]
        own = numbered(self.rotation.next("session", SESSIONS), number)
        turn = Turn(
            number,
            own.replace("{uuid}", session(f"turn {number}")),
            tuple(text for text in private if isinstance(text, str)),
        )
        # What results carry, a client may send back.
        more = {"example.org/note": ["é", None], **dict.fromkeys(self.spec.outcome.meta.values(), "not of this call")}
        meta: dict[str, Json] = more if row[WRITTEN] == "with metadata" else {}
        if row[TOKEN] in TOKENS:
            meta["progressToken"] = numbered(self.rotation.next(f"token {row[TOKEN]}", TOKENS[row[TOKEN]]), number)
        params: dict[str, Json] = {"name": self.tool, "arguments": arguments, **({"_meta": meta} if meta else {})}
        is_escaped = row[WRITTEN] == "in escapes"
        return Request("tools/call", params, (outcome(turn),), escaped=is_escaped, **self._id(row, number))

    def _before(self, row: Row, arguments: dict[str, Json], number: int) -> Iterator[Step]:
        """What the port has just done when the call comes; every other time for another tool."""
        tool = self.tool if number % 2 else self.sources.after(self.tool)
        match row[BEFORE]:
            case "the same":
                again = self.answers(f"The answer to turn {number}, once more.", session(f"before {number}"))
                yield call(self.tool, arguments, again)
            case "refused":
                yield self._refused(tool, arguments, number)
            case "unknown tool":
                yield call("no-such-tool", arguments)
            case "failed":
                outcome = self.rotation.next("failed before", self.outcomes["told"])
                yield call(self.tool, arguments, outcome(Turn(number, session(f"before {number}"))))
            case "cancelled" | "cancelled early":
                yield from self._cancelled(row, arguments, number)
            case "listed":
                yield from (Request("tools/list"), Request("ping"))
            case _:
                pass

    def _refused(self, tool: str, arguments: dict[str, Json], number: int) -> Request:
        """A call without anything that is right, or the same call in a directory that is not there."""
        directory = self.spec.directory(self.tool)
        if directory is not None and number // 2 % 2:
            return call(self.tool, {**arguments, directory: path("no-such")})
        return call(tool, {name: {"not": "allowed"} for name in self.spec.tools[tool].required})

    def _cancelled(self, row: Row, arguments: dict[str, Json], number: int) -> Iterator[Step]:
        """A call with the same options, cancelled when gemini runs or lists sessions, or as soon as it was sent."""
        name, prompt = f"cancelled before turn {number}", self.spec.prompt(self.tool)
        until = "started" if row[BEFORE] == "cancelled" else "sent"
        # Only by its prompt can a gemini that starts after the call was cancelled be told from that of the next call.
        asked: dict[str, str] = {}
        if prompt is not None and (prompt in arguments or until == "sent"):
            asked[prompt] = f"The question that is {name}? {arguments.get(prompt, '')}"
        asked |= dict.fromkeys(self.spec.files(self.tool), f"You are {name}.")
        own = {each: self.sources.value(self.tool, each, text) for each, text in asked.items()}
        given: dict[str, Json] = {"name": self.tool, "arguments": {**arguments, **own}}
        meta: dict[str, Json] = {"_meta": {"progressToken": name}} if number % 3 else {}
        script = hangs()
        if until == "started" and number // 2 % 2 and self.spec.session(self.tool) not in arguments:
            until, script = "listing", self.sources.unnamed("Nobody hears this.", {"hang": True})
        yield Request("tools/call", {**given, **meta}, (script,), name, until, **self._id(row, number))
        yield Cancel(name)

    def _id(self, row: Row, number: int) -> dict[str, Json]:
        """The id of a request, as the row wants it."""
        return {"id": apart(self.rotation.next(f"id {row[ID]}", IDS[row[ID]]), number)} if row[ID] in IDS else {}

    def _held(self, name: str, is_listing: bool) -> Request:
        """A call of everything that a tool takes; it runs until it is released, or asks for the list of sessions."""
        tool, own, words = self.first, session(name), f"The answer {name}."
        meant: dict[str, Json] = {"option": "another-model", "file": f"You are {name}.", "name": name}
        if is_listing:
            late = self.sources.listed(words, own, {"release": name})
            return self.ask(tool, f"The question {name}?", late, until="listing", **meant)
        answer = self.answers(words, own, name)
        return self.ask(tool, f"The question {name}?", answer, session=own, until="started", **meant)

    def _same(self, arguments: dict[str, Json], number: int) -> Request:
        """A call with the same arguments, but for its prompt; it runs until it is released."""
        name, prompt = f"before turn {number} in its session", self.spec.prompt(self.tool)
        asked = {prompt: self.sources.value(self.tool, prompt, f"The question {name}?")} if prompt is not None else {}
        answer = self.answers(f"The answer {name}.", session(name), name)
        return call(self.tool, {**arguments, **asked}, answer, name=name, until="started")

    def _shows(self) -> tuple[str, ...]:
        arguments = shown_by(self.spec, self.tool, *self.forms)
        every = everything_shows(self.spec, self.tool)
        return tuple(dict.fromkeys((*every, *arguments, *TEXT, *ANSWER, *FAILURE, *FALLBACK, *MEANWHILE)))
