"""Schemas that hold together: several schemas in, what they demand of a value, a property or an element out. Pure.

Where the demand is not known exactly, it is taken as small as it can be, so that more values satisfy it than do.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

from jsonschema.exceptions import UnknownType
from referencing.exceptions import Unresolvable

from gemini_mcp.spec.values import Json, is_array, is_object
from gemini_mcp_spec.schema.inline import RECURSIVE, canonical
from gemini_mcp_spec.schema.validation import Validator, validator

Conjuncts: TypeAlias = tuple[Mapping[str, Json], ...]

KINDS = ("null", "boolean", "object", "array", "string", "integer", "fraction")
"""Every value is of exactly one kind; a fraction is a number that is no integer."""

KIND = "$kind"
_LARGEST_RANGE = 64


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


@lru_cache(maxsize=4096)
def _validator(schema: str) -> Validator:
    return validator(json.loads(schema))


def valid(value: Json, schema: Json) -> bool | None:
    """Whether `schema` accepts `value`; None where that cannot be decided."""
    if RECURSIVE in canonical(schema):
        return None
    try:
        return _validator(canonical(schema)).is_valid(value)
    except (Unresolvable, UnknownType, RecursionError, ArithmeticError, ValueError, re.error):
        return None


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
        rest = {key: value for key, value in part.items() if key not in BESIDE_OTHERS}
        found += [*([rest] if rest else []), *inner]
    return tuple(found)


def values_of(flat: Conjuncts) -> list[Json] | None:
    """Every value that can satisfy `flat`, where an enumeration limits them."""
    listed = [part["enum"] if "enum" in part else [part["const"]] for part in flat if {"enum", "const"} & part.keys()]
    return [value for value in listed[0] if is_possible(value, flat)] if listed else None


def is_possible(value: Json, flat: Conjuncts) -> bool:
    return all(valid(value, part) is not False for part in flat)


def branches_of(flat: Conjuncts) -> tuple[Conjuncts, list[tuple[Json, ...]]] | None:
    """The first choice in `flat`: what remains beside it, and what each of its branches adds."""
    for index, part in enumerate(flat):
        for keyword in ("anyOf", "oneOf", "if"):
            if keyword not in part:
                continue
            used = {keyword, "then", "else"} if keyword == "if" else {keyword}
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
        yield branch, *({"not": other} for other in others if keyword == "oneOf")


def is_shared(flat: Conjuncts, keyword: str, value: Json) -> bool:
    """Whether `flat` asserts the same by a keyword that reads no other."""
    return keyword not in _READS_OTHERS and any(
        keyword in part and canonical(part[keyword]) == canonical(value) for part in flat
    )


BESIDE_OTHERS = frozenset({"allOf", "unevaluatedItems", "unevaluatedProperties"})
"""What `flat_of` takes away: `unevaluated…` means nothing once its neighbours are apart. More is accepted without."""

_READS_OTHERS = frozenset({"additionalProperties", "items", "contains", "if"})


def largest(flat: Conjuncts, keyword: str) -> float:
    return max((part[keyword] for part in flat if keyword in part), default=0)


def smallest(flat: Conjuncts, keyword: str) -> float:
    return min((part[keyword] for part in flat if keyword in part), default=math.inf)


def lower_bound(flat: Conjuncts, kind: str) -> tuple[float, bool]:
    """The lower bound of numbers, and whether it is excluded."""
    bounds = [(part["minimum"], False) for part in flat if "minimum" in part]
    bounds += [(part["exclusiveMinimum"], True) for part in flat if "exclusiveMinimum" in part]
    low, excluded = max(bounds, default=(-math.inf, False))
    if kind == "integer" and math.isfinite(low):
        return (math.floor(low) + 1 if excluded else math.ceil(low)), False
    return low, excluded


def upper_bound(flat: Conjuncts, kind: str) -> tuple[float, bool]:
    """The upper bound of numbers, and whether it is excluded."""
    mirrored = [{_MIRROR[key]: -value for key, value in part.items() if key in _MIRROR} for part in flat]
    low, excluded = lower_bound(tuple(mirrored), kind)
    return -low, excluded


_MIRROR = {"maximum": "minimum", "exclusiveMaximum": "exclusiveMinimum"}


def range_of(flat: Conjuncts) -> range | None:
    """The integers between the bounds, where they are few."""
    (low, _), (high, _) = lower_bound(flat, "integer"), upper_bound(flat, "integer")
    few = math.isfinite(low) and math.isfinite(high) and high - low < _LARGEST_RANGE
    return range(int(low), int(high) + 1) if few else None


def required(flat: Conjuncts) -> list[str]:
    return sorted({name for part in flat for name in part.get("required", ())})


def names_of(flat: Conjuncts) -> list[str]:
    return sorted({name for part in flat for name in part.get("properties", {})})


def most_names(flat: Conjuncts) -> float:
    """How many properties an object can have, where some schema lists them all."""
    closed = [part for part in flat if part.get("additionalProperties") is False and not part.get("patternProperties")]
    return min((len(part.get("properties", {})) for part in closed), default=math.inf)


def matches(pattern: str, name: str) -> bool | None:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return None


def property_of(flat: Conjuncts, name: str) -> tuple[Json, ...]:
    """What `flat` demands of the property `name`."""
    return tuple(found for part in flat for found in _demands(part, name))


def _demands(part: Mapping[str, Json], name: str) -> Iterator[Json]:
    patterns = [(matches(pattern, name), inner) for pattern, inner in part.get("patternProperties", {}).items()]
    if name in part.get("properties", {}):
        yield part["properties"][name]
    yield from (inner for matches, inner in patterns if matches)
    if name not in part.get("properties", {}) and all(matches is False for matches, _ in patterns):
        yield part.get("additionalProperties", True)


def unnamed(flat: Conjuncts, including: str | None = None, excluding: Iterable[str] = ()) -> tuple[Json, ...]:
    """What `flat` demands of a property that no schema names: one that matches a pattern, or none of several."""
    demands: list[Json] = []
    for part in flat:
        patterns = part.get("patternProperties", {})
        if including is not None and including in patterns:
            demands.append(patterns[including])
            continue
        choices = [inner for pattern, inner in patterns.items() if pattern not in excluding]
        demands.append({"anyOf": [*choices, part.get("additionalProperties", True)]})
    return tuple(demands)


def prefix_length(flat: Conjuncts) -> int:
    return max((len(part.get("prefixItems", ())) for part in flat), default=0)


def element_of(flat: Conjuncts, index: int) -> tuple[Json, ...]:
    """What `flat` demands of the element at `index`."""
    prefixes = [(part.get("prefixItems", []), part) for part in flat]
    return tuple(prefix[index] if index < len(prefix) else part.get("items", True) for prefix, part in prefixes)


def fewest(flat: Conjuncts) -> float:
    return max(largest(flat, "minProperties"), len(required(flat)))
