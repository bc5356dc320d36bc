"""JSON values, and functions that narrow them to Python types. Pure.

Every package uses these names. Only what is true of any JSON value belongs here.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard, cast

Json: TypeAlias = Any
"""Any JSON value."""

JsonObject: TypeAlias = dict[str, Any]


class Absent:
    """Stands for a member that an object does not have; None is JSON's null."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "absent"


ABSENT: Json = Absent()

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
    return cast("Mapping[str, Json]", value) if isinstance(value, (dict, Mapping)) else {}


def items(value: Json) -> Sequence[Json]:
    """The value when it is an array, else an empty one."""
    return cast("Sequence[Json]", value) if isinstance(value, list | tuple) else ()


def inside(value: Json, *keys: str) -> Json:
    """What lies below those keys, or None."""
    for key in keys:
        value = table(value).get(key)
    return value


def differing(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[tuple[str, Json, Json]]:
    """Every key whose values differ, with both; `ABSENT` stands for a value that is not there."""
    for key in sorted({*old, *new}):
        before, after = old.get(key, ABSENT), new.get(key, ABSENT)
        if not same(before, after):
            yield key, before, after


def same(one: Json, other: Json) -> bool:
    """Whether two values are equal as JSON: Python takes `true` for 1."""
    if one != other:
        return False
    if is_object(one):
        return all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple):
        return all(map(same, items(one), items(other)))
    return isinstance(one, bool) is isinstance(other, bool)


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
    else:
        for inner in (*table(value), *table(value).values(), *items(value)):
            yield from texts_in(inner)


def object_of(value: Json) -> JsonObject | None:
    """The value when it is an object, to be changed or handed on."""
    return cast("JsonObject", value) if isinstance(value, dict) else None


def list_of(value: Json) -> list[Json] | None:
    """The value when it is an array, to be changed or handed on."""
    return cast("list[Json]", value) if isinstance(value, list) else None


def texts_of(value: Json) -> tuple[str, ...] | None:
    """The texts of an array of nothing but texts."""
    return tuple(value) if is_array(value) and all(isinstance(item, str) for item in value) else None


def objects_of(value: Json) -> tuple[JsonObject, ...]:
    """The objects of an array; everything else in it is left out."""
    return tuple(item for item in map(object_of, items(value)) if item is not None)


def number_of(value: Json) -> float | None:
    """The value when it is a number; Python counts booleans as numbers, JSON does not."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def type_of(value: Json) -> str:
    """The name of the value's type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def without_none(**members: Json) -> JsonObject:
    """An object of the members that have a value."""
    return {name: value for name, value in members.items() if value is not None}
