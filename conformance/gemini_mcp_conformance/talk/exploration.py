"""Exploration: conversations that are generated during the run, because they depend on what the port serves; pure.

A source of conversations that has `explorations(sources)` offers them; the explorer plays them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from hypothesis.strategies import SearchStrategy

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.conversation_file import to_json

Served = Mapping[str, Mapping[str, Json]]
"""By the name of a tool, the schema of its arguments that the port serves."""


@dataclass(frozen=True)
class Exploration:
    """What is generated from the served schemas, how often, and what it may show. Without `seed` always the same."""

    id: str
    title: str
    strategy: Callable[[Served], SearchStrategy[Conversation]]
    examples: int
    seed: int | None = None
    phase: str = "generated"
    requirements: tuple[str, ...] = ()


def simplicity(conversation: Conversation) -> tuple[int, int]:
    """A key for sorting: smaller is simpler to read."""
    return len(conversation.steps), len(json.dumps(to_json(conversation)))


def joined(earlier: Sequence[Conversation], last: Conversation) -> Conversation:
    """The last conversation with the steps of the earlier ones before its own."""
    every = (*earlier, last)
    files = {name: text for each in every for name, text in each.files.items()}
    return replace(last, steps=tuple(step for each in every for step in each.steps), files=files)
