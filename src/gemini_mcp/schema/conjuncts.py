"""What several schemas demand together of a value, of a property or of an element. Pure.

A demand that is not known exactly is taken as smaller than it is. More values satisfy it then, so proofs stay sound.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from gemini_mcp.schema.inline import RECURSIVE, canonical
from gemini_mcp.schema.validation import judge
from gemini_mcp.spec.values import Json, is_array, is_object

Conjuncts: TypeAlias = tuple[Mapping[str, Json], ...]

KINDS = ("null", "boolean", "object", "array", "string", "integer", "fraction")
"""Every value is of exactly one kind; a fraction is a number that is no integer."""

KIND = "$kind"
"""A keyword of the prover's own: the one kind that a step of the proof is about."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "$ref": ("$ref", RECURSIVE),
    "additionalProperties": ("properties", "additionalProperties"),
    "if": ("if", "then", "else"),
}
"""Keywords that mean nothing without those beside them."""

_SIGNED = ("minimum", "exclusiveMinimum")
"""Lower limits that may lie below zero."""


def kinds_of(schema: Mapping[str, Json]) -> set[str]:
    """The kinds that `type` of a schema leaves."""
    types = schema.get("type", list(KINDS))
    names = types if is_array(types) else [types]
    kinds = {kind for name in names for kind in (("integer", "fraction") if name == "number" else (name,))}
    kinds &= {schema[KIND]} if KIND in schema else set(KINDS)
    excluded = schema.get("not")
    if is_object(excluded) and set(excluded) == {"type"}:
        kinds -= kinds_of(excluded)
    return kinds


def flat_of(parts: Iterable[Json]) -> Conjuncts | None:
    """The schemas and what their `allOf` holds; None when one accepts nothing."""
    found: list[Mapping[str, Json]] = []
    for part in parts:
        if part is False:
            return None
        if part is True or part == {}:
            continue
        inner = flat_of(part.get("allOf", ()))
        if inner is None:
            return None
        rest = {key: value for key, value in part.items() if key != "allOf"}
        found += [*([rest] if rest else []), *inner]
    return tuple(found)


def values_of(flat: Conjuncts) -> list[Json] | None:
    """Every value that can satisfy `flat`, where an enumeration limits them."""
    listed = [part["enum"] if "enum" in part else [part["const"]] for part in flat if {"enum", "const"} & part.keys()]
    return possible(listed[0], flat) if listed else None


def possible(values: Iterable[Json], flat: Conjuncts) -> list[Json]:
    """The values that no schema is known to refuse."""
    judges = [judge(part) for part in flat]
    return [value for value in values if all(accepts(value) is not False for accepts in judges)]


def branches_of(flat: Conjuncts) -> tuple[Conjuncts, list[tuple[Json, ...]]] | None:
    """The first choice in `flat`: what remains beside it, and what each of its branches adds."""
    for index, part in enumerate(flat):
        for keyword in ("anyOf", "oneOf", "if"):
            if keyword in part:
                used = GROUPS.get(keyword, (keyword,))
                rest = {key: value for key, value in part.items() if key not in used}
                return (*flat[:index], *([rest] if rest else []), *flat[index + 1 :]), list(_choices(part, keyword))
    return None


def _choices(part: Mapping[str, Json], keyword: str) -> Iterator[tuple[Json, ...]]:
    if keyword == "if":
        yield part["if"], part.get("then", True)
        yield {"not": part["if"]}, part.get("else", True)
        return
    for index, branch in enumerate(part[keyword]):
        others = part[keyword][:index] + part[keyword][index + 1 :]
        # Exactly one branch holds, so each is taken with the others denied.
        yield branch, *({"not": other} for other in others if keyword == "oneOf")


def is_shared(flat: Conjuncts, schema: Mapping[str, Json], keyword: str) -> bool:
    """Whether `flat` asserts the same by this keyword and all that are read with it."""
    group = GROUPS.get(keyword, (keyword,))
    wanted = canonical([schema.get(key) for key in group])
    return any(canonical([part.get(key) for key in group]) == wanted for part in flat)


def largest(flat: Conjuncts, keyword: str) -> float:
    """The largest lower limit."""
    return max((part[keyword] for part in flat if keyword in part), default=-math.inf if keyword in _SIGNED else 0)


def smallest(flat: Conjuncts, keyword: str) -> float:
    """The smallest upper limit."""
    return min((part[keyword] for part in flat if keyword in part), default=math.inf)


def required(flat: Conjuncts) -> list[str]:
    """The properties that every object has."""
    return sorted({name for part in flat for name in part.get("required", ())})


def property_of(flat: Conjuncts, name: str) -> tuple[Json, ...]:
    """What `flat` demands of the property `name`."""
    # JSON Schema reads `additionalProperties` with the `properties` beside it, not with those of other parts.
    return tuple(part.get("properties", {}).get(name, part.get("additionalProperties", True)) for part in flat)


def each(flat: Conjuncts, keyword: str) -> tuple[Json, ...]:
    """What `flat` demands of everything that this keyword is about."""
    return tuple(part.get(keyword, True) for part in flat)
