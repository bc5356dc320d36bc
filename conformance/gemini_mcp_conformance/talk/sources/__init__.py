"""The sources of conversations. Every module here has a function `conversations(sources)`, and `ORDER` for its place.

It may also have `explorations(sources)`, for conversations that depend on the tools which the port lists.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import ClassVar, Protocol, cast

from gemini_mcp.spec.values import Json, table
from gemini_mcp_conformance.spec import specification
from gemini_mcp_conformance.spec.interpreter import rules
from gemini_mcp_conformance.spec.patterns import samples
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.asking import Asking
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.exploration import Exploration
from gemini_mcp_conformance.talk.plays import Plays, session
from gemini_mcp_conformance.talk.steps import Request, Step, call
from gemini_mcp_conformance.talk.texts import PLAIN

PIPE = 100_000
"""More bytes than a pipe holds, so that a port cannot write them at once."""


@dataclass(frozen=True)
class Sources(Asking, Plays):
    """What conversations are made from: calls of the tools, and what gemini answers to them."""

    examples: int = 100
    seed: int | None = None
    thorough: bool = False

    @property
    def scripts(self) -> Mapping[str, Script]:
        return self.spec.scripts

    @property
    def first(self) -> str:
        """The tool that most conversations call: one that begins a session, if there is one."""
        return self.spec.names[0]

    def after(self, tool: str) -> str:
        """Another tool with a prompt, or the same where there is no other."""
        names = self.spec.told_apart
        return names[(names.index(tool) + 1) % len(names)] if tool in names else (*names, tool)[0]

    def falls_to(self, tool: str, number: int, argument: str | None = None) -> bool:
        """Whether a tool plays what two of them share, the one this and the other that; a thorough run shares nothing.

        Those share that have the argument, so that who alone has it plays all.
        """
        able = [name for name in self.spec.names if argument is None or argument in self.spec.tools[name].properties]
        return self.thorough or (number - able.index(tool)) % min(2, len(able)) == 0


class Maker:
    """Makes the conversations of one phase; the ids of all of them begin alike."""

    phase: ClassVar[str]
    prefix: ClassVar[str]

    def __init__(self, sources: Sources) -> None:
        self.sources, self.spec, self.names = sources, sources.spec, sources.spec.names
        self.first, self.last = sources.first, sources.after(sources.first)
        self.ask, self.arguments, self.answers = sources.ask, sources.arguments, sources.answers

    def overlong(self, words: str) -> str:
        """A prompt that begins like this, which no command line and no pipe can hold."""
        return words.ljust(self.spec.limit + PIPE, "x")

    def held(self, tool: str, name: str, release: str | None = None, **meant: Json) -> Request:
        """A call whose gemini waits for the release of that name, or for another one."""
        script = self.answers(f"The answer to {name}.", session(name), release or name)
        return self.ask(tool, f"The question of {name}?", script, name=name, until="started", **meant)

    def wrong(self, tool: str) -> dict[str, Json]:
        """Arguments that no port may serve: numbers for all that the tool requires, or for all that it takes."""
        return dict.fromkeys(self.spec.tools[tool].required or self.spec.tools[tool].properties, 7)

    def forbidden(self, name: str) -> list[str]:
        """A text for each pattern by which a rule refuses an argument."""
        patterns = (rule.pattern for rule in rules(name, self.spec.invocation))
        return [samples(pattern)[0] for pattern in patterns if pattern is not None]

    def conversation(self, id: str, title: str, steps: Iterable[Step], *shows: str, **more: Json) -> Conversation:
        return Conversation(f"{self.prefix}{id}", title, tuple(steps), self.phase, shows, **more)


class ToolMaker(Maker):
    """Makes the conversations of one tool; those of `one` and `bare` are one call, so that a failure is small."""

    def __init__(self, sources: Sources, tool: str) -> None:
        super().__init__(sources)
        self.tool, self.usual = tool, sources.arguments(tool, PLAIN)
        self.answer: Script = sources.answers("The answer to an odd call.")

    def own(self, argument: str, shared: Mapping[str, Json]) -> Mapping[str, Json]:
        """What of the odd values of an argument falls to this tool, by their names."""
        numbered = enumerate(shared.items())
        return {kind: value for n, (kind, value) in numbered if self.sources.falls_to(self.tool, n, argument)}

    def one(self, name: str, arguments: Json, shows: tuple[str, ...], how: Json = None, **more: Json) -> Conversation:
        """One call, its required arguments added to those that are named; `how` are fields of its request."""
        return self.bare(name, {**self.usual, **table(arguments)}, shows, how, **more)

    def bare(self, name: str, arguments: Json, shows: tuple[str, ...], how: Json = None, **more: Json) -> Conversation:
        """One call with just these arguments."""
        steps = (replace(call(self.tool, arguments, self.answer), **table(how)),)
        return self.conversation(f"{self.tool}-{name}", f"A call of `{self.tool}`: {name}.", steps, *shows, **more)


class Source(Protocol):
    """A module of this package."""

    ORDER: int

    def conversations(self, sources: Sources) -> Iterable[Conversation]: ...


def read(spec: Path | None = None, examples: int = 100, seed: int | None = None, thorough: bool = False) -> Sources:
    """What the specification at `spec` offers."""
    return Sources(specification.load(spec), examples, seed, thorough)


@cache
def offered(
    spec: Path | None, examples: int, seed: int | None, thorough: bool = False
) -> tuple[tuple[Conversation, ...], tuple[Exploration, ...]]:
    """Everything that can be played."""
    sources = read(spec, examples, seed, thorough)
    return tuple(sorted(gather(sources), key=_rank)), explorations(sources)


def _rank(conversation: Conversation) -> int:
    """Conversations that kill most of the defective ports come first; the rest stays in its order."""
    return _first().get(conversation.id, len(_first()))


@cache
def _first() -> Mapping[str, int]:
    """The places of the conversations that `tests/ports/prove.py --write` has found to kill most ports."""
    text = resources.files(__name__).joinpath("first.json").read_text(encoding="utf-8")
    return {id: place for place, id in enumerate(json.loads(text))}


def gather(sources: Sources) -> tuple[Conversation, ...]:
    """Every conversation: quick ones that explain most first, those that wait last."""
    return tuple(_told_apart(each for source in _sources() for each in source.conversations(sources)))


def _told_apart(conversations: Iterable[Conversation]) -> Iterator[Conversation]:
    """The conversations; a number is added to an id that an earlier one has, since ids hold words of specifications."""
    counts: Counter[str] = Counter()
    for each in conversations:
        counts[each.id] += 1
        yield each if counts[each.id] == 1 else replace(each, id=f"{each.id}-{counts[each.id]}")


def explorations(sources: Sources) -> tuple[Exploration, ...]:
    """Every exploration, in the order of their sources."""
    offers = [getattr(source, "explorations", None) for source in _sources()]
    return tuple(exploration for offer in offers if offer is not None for exploration in offer(sources))


def _sources() -> list[Source]:
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    return sorted((cast("Source", module) for module in modules), key=lambda source: source.ORDER)
