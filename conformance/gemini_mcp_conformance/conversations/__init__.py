"""The sources of conversations. A module that is put here has `conversations(options)`, and `ORDER` for its place."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from gemini_mcp.spec import load_documents
from gemini_mcp_conformance.conversation import Conversation
from gemini_mcp_conformance.fake import Script


@dataclass(frozen=True)
class Sources:
    """What conversations are made from."""

    scripts: Mapping[str, Script]
    spec: Path | None = None
    examples: int = 100
    seed: int | None = None


class Source(Protocol):
    """A module of this package."""

    ORDER: int

    def conversations(self, sources: Sources) -> Iterable[Conversation]: ...


def read(spec: Path | None = None, examples: int = 100, seed: int | None = None) -> Sources:
    """What the specification at `spec` offers."""
    documents = load_documents("server/scripts", spec)
    return Sources({name: Script.from_json(script) for name, script in documents.items()}, spec, examples, seed)


def gather(sources: Sources) -> tuple[Conversation, ...]:
    """Every conversation, the cheap and telling ones first; those that wait last, since they overlap."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    ordered = sorted((cast("Source", module) for module in modules), key=lambda source: source.ORDER)
    return tuple(conversation for source in ordered for conversation in source.conversations(sources))
