"""Values: JSON as it enters, and the narrowings that turn it into Python types; pure.

This is the one vocabulary for JSON in every package. Only what is true of any JSON value belongs here.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard, cast

Json: TypeAlias = Any
"""Any JSON value."""

JsonObject: TypeAlias = dict[str, Any]

SURROGATE = re.compile("[\ud800-\udfff]")


def decode(data: bytes) -> Json:
    """The JSON of a line, or None."""
    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def is_unicode(value: Json) -> bool:
    """Whether no text in the value has a lone surrogate."""
    if isinstance(value, str):
        return value.isascii() or SURROGATE.search(value) is None
    return all(map(is_unicode, (*table(value), *table(value).values(), *items(value))))


def table(value: Json) -> Mapping[str, Json]:
    """The value when it is an object, else an empty one."""
    return cast("Mapping[str, Json]", value) if isinstance(value, Mapping) else {}


def items(value: Json) -> Sequence[Json]:
    """The value when it is an array, else an empty one."""
    return cast("Sequence[Json]", value) if isinstance(value, list | tuple) else ()


def inside(value: Json, *keys: str) -> Json:
    """What lies below those keys, or None."""
    for key in keys:
        value = table(value).get(key)
    return value


def is_object(value: Json) -> TypeGuard[Mapping[str, Json]]:
    """Whether the value is an object."""
    return isinstance(value, dict)


def is_array(value: Json) -> TypeGuard[Sequence[Json]]:
    """Whether the value is an array."""
    return isinstance(value, list)


def texts_in(value: Json) -> Iterator[str]:
    """Every text that a value is or holds, the names of members included."""
    if isinstance(value, str):
        yield value
    for inner in (*table(value), *table(value).values(), *items(value)):
        yield from texts_in(inner)
