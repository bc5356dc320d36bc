"""Containment: whether every value that some schemas accept together is accepted by another. Pure.

`contained` is a proof: it answers True only where each step is sound, and False where it knows no proof. A new step
must take the left side as large, or the right side as small, as it can be. Schemas are inlined and bare.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

from jsonschema.exceptions import UnknownType
from referencing.exceptions import Unresolvable

from gemini_mcp_conformance.gate.positions import Json, is_array, is_object
from gemini_mcp_conformance.gate.schema.inline import RECURSIVE, canonical, schemas_in
from gemini_mcp_conformance.gate.validation import Validator, validator

Conjuncts: TypeAlias = tuple[Mapping[str, Json], ...]

KINDS = ("null", "boolean", "object", "array", "string", "integer", "fraction")
"""Every value is of exactly one kind; a fraction is a number that is no integer."""

_KIND = "$kind"
_STEPS = 20_000
_LARGEST_RANGE = 64
_CONTEXT = frozenset({"minContains", "maxContains", "then", "else", _KIND, RECURSIVE})
"""Keywords that say nothing without another, which reads them."""


def contained(narrow: Json, wide: Json) -> bool:
    """Whether it is proven that `wide` accepts whatever `narrow` accepts."""
    if _unknown(narrow) != _unknown(wide):
        return False
    try:
        return _Prover().contained((narrow,), wide)
    except (RecursionError, _Exhausted):
        return False


def _unknown(schema: Json) -> list[str]:
    """The keywords that this module does not know, which may mean anything."""
    if not is_object(schema):
        return []
    own = [canonical({key: value}) for key, value in schema.items() if key not in KNOWN]
    return sorted([*own, *(found for inner in schemas_in(schema) for found in _unknown(inner))])


class _Exhausted(Exception):
    """The proof has become too long."""


def kinds_of(schema: Mapping[str, Json]) -> set[str]:
    """The kinds that `type` of a schema leaves."""
    types = schema.get("type", list(KINDS))
    names = types if is_array(types) else [types]
    kinds = {kind for name in names for kind in (("integer", "fraction") if name == "number" else (name,))}
    kinds &= {schema[_KIND]} if _KIND in schema else set(KINDS)
    excluded = schema.get("not")
    if is_object(excluded) and set(excluded) == {"type"}:
        kinds -= kinds_of(excluded)
    return kinds


@lru_cache(maxsize=4096)
def _validator(schema: str) -> Validator:
    return validator(json.loads(schema))


def _valid(value: Json, schema: Json) -> bool | None:
    """Whether `schema` accepts `value`; None where that cannot be decided."""
    if RECURSIVE in canonical(schema):
        return None
    try:
        return _validator(canonical(schema)).is_valid(value)
    except (Unresolvable, UnknownType, RecursionError, ArithmeticError, ValueError, re.error):
        return None


class _Prover:
    def __init__(self) -> None:
        self.steps = _STEPS

    def contained(self, narrow: Iterable[Json], wide: Json) -> bool:
        self.steps -= 1
        if self.steps < 0:
            raise _Exhausted
        narrow = tuple(narrow)
        flat = _flat(narrow)
        if flat is None or wide is True or wide == {}:
            return True
        if is_object(wide) and canonical(wide) in {canonical(part) for part in (*narrow, *flat)}:
            return True
        if (values := _values(flat)) is not None:
            return all(_valid(value, wide) is True for value in values)
        kinds = set(KINDS).intersection(*(kinds_of(part) for part in flat))
        return all(self.kind_contained(flat, kind, wide) for kind in sorted(kinds))

    def kind_contained(self, flat: Conjuncts, kind: str, wide: Json) -> bool:
        if kind in ("null", "boolean"):
            values = [None] if kind == "null" else [True, False]
            return all(_valid(value, wide) is True for value in values if _possible(value, flat))
        flat = (*flat, {_KIND: kind})
        if (branches := _branches(flat)) is not None:
            rest, choices = branches
            return all(self.contained((*rest, *choice), wide) for choice in choices)
        if kind == "integer" and (numbers := _range(flat)) is not None:
            return all(_valid(value, wide) is True for value in numbers if _possible(value, flat))
        if is_object(wide) and all(self.asserts(flat, kind, wide, keyword) for keyword in wide):
            return True
        return self.is_empty(flat, kind)

    def asserts(self, flat: Conjuncts, kind: str, wide: Mapping[str, Json], keyword: str) -> bool:
        """Whether everything in `flat` satisfies one keyword of `wide`."""
        value = wide[keyword]
        match keyword:
            case "type":
                return kind in kinds_of({"type": value})
            case "allOf":
                return all(self.contained(flat, part) for part in value)
            case "anyOf":
                return any(self.contained(flat, part) for part in value)
            case "oneOf":
                return any(self.is_only(flat, index, value) for index in range(len(value)))
            case "not":
                return self.contained((*flat, value), False)
            case "if":
                return self.contained((*flat, value), wide.get("then", True)) and self.contained(
                    (*flat, {"not": value}), wide.get("else", True)
                )
            case _ if keyword in _CONTEXT:
                return True
            case _ if keyword in _APPLIES:
                kinds, proof = _APPLIES[keyword]
                return kind not in kinds or proof(self, flat, wide) or _shared(flat, keyword, value)
            case _:
                return not keyword.startswith(("unevaluated", "$")) and _shared(flat, keyword, value)

    def is_only(self, flat: Conjuncts, index: int, branches: list[Json]) -> bool:
        others = [branch for number, branch in enumerate(branches) if number != index]
        return self.contained(flat, branches[index]) and all(self.contained((*flat, other), False) for other in others)

    def is_empty(self, flat: Conjuncts, kind: str) -> bool:
        """Whether it is proven that nothing of this kind satisfies `flat`."""
        for index, part in enumerate(flat):
            if "not" in part:
                rest = {key: value for key, value in part.items() if key != "not"}
                if self.contained((*flat[:index], rest, *flat[index + 1 :]), part["not"]):
                    return True
        match kind:
            case "string":
                return _largest(flat, "minLength") > _smallest(flat, "maxLength")
            case "integer" | "fraction":
                (low, above), (high, below) = _low(flat, kind), _high(flat, kind)
                return low > high or (low == high and (above or below))
            case "array":
                needed = int(_largest(flat, "minItems"))
                return needed > _smallest(flat, "maxItems") or any(
                    self.contained(_element(flat, index), False) for index in range(min(needed, _prefix(flat) + 1))
                )
            case "object":
                few = _largest(flat, "minProperties") > min(_smallest(flat, "maxProperties"), _most_names(flat))
                return few or any(self.contained(_property(flat, name), False) for name in _required(flat))
            case _:
                return False

    def properties(self, flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
        return all(self.contained(_property(flat, name), inner) for name, inner in wide["properties"].items())

    def pattern_properties(self, flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
        return all(self.pattern_property(flat, pattern, inner) for pattern, inner in wide["patternProperties"].items())

    def pattern_property(self, flat: Conjuncts, pattern: str, inner: Json) -> bool:
        named = [name for name in _names(flat) if _matches(pattern, name) is not False]
        if not all(self.contained(_property(flat, name), inner) for name in named):
            return False
        return self.contained(_unnamed(flat, including=pattern), inner)

    def additional_properties(self, flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
        inner, patterns = wide["additionalProperties"], wide.get("patternProperties", {})
        named = [name for name in _names(flat) if name not in wide.get("properties", {})]
        free = [name for name in named if not any(_matches(pattern, name) for pattern in patterns)]
        if not all(self.contained(_property(flat, name), inner) for name in free):
            return False
        return self.contained(_unnamed(flat, excluding=patterns), inner)

    def property_names(self, flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
        schema = wide["propertyNames"]
        if math.isfinite(_most_names(flat)):
            return all(
                _valid(name, schema) is True for name in _names(flat) if _flat(_property(flat, name)) is not None
            )
        return self.contained(
            ({"type": "string"}, *(part["propertyNames"] for part in flat if "propertyNames" in part)), schema
        )

    def dependent_required(self, flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
        needs = wide["dependentRequired"].items()
        return all(self.contained((*flat, {"required": [name]}), {"required": needed}) for name, needed in needs)

    def dependent_schemas(self, flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
        return all(
            self.contained((*flat, {"type": "object", "required": [name]}), schema)
            for name, schema in wide["dependentSchemas"].items()
        )

    def prefix_items(self, flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
        longest = _smallest(flat, "maxItems")
        elements = [(index, inner) for index, inner in enumerate(wide["prefixItems"]) if index < longest]
        return all(self.contained(_element(flat, index), inner) for index, inner in elements)

    def items(self, flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
        start, longest = len(wide.get("prefixItems", ())), _smallest(flat, "maxItems")
        indices = [index for index in range(start, max(start, _prefix(flat)) + 1) if index < longest]
        return all(self.contained(_element(flat, index), wide["items"]) for index in indices)

    def contains(self, flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
        keys = ("contains", "minContains", "maxContains")
        triple = [wide.get(key) for key in keys]
        if any(canonical([part.get(key) for key in keys]) == canonical(triple) for part in flat):
            return True
        least = wide.get("minContains", 1)
        holders = [part for part in flat if "contains" in part and part.get("minContains", 1) >= least]
        return "maxContains" not in wide and (
            least == 0 or any(self.contained((part["contains"],), wide["contains"]) for part in holders)
        )


def _flat(parts: Iterable[Json]) -> Conjuncts | None:
    """The schemas and what their `allOf` holds; None when one accepts nothing."""
    found: list[Mapping[str, Json]] = []
    for part in parts:
        if part is False:
            return None
        if part is True or part == {}:
            continue
        inner = _flat(part.get("allOf", ()))
        if inner is None:
            return None
        rest = {key: value for key, value in part.items() if key not in _BESIDE_OTHERS}
        found += [*([rest] if rest else []), *inner]
    return tuple(found)


def _values(flat: Conjuncts) -> list[Json] | None:
    """Every value that can satisfy `flat`, where an enumeration limits them."""
    listed = [part["enum"] if "enum" in part else [part["const"]] for part in flat if {"enum", "const"} & part.keys()]
    return [value for value in listed[0] if _possible(value, flat)] if listed else None


def _possible(value: Json, flat: Conjuncts) -> bool:
    return all(_valid(value, part) is not False for part in flat)


def _branches(flat: Conjuncts) -> tuple[Conjuncts, list[tuple[Json, ...]]] | None:
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


def _shared(flat: Conjuncts, keyword: str, value: Json) -> bool:
    """Whether `flat` asserts the same by a keyword that reads no other."""
    return keyword not in _READS_OTHERS and any(
        keyword in part and canonical(part[keyword]) == canonical(value) for part in flat
    )


_BESIDE_OTHERS = frozenset({"allOf", "unevaluatedItems", "unevaluatedProperties"})
"""What `_flat` takes away: `unevaluated…` means nothing once its neighbours are apart; without it more is accepted."""

_READS_OTHERS = frozenset({"additionalProperties", "items", "contains", "if"})


def _largest(flat: Conjuncts, keyword: str) -> float:
    return max((part[keyword] for part in flat if keyword in part), default=0)


def _smallest(flat: Conjuncts, keyword: str) -> float:
    return min((part[keyword] for part in flat if keyword in part), default=math.inf)


def _low(flat: Conjuncts, kind: str) -> tuple[float, bool]:
    """The lower bound of numbers, and whether it is excluded."""
    bounds = [(part["minimum"], False) for part in flat if "minimum" in part]
    bounds += [(part["exclusiveMinimum"], True) for part in flat if "exclusiveMinimum" in part]
    low, excluded = max(bounds, default=(-math.inf, False))
    if kind == "integer" and math.isfinite(low):
        return (math.floor(low) + 1 if excluded else math.ceil(low)), False
    return low, excluded


def _high(flat: Conjuncts, kind: str) -> tuple[float, bool]:
    """The upper bound of numbers, and whether it is excluded."""
    mirrored = [{_MIRROR[key]: -value for key, value in part.items() if key in _MIRROR} for part in flat]
    low, excluded = _low(tuple(mirrored), kind)
    return -low, excluded


_MIRROR = {"maximum": "minimum", "exclusiveMaximum": "exclusiveMinimum"}


def _range(flat: Conjuncts) -> range | None:
    """The integers between the bounds, where they are few."""
    (low, _), (high, _) = _low(flat, "integer"), _high(flat, "integer")
    few = math.isfinite(low) and math.isfinite(high) and high - low < _LARGEST_RANGE
    return range(int(low), int(high) + 1) if few else None


def _required(flat: Conjuncts) -> list[str]:
    return sorted({name for part in flat for name in part.get("required", ())})


def _names(flat: Conjuncts) -> list[str]:
    return sorted({name for part in flat for name in part.get("properties", {})})


def _most_names(flat: Conjuncts) -> float:
    """How many properties an object can have, where some schema lists them all."""
    closed = [part for part in flat if part.get("additionalProperties") is False and not part.get("patternProperties")]
    return min((len(part.get("properties", {})) for part in closed), default=math.inf)


def _matches(pattern: str, name: str) -> bool | None:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return None


def _property(flat: Conjuncts, name: str) -> tuple[Json, ...]:
    """What `flat` demands of the property `name`."""
    return tuple(found for part in flat for found in _demands(part, name))


def _demands(part: Mapping[str, Json], name: str) -> Iterator[Json]:
    patterns = [(_matches(pattern, name), inner) for pattern, inner in part.get("patternProperties", {}).items()]
    if name in part.get("properties", {}):
        yield part["properties"][name]
    yield from (inner for matches, inner in patterns if matches)
    if name not in part.get("properties", {}) and all(matches is False for matches, _ in patterns):
        yield part.get("additionalProperties", True)


def _unnamed(flat: Conjuncts, including: str | None = None, excluding: Iterable[str] = ()) -> tuple[Json, ...]:
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


def _prefix(flat: Conjuncts) -> int:
    return max((len(part.get("prefixItems", ())) for part in flat), default=0)


def _element(flat: Conjuncts, index: int) -> tuple[Json, ...]:
    """What `flat` demands of the element at `index`."""
    prefixes = [(part.get("prefixItems", []), part) for part in flat]
    return tuple(prefix[index] if index < len(prefix) else part.get("items", True) for prefix, part in prefixes)


def _multiple(flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
    """Only whole divisors are compared: with fractions, validators differ in how they round."""
    divisor = wide["multipleOf"]
    factors = [part["multipleOf"] for part in flat if "multipleOf" in part]
    return isinstance(divisor, int) and any(isinstance(factor, int) and factor % divisor == 0 for factor in factors)


def _at_least(keyword: str) -> Callable[[_Prover, Conjuncts, Mapping[str, Json]], bool]:
    return lambda _, flat, wide: _largest(flat, keyword) >= wide[keyword]


def _at_most(keyword: str) -> Callable[[_Prover, Conjuncts, Mapping[str, Json]], bool]:
    return lambda _, flat, wide: _smallest(flat, keyword) <= wide[keyword]


def _bounded(keyword: str) -> Callable[[_Prover, Conjuncts, Mapping[str, Json]], bool]:
    def proof(_: _Prover, flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
        bound, end = wide[keyword], _low if "inimum" in keyword else _high
        sign = 1 if end is _low else -1
        value, excluded = end(flat, "integer" if {_KIND: "integer"} in flat else "fraction")
        inside = sign * (value - bound) > 0 if math.isfinite(value) else False
        return inside or (value == bound and (excluded or not keyword.startswith("exclusive")))

    return proof


_STRING, _NUMBER, _ARRAY, _OBJECT = {"string"}, {"integer", "fraction"}, {"array"}, {"object"}

_APPLIES: Mapping[str, tuple[set[str], Callable[[_Prover, Conjuncts, Mapping[str, Json]], bool]]] = {
    "minLength": (_STRING, _at_least("minLength")),
    "maxLength": (_STRING, _at_most("maxLength")),
    "pattern": (_STRING, lambda _, flat, wide: wide["pattern"] in ("", ".*")),
    "format": (_STRING, lambda _, flat, wide: False),
    "minimum": (_NUMBER, _bounded("minimum")),
    "maximum": (_NUMBER, _bounded("maximum")),
    "exclusiveMinimum": (_NUMBER, _bounded("exclusiveMinimum")),
    "exclusiveMaximum": (_NUMBER, _bounded("exclusiveMaximum")),
    "multipleOf": (_NUMBER, lambda _, flat, wide: _multiple(flat, wide)),
    "minItems": (_ARRAY, _at_least("minItems")),
    "maxItems": (_ARRAY, _at_most("maxItems")),
    "uniqueItems": (_ARRAY, lambda _, flat, wide: not wide["uniqueItems"] or _smallest(flat, "maxItems") <= 1),
    "prefixItems": (_ARRAY, _Prover.prefix_items),
    "items": (_ARRAY, _Prover.items),
    "contains": (_ARRAY, _Prover.contains),
    "minProperties": (_OBJECT, lambda _, flat, wide: _fewest(flat) >= wide["minProperties"]),
    "maxProperties": (
        _OBJECT,
        lambda _, flat, wide: min(_smallest(flat, "maxProperties"), _most_names(flat)) <= wide["maxProperties"],
    ),
    "required": (_OBJECT, lambda _, flat, wide: {*wide["required"]} <= {*_required(flat)}),
    "properties": (_OBJECT, _Prover.properties),
    "patternProperties": (_OBJECT, _Prover.pattern_properties),
    "additionalProperties": (_OBJECT, _Prover.additional_properties),
    "propertyNames": (_OBJECT, _Prover.property_names),
    "dependentRequired": (_OBJECT, _Prover.dependent_required),
    "dependentSchemas": (_OBJECT, _Prover.dependent_schemas),
}


def _fewest(flat: Conjuncts) -> float:
    return max(_largest(flat, "minProperties"), len(_required(flat)))


KNOWN = frozenset(
    {*_APPLIES, *_BESIDE_OTHERS, "type", "enum", "const", "anyOf", "oneOf", "not", "if", *_CONTEXT, "$ref"}
)
"""Every keyword that is reasoned about or safely left aside."""
