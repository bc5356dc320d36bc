"""Tools that a model may take for each other: by names spelled otherwise, or by words of descriptions. Pure.

The second is an estimate, and told as one: it knows words and no meanings.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gemini_mcp.host.tools.registry import OfferedTool

ALIKE = 0.75
"""The share of words from which on two tools are told."""

_FEWEST_WORDS = 5
_WORDS = re.compile(r"[^\W\d_]+")
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_EMPTY = frozenset(
    ["a", "an", "and", "as", "by", "for", "from", "in", "is", "it", "of", "on", "or", "the", "this", "to"]
)


@dataclass(frozen=True)
class Likeness:
    """Two tools, and the share of words that they have in common; 1 where only the spelling of the names differs."""

    one: OfferedTool
    other: OfferedTool
    share: float
    is_by_name: bool


def likenesses(own: Sequence[OfferedTool], others: Sequence[OfferedTool]) -> Iterator[Likeness]:
    """The pairs of tools, of which one at least is of the server's own, that may be taken for each other."""
    pairs = [*itertools.combinations(own, 2), *itertools.product(own, others)]
    spelled = {id(tool): _spelling(tool.name) for tool in (*own, *others)}
    words = {id(tool): _words(tool) for tool in (*own, *others)}
    for one, other in pairs:
        if spelled[id(one)] == spelled[id(other)]:
            yield Likeness(one, other, 1, is_by_name=True)
            continue
        first, second = words[id(one)], words[id(other)]
        share = len(first & second) / max(1, len(first | second))
        if share >= ALIKE and min(len(first), len(second)) >= _FEWEST_WORDS:
            yield Likeness(one, other, share, is_by_name=False)


def _spelling(name: str) -> str:
    return "_".join(_PARTS.split(name)).lower().strip("_")


def _words(tool: OfferedTool) -> frozenset[str]:
    """The words of a description."""
    return frozenset(_WORDS.findall(tool.description.lower())) - _EMPTY
