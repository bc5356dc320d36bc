"""Equality as JSON Schema has it, by texts that are equal where the values are. Pure.

Only what finds a value among many without comparing it with each belongs here.
"""

from collections.abc import Sequence
from functools import lru_cache

from gemini_mcp.schema.inline import canonical
from gemini_mcp.spec.values import Json, is_array, is_object


class _Same:
    """An array that equals only itself, so that what is known of it is kept while it lives."""

    def __init__(self, values: Sequence[Json]) -> None:
        self.values = values

    def __hash__(self) -> int:
        return id(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.values is self.values


def keys(values: Sequence[Json]) -> frozenset[str]:
    """The keys of some values; whoever asks again for the same array is answered at once."""
    return _keys(_Same(values))


@lru_cache(maxsize=256)
def _keys(values: _Same) -> frozenset[str]:
    return frozenset(map(key, values.values))


def key(value: Json) -> str:
    """One text for values that JSON Schema takes for equal, as it does 1 and 1.0."""
    return canonical(_plain(value))


def _plain(value: Json) -> Json:
    if is_object(value):
        return {name: _plain(inner) for name, inner in value.items()}
    if is_array(value):
        return [_plain(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
