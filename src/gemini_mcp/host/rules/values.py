"""JSON as it enters: the one alias for it, and the narrowings that turn it into Python types; pure.

Only what is true of every JSON value belongs here.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias, cast

Json: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Any]


class Undefined:
    """The value of a property that is not there, which JavaScript prints as `undefined`."""


UNDEFINED = Undefined()


def object_of(value: Json) -> JsonObject | None:
    """The value when it is a JSON object."""
    return cast(JsonObject, value) if isinstance(value, dict) else None


def list_of(value: Json) -> list[Json] | None:
    """The value when it is a JSON array."""
    return cast(list[Json], value) if isinstance(value, list) else None


def text_of(value: Json) -> str | None:
    """The value when it is a string."""
    return value if isinstance(value, str) else None


def texts_of(value: Json) -> tuple[str, ...] | None:
    """The strings of the value when it is an array of nothing but strings."""
    items = list_of(value)
    if items is None or not all(isinstance(item, str) for item in items):
        return None
    return tuple(cast(list[str], items))


def objects_of(value: Json) -> tuple[JsonObject, ...]:
    """The objects of the value when it is an array; everything else in it is passed over."""
    return tuple(item for item in map(object_of, list_of(value) or ()) if item is not None)


def number_of(value: Json) -> float | None:
    """The value when it is a JSON number; Python counts booleans as numbers, JSON does not."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def without_none(pairs: Iterable[tuple[str, Json]]) -> JsonObject:
    """An object of the pairs that have a value."""
    return {key: value for key, value in pairs if value is not None}
