"""Candidates: values at the edges of everything that some schemas mention. Pure, and the same every time.

`search` asks the schemas about each, so a bad candidate costs time and nothing else.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from gemini_mcp.schema.effort import Effort, cost
from gemini_mcp.schema.equality import key
from gemini_mcp.schema.inline import canonical, size
from gemini_mcp.schema.texts import texts
from gemini_mcp.schema.validation import accepts, validator
from gemini_mcp.spec.values import Json, is_object

Schemas: TypeAlias = tuple[Json, ...]

_DEPTH = 5
_MOST = 200
_MOST_INNER = 32
_MOST_NAMED = 100
_LONGEST_ARRAY = 2000
EXTRA = "extra"
"""The name of a property that no schema mentions."""

_SIMPLE: tuple[Json, ...] = (None, True, False, 0, 1, -1, 2, 7, 0.5, 2.5, 100, "", "a", "A", "0", "text")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_OF_OBJECTS = frozenset({"properties", "required", "additionalProperties"})
_OF_ARRAYS = frozenset({"items", "minItems", "maxItems", "uniqueItems"})


def candidates(olds: Schemas, news: Schemas, effort: Effort | None = None, depth: int = _DEPTH) -> list[Json]:
    """Values worth trying: those at the edges of what either side mentions; fewer when the effort is used up."""
    effort = effort or Effort()
    if effort.is_spent:
        return list(_SIMPLE)
    before, after = ([part for schema in side for part in _parts(schema)] for side in (olds, news))
    parts = [*before, *after]
    found = itertools.chain(
        _constants(before, after),
        _SIMPLE,
        (part[key] + step for part in parts for key in _NUMBERS if key in part for step in (0, -1, 1, -0.5, 0.5)),
        texts(parts),
        _objects(olds, news, parts, effort, depth),
        _arrays(olds, news, parts, effort, depth),
    )
    unique = {canonical(value): value for value in itertools.islice(found, _MOST * (depth + 1))}
    return list(unique.values())


def _parts(schema: Json) -> Iterator[Mapping[str, Json]]:
    """The schema and every schema inside it that speaks of the same value."""
    if is_object(schema):
        yield schema
        inner = [one for key in ("allOf", "anyOf", "oneOf") for one in schema.get(key, ())]
        for one in [*inner, *(schema.get(key) for key in ("not", "if", "then", "else"))]:
            yield from _parts(one)


def _certain(schema: Json) -> Iterator[Mapping[str, Json]]:
    """The schema and those inside it that every value has to satisfy."""
    if is_object(schema):
        yield schema
        for one in schema.get("allOf", ()):
            yield from _certain(one)


def _constants(before: list[Mapping[str, Json]], after: list[Mapping[str, Json]]) -> Iterator[Json]:
    """The values that the schemas name, first those that only one side names."""
    sides = [{key(value): value for part in side for value in _named(part)} for side in (before, after)]
    yield from (sides[0][text] for text in sides[0] if text not in sides[1])
    yield from (sides[1][text] for text in sides[1] if text not in sides[0])
    yield from itertools.islice((sides[0][text] for text in sides[0] if text in sides[1]), _MOST_NAMED)


def _named(part: Mapping[str, Json]) -> Iterator[Json]:
    yield from (*part.get("enum", ()), *part.get("examples", ()))
    yield from (part[key] for key in ("const", "default") if key in part)


def _objects(
    olds: Schemas, news: Schemas, parts: list[Mapping[str, Json]], effort: Effort, depth: int
) -> Iterator[Json]:
    yield from ({}, {EXTRA: "a"})
    if depth == 0 or not any(_OF_OBJECTS & part.keys() for part in parts):
        return
    required = {name for schema in (*olds, *news) for part in _certain(schema) for name in part.get("required", ())}
    named = _names(olds, news, parts, required)
    members = {
        name: _ranked(of_property(olds, name), of_property(news, name), effort, depth) for name in [*named, EXTRA]
    }
    full = {name: members[name][0] for name in named if members[name]}
    least = {name: value for name, value in full.items() if name in required}
    # A value that is right but for one thing shows that thing alone: so from the least and the full object.
    yield from (least, full)
    for name in full:
        yield {other: value for other, value in least.items() if other != name}
        yield {other: value for other, value in full.items() if other != name}
        yield {name: full[name]}
    yield from _with_one_member(least, full, members, parts)
    yield from ({**full, **{f"{EXTRA}{index}": "a" for index in range(size)}} for size in (1, 2, 3))


def _names(olds: Schemas, news: Schemas, parts: list[Mapping[str, Json]], required: set[str]) -> list[str]:
    """The members that are worth trying: all that are named, or of very many the required and some that differ."""
    named = sorted(
        required
        | {name for part in parts for name in part.get("required", ())}
        | {name for part in parts for name in part.get("properties", {})}
    )
    if len(named) <= _MOST_NAMED:
        return named
    differing = [name for name in named if of_property(olds, name) != of_property(news, name)]
    return sorted(required | set(differing[:_MOST_NAMED]))


def _with_one_member(
    least: Mapping[str, Json],
    full: Mapping[str, Json],
    members: Mapping[str, list[Json]],
    parts: list[Mapping[str, Json]],
) -> Iterator[Json]:
    """The least object, the full one and those that parts require, each with one other value; likely values first."""
    alone = [{name: full[name] for name in part["required"] if name in full} for part in parts if "required" in part]
    bases = {key(base): base for base in (least, full, *alone)}
    by_rank = [(rank, name, value) for name, values in members.items() for rank, value in enumerate(values)]
    for _, name, value in sorted(by_rank, key=lambda one: one[0]):
        yield from ({**base, name: value} for base in bases.values())


def demanded(schemas: Schemas) -> list[str]:
    """The properties that a schema demands, always or on some condition."""
    parts = [part for schema in schemas for part in _parts(schema)]
    return sorted({name for part in parts for name in part.get("required", ())})


def of_property(schemas: Schemas, name: str) -> Schemas:
    """What the schemas say of a property."""
    parts = [part for schema in schemas for part in _parts(schema)]
    return tuple(part.get("properties", {}).get(name, part.get("additionalProperties", True)) for part in parts)


def _arrays(
    olds: Schemas, news: Schemas, parts: list[Mapping[str, Json]], effort: Effort, depth: int
) -> Iterator[Json]:
    yield from ([], ["a"])
    if depth == 0 or not any(_OF_ARRAYS & part.keys() for part in parts):
        return
    elements = _ranked(of_elements(olds), of_elements(news), effort, depth)
    yield from ([element] for element in elements)
    yield from (elements[:1] * 2, *map(list, itertools.pairwise(elements[:12])))
    limits = {
        int(part[key]) + step
        for part in parts
        for key in ("minItems", "maxItems")
        if key in part
        for step in (-1, 0, 1)
    }
    yield from (elements[:1] * size for size in sorted(limits) if 0 < size < _LONGEST_ARRAY)


def of_elements(schemas: Schemas) -> Schemas:
    """What the schemas say of the elements of an array."""
    return tuple(part.get("items", True) for schema in schemas for part in _parts(schema))


def _ranked(olds: Schemas, news: Schemas, effort: Effort, depth: int) -> list[Json]:
    """Candidates, the most useful first."""
    return ranked(candidates(olds, news, effort, depth - 1), olds, news, effort)[:_MOST_INNER]


def ranked(values: Iterable[Json], olds: Schemas, news: Schemas, effort: Effort) -> list[Json]:
    """The values, first one that all schemas accept where there is one, then those that only one side accepts."""
    sides = [validator(schema) for schema in olds], [validator(schema) for schema in news]
    price = cost(sum(map(size, (*olds, *news))))
    tried = itertools.takewhile(lambda _: effort.spend(price), values)
    taken = [(tuple(all(accepts(check, value) for check in side) for side in sides), value) for value in tried]
    both = [value for accepted, value in taken if all(accepted)]
    one = [value for accepted, value in taken if any(accepted) and not all(accepted)]
    neither = [value for accepted, value in taken if not any(accepted)]
    # Callers keep the first 32: what tells the sides apart must not push out what both accept, nor the reverse.
    half = _MOST_INNER // 2
    return [*both[:1], *one[:half], *both[1:], *one[half:], *neither]
