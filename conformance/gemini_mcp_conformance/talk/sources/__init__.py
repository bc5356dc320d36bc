"""The sources of conversations. A module that is put here has `conversations(sources)`, and `ORDER` for its place.

It may have `explorations(sources)` as well: what can be generated only when it is known what the port serves.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol, cast

from gemini_mcp_conformance.play.fake.script import Script
from gemini_mcp_conformance.spec import specification
from gemini_mcp_conformance.spec.specification import Specification
from gemini_mcp_conformance.talk.asking import Asking
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.exploration import Exploration
from gemini_mcp_conformance.talk.plays import Plays


@dataclass(frozen=True)
class Sources:
    """What conversations are made from."""

    spec: Specification
    examples: int = 100
    seed: int | None = None

    @property
    def scripts(self) -> Mapping[str, Script]:
        return self.spec.scripts

    @property
    def first(self) -> str:
        """The tool that most conversations call: one that begins a session, if there is one."""
        return self.spec.names[0]

    def after(self, tool: str) -> str:
        """Another tool with a prompt, or the same where there is only one."""
        names = self.spec.told_apart
        return names[(names.index(tool) + 1) % len(names)] if tool in names else tool

    @property
    def asking(self) -> Asking:
        return Asking(self.spec)

    @property
    def plays(self) -> Plays:
        return Plays(self.spec)


class Source(Protocol):
    """A module of this package."""

    ORDER: int

    def conversations(self, sources: Sources) -> Iterable[Conversation]: ...


def read(spec: Path | None = None, examples: int = 100, seed: int | None = None) -> Sources:
    """What the specification at `spec` offers."""
    return Sources(specification.load(spec), examples, seed)


@cache
def offered(
    spec: Path | None, examples: int, seed: int | None
) -> tuple[tuple[Conversation, ...], tuple[Exploration, ...]]:
    """Everything that can be played."""
    sources = read(spec, examples, seed)
    return gather(sources), explorations(sources)


def gather(sources: Sources) -> tuple[Conversation, ...]:
    """Every conversation, the cheap and telling ones first; those that wait last, since they overlap."""
    return tuple(conversation for source in _sources() for conversation in source.conversations(sources))


def explorations(sources: Sources) -> tuple[Exploration, ...]:
    """Every exploration, in the order of their sources."""
    offers = [getattr(source, "explorations", None) for source in _sources()]
    return tuple(exploration for offer in offers if offer is not None for exploration in offer(sources))


def _sources() -> list[Source]:
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    return sorted((cast("Source", module) for module in modules), key=lambda source: source.ORDER)
