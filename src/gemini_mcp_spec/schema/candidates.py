"""Witnesses: two schemas in, a value that one accepts and the other rejects out. Pure, and the same every time.

Candidates are the values around everything that the schemas mention. What is handed out has been checked against
both schemas, so a bad candidate costs time and nothing else.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from gemini_mcp.spec.values import Json, is_array, is_object
from gemini_mcp_spec.files.positions import Path
from gemini_mcp_spec.schema.inline import canonical
from gemini_mcp_spec.schema.texts import matching, texts
from gemini_mcp_spec.schema.validation import accepts, validator, violations

Schemas: TypeAlias = tuple[Json, ...]

_DEPTH = 5
_MOST = 200
_MOST_INNER = 32
_LONGEST_ARRAY = 2000
_INNER = ("allOf", "anyOf", "oneOf")
_BRANCHES = ("not", "if", "then", "else")
_EXTRA = "extra"
_OF_OBJECTS = frozenset(
    {
        "additionalProperties",
        "dependentRequired",
        "dependentSchemas",
        "maxProperties",
        "minProperties",
        "patternProperties",
        "properties",
        "propertyNames",
        "required",
    }
)
_OF_ARRAYS = frozenset({"contains", "items", "maxItems", "minItems", "prefixItems", "uniqueItems"})
_SIMPLE: Mapping[str, list[Json]] = {
    "null": [None],
    "boolean": [True, False],
    "integer": [0, 1, -1, 2, 7],
    "number": [0, 1, -1, 0.5, 2.5, 100],
    "string": ["", "a", "A", "0", "text"],
}


@dataclass(frozen=True)
class Search:
    """The candidates of two schemas, each judged once."""

    old: Json
    new: Json

    @cached_property
    def lost(self) -> "Found":
        """What the old schema accepts and the new one rejects, with the places of the new one that reject it."""
        return Found(_between(self.old, self.new, self.values))

    @cached_property
    def gained(self) -> "Found":
        """What the new schema accepts and the old one rejects, with the places of the old one that reject it."""
        return Found(_between(self.new, self.old, self.values))

    @cached_property
    def kept(self) -> list[Json]:
        """What both accept."""
        sides = validator(self.old), validator(self.new)
        return [value for value in self.values if all(accepts(side, value) for side in sides)]

    @cached_property
    def values(self) -> list[Json]:
        return candidates((self.old,), (self.new,))


class Found:
    """Rejected values with the places that reject them, each sought when it is first asked for."""

    def __init__(self, values: Iterator[tuple[Json, list[Path]]]) -> None:
        self._values = values
        self._known: list[tuple[Json, list[Path]]] = []

    def __iter__(self) -> Iterator[tuple[Json, list[Path]]]:
        yield from self._known
        for value in self._values:
            self._known.append(value)
            yield value

    def nearest(self, place: Path) -> list[Json]:
        """The first value that is rejected at `place`, or else the first; none where there is none."""
        there = (value for value, places in self if any(where[: len(place)] == place for where in places))
        return list(itertools.islice(itertools.chain(there, (value for value, _ in self)), 1))


def _between(accepting: Json, rejecting: Json, values: list[Json]) -> Iterator[tuple[Json, list[Path]]]:
    inside, outside = validator(accepting), validator(rejecting)
    for value in values:
        if not accepts(outside, value) and accepts(inside, value):
            yield value, [violation.schema_path for violation in violations(outside, value)]


def candidates(olds: Schemas, news: Schemas, depth: int = _DEPTH) -> list[Json]:
    """Values worth trying: those at the edges of what either side mentions."""
    parts = [part for schema in (*olds, *news) for part in _parts(schema)]
    found = itertools.chain(
        _constants(parts),
        _simple(parts),
        _numbers(parts),
        texts(parts),
        _objects(olds, news, parts, depth),
        _arrays(olds, news, parts, depth),
    )
    unique = {canonical(value): value for value in itertools.islice(found, _MOST * (depth + 1))}
    return list(unique.values())


def _parts(schema: Json) -> Iterator[Mapping[str, Json]]:
    """The schema and every schema inside it that speaks of the same value."""
    if not is_object(schema):
        return
    yield schema
    for keyword in _INNER:
        for inner in schema.get(keyword, ()):
            yield from _parts(inner)
    for keyword in _BRANCHES:
        yield from _parts(schema.get(keyword))
    for inner in schema.get("dependentSchemas", {}).values():
        yield from _parts(inner)


def _constants(parts: list[Mapping[str, Json]]) -> Iterator[Json]:
    for part in parts:
        yield from part.get("enum", ())
        yield from part.get("examples", ())
        yield from (part[key] for key in ("const", "default") if key in part)


def _types(parts: list[Mapping[str, Json]]) -> set[str]:
    named = [part["type"] for part in parts if "type" in part]
    types = {name for value in named for name in (value if is_array(value) else [value])}
    every = {*_SIMPLE, "object", "array"}
    return types if named and all("type" in part for part in parts) else every


def _simple(parts: list[Mapping[str, Json]]) -> Iterator[Json]:
    for name in sorted({*_types(parts), "string", "null", "integer"}):
        yield from _SIMPLE.get(name, ())


def _numbers(parts: list[Mapping[str, Json]]) -> Iterator[Json]:
    for part in parts:
        for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
            if keyword in part:
                yield from (part[keyword] + step for step in (0, -1, 1, -0.5, 0.5))
        if "multipleOf" in part:
            yield from (part["multipleOf"] * factor for factor in (1, 2, 3, 0.5, -1))
            yield part["multipleOf"] + 1


def _objects(olds: Schemas, news: Schemas, parts: list[Mapping[str, Json]], depth: int) -> Iterator[Json]:
    if "object" not in _types(parts):
        return
    if depth == 0 or not any(_OF_OBJECTS & part.keys() for part in parts):
        yield from ({}, {_EXTRA: "a"})
        return
    required = {name for part in parts for name in part.get("required", ())}
    names = sorted({name for part in parts for name in part.get("properties", {})} | required | _dependent(parts))
    members = {name: _members(olds, news, name, depth) for name in names}
    members = {name: values for name, values in members.items() if values}
    full = {name: values[0] for name, values in members.items()}
    least = {name: value for name, value in full.items() if name in required}
    yield least
    yield from ({other: value for other, value in least.items() if other != name} for name in least)
    yield {}
    yield full
    for name, values in members.items():
        yield {other: value for other, value in full.items() if other != name}
        yield {name: values[0]}
        for value in values:
            yield {**least, name: value}
            yield {**full, name: value}
    for name in [*_pattern_names(parts), _EXTRA]:
        for value in _members(olds, news, name, depth):
            yield {**full, name: value}
            yield {**least, name: value}
    yield from ({**full, **{f"{_EXTRA}{index}": "a" for index in range(size)}} for size in _sizes(parts, len(full)))
    yield from (dict(itertools.islice(full.items(), size)) for size in range(len(full)))


def _dependent(parts: list[Mapping[str, Json]]) -> set[str]:
    return {
        name
        for part in parts
        for trigger, needed in part.get("dependentRequired", {}).items()
        for name in (trigger, *needed)
    } | {name for part in parts for name in part.get("dependentSchemas", {})}


def _pattern_names(parts: list[Mapping[str, Json]]) -> list[str]:
    patterns = [pattern for part in parts for pattern in part.get("patternProperties", {})]
    names = [part["propertyNames"] for part in parts if is_object(part.get("propertyNames"))]
    found = [matching(pattern) for pattern in patterns]
    return [name for name in dict.fromkeys([*found, *texts(names)]) if name is not None and len(name) < 100][:20]


def _sizes(parts: list[Mapping[str, Json]], held: int) -> list[int]:
    limits = {
        part[key] + step
        for part in parts
        for key in ("minProperties", "maxProperties")
        if key in part
        for step in (0, 1)
    }
    return sorted(limit - held for limit in limits if 0 < limit - held < _LONGEST_ARRAY)


def _members(olds: Schemas, news: Schemas, name: str, depth: int) -> list[Json]:
    return _ranked(tuple(_of_property(olds, name)), tuple(_of_property(news, name)), depth)


def _ranked(olds: Schemas, news: Schemas, depth: int) -> list[Json]:
    """Candidates, first one that all schemas accept where there is one, then those that only one side accepts."""
    sides = [validator(schema) for schema in olds], [validator(schema) for schema in news]
    taken = [
        (tuple(all(accepts(check, value) for check in side) for side in sides), value)
        for value in candidates(olds, news, depth - 1)
    ]
    both = [value for accepted, value in taken if all(accepted)]
    one = [value for accepted, value in taken if any(accepted) and not all(accepted)]
    neither = [value for accepted, value in taken if not any(accepted)]
    return [*both[:1], *one, *both[1:], *neither][:_MOST_INNER]


def _of_property(schemas: Schemas, name: str) -> Iterator[Json]:
    for part in (part for schema in schemas for part in _parts(schema)):
        if name in part.get("properties", {}):
            yield part["properties"][name]
            continue
        matching = [inner for pattern, inner in part.get("patternProperties", {}).items() if _found(pattern, name)]
        yield from matching
        if not matching and is_object(part.get("additionalProperties")):
            yield part["additionalProperties"]


def _found(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return False


def _arrays(olds: Schemas, news: Schemas, parts: list[Mapping[str, Json]], depth: int) -> Iterator[Json]:
    if "array" not in _types(parts):
        return
    if depth == 0 or not any(_OF_ARRAYS & part.keys() for part in parts):
        yield from ([], ["a"])
        return
    yield []
    longest = max((len(part.get("prefixItems", ())) for part in parts), default=0)
    columns = [
        _ranked(tuple(_of_element(olds, index)), tuple(_of_element(news, index)), depth) for index in range(longest + 1)
    ]
    firsts = [column[0] for column in columns if column]
    for size in range(1, len(firsts) + 1):
        for value in columns[size - 1]:
            yield [*firsts[: size - 1], value]
    yield [*firsts, *firsts[-1:]]
    for one, other in itertools.pairwise(columns[-1][:12]):
        yield [*firsts[:-1], one, other]
    sizes = {
        part[key] + step for part in parts for key in ("minItems", "maxItems") if key in part for step in (-1, 0, 1)
    }
    for size in sorted(size for size in sizes if 0 < size < _LONGEST_ARRAY):
        yield ([*firsts[:-1], *firsts[-1:] * size])[:size]
        yield [*firsts[:-1], *_different(columns[-1], size)][:size]


def _different(values: list[Json], size: int) -> Iterable[Json]:
    return itertools.islice(itertools.chain(values, range(1000, 1000 + size)), size)


def _of_element(schemas: Schemas, index: int) -> Iterator[Json]:
    for part in (part for schema in schemas for part in _parts(schema)):
        prefix = part.get("prefixItems", [])
        if index < len(prefix):
            yield prefix[index]
        elif "items" in part:
            yield part["items"]
        if is_object(part.get("contains")):
            yield part["contains"]
