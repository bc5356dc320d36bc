"""Tools that a model may take for each other: their names are spelled alike, or their descriptions share words. Pure.

The second is an estimate, and reported as one: it compares words, not meanings.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gemini_mcp.host.tools.registry import OfferedTool

ALIKE = 0.75
"""The share of words from which on two tools are told."""

_FEWEST_WORDS = 5
"""Shorter descriptions share most of their words by chance."""

_FEW_TOOLS, _MANY_TOOLS = 2, 0.25
"""A word of more tools than a few, and of more than this part of all, tells nothing."""

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
    # Of two tools that have the same name, one cannot be called.
    differing = (pair for pair in itertools.combinations(own, 2) if pair[0].name != pair[1].name)
    pairs = [*differing, *itertools.product(own, others)]
    spelled = {id(tool): _spelling(tool.name) for tool in (*own, *others)}
    words = _telling_words([*own, *others])
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


def _telling_words(tools: Sequence[OfferedTool]) -> Mapping[int, frozenset[str]]:
    """The words of each description, by the tool's identity, without those that many tools share."""
    words = {id(tool): frozenset(_WORDS.findall(tool.description.lower())) - _EMPTY for tool in tools}
    counts = Counter(word for found in words.values() for word in found)
    shared = {word for word, count in counts.items() if count > max(_FEW_TOOLS, len(tools) * _MANY_TOOLS)}
    return {tool: found - shared for tool, found in words.items()}
