"""Containment: whether every value that some schemas accept together is accepted by another. Pure.

`contained` is a proof: it answers True only where each step is sound, and False where it knows no proof. A new step
must take the left side as large, or the right side as small, as it can be. Schemas are inlined and bare.
"""

import math
from collections.abc import Callable, Iterable, Mapping

from gemini_mcp.spec.values import Json, is_object
from gemini_mcp_spec.schema.conjuncts import (
    BESIDE_OTHERS,
    KIND,
    KINDS,
    Conjuncts,
    branches_of,
    element_of,
    fewest,
    flat_of,
    is_possible,
    is_shared,
    kinds_of,
    largest,
    lower_bound,
    matches,
    most_names,
    names_of,
    prefix_length,
    property_of,
    range_of,
    required,
    smallest,
    unnamed,
    upper_bound,
    valid,
    values_of,
)
from gemini_mcp_spec.schema.inline import RECURSIVE, canonical, schemas_in

_STEPS = 20_000
_CONTEXT = frozenset({"minContains", "maxContains", "then", "else", KIND, RECURSIVE})
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


class _Prover:
    def __init__(self) -> None:
        self.steps = _STEPS

    def contained(self, narrow: Iterable[Json], wide: Json) -> bool:
        self.steps -= 1
        if self.steps < 0:
            raise _Exhausted
        narrow = tuple(narrow)
        flat = flat_of(narrow)
        if flat is None or wide is True or wide == {}:
            return True
        if is_object(wide) and canonical(wide) in {canonical(part) for part in (*narrow, *flat)}:
            return True
        if (values := values_of(flat)) is not None:
            return all(valid(value, wide) is True for value in values)
        kinds = set(KINDS).intersection(*(kinds_of(part) for part in flat))
        return all(self.kind_contained(flat, kind, wide) for kind in sorted(kinds))

    def kind_contained(self, flat: Conjuncts, kind: str, wide: Json) -> bool:
        if kind in ("null", "boolean"):
            values = [None] if kind == "null" else [True, False]
            return all(valid(value, wide) is True for value in values if is_possible(value, flat))
        flat = (*flat, {KIND: kind})
        if (branches := branches_of(flat)) is not None:
            rest, choices = branches
            return all(self.contained((*rest, *choice), wide) for choice in choices)
        if kind == "integer" and (numbers := range_of(flat)) is not None:
            return all(valid(value, wide) is True for value in numbers if is_possible(value, flat))
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
                return kind not in kinds or proof(self, flat, wide) or is_shared(flat, keyword, value)
            case _:
                return not keyword.startswith(("unevaluated", "$")) and is_shared(flat, keyword, value)

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
                return largest(flat, "minLength") > smallest(flat, "maxLength")
            case "integer" | "fraction":
                (low, above), (high, below) = lower_bound(flat, kind), upper_bound(flat, kind)
                return low > high or (low == high and (above or below))
            case "array":
                needed = int(largest(flat, "minItems"))
                return needed > smallest(flat, "maxItems") or any(
                    self.contained(element_of(flat, index), False)
                    for index in range(min(needed, prefix_length(flat) + 1))
                )
            case "object":
                few = largest(flat, "minProperties") > min(smallest(flat, "maxProperties"), most_names(flat))
                return few or any(self.contained(property_of(flat, name), False) for name in required(flat))
            case _:
                return False

    def properties(self, flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
        return all(self.contained(property_of(flat, name), inner) for name, inner in wide["properties"].items())

    def pattern_properties(self, flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
        return all(self.pattern_property(flat, pattern, inner) for pattern, inner in wide["patternProperties"].items())

    def pattern_property(self, flat: Conjuncts, pattern: str, inner: Json) -> bool:
        named = [name for name in names_of(flat) if matches(pattern, name) is not False]
        if not all(self.contained(property_of(flat, name), inner) for name in named):
            return False
        return self.contained(unnamed(flat, including=pattern), inner)

    def additional_properties(self, flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
        inner, patterns = wide["additionalProperties"], wide.get("patternProperties", {})
        named = [name for name in names_of(flat) if name not in wide.get("properties", {})]
        free = [name for name in named if not any(matches(pattern, name) for pattern in patterns)]
        if not all(self.contained(property_of(flat, name), inner) for name in free):
            return False
        return self.contained(unnamed(flat, excluding=patterns), inner)

    def property_names(self, flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
        schema = wide["propertyNames"]
        if math.isfinite(most_names(flat)):
            return all(
                valid(name, schema) is True for name in names_of(flat) if flat_of(property_of(flat, name)) is not None
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
        longest = smallest(flat, "maxItems")
        elements = [(index, inner) for index, inner in enumerate(wide["prefixItems"]) if index < longest]
        return all(self.contained(element_of(flat, index), inner) for index, inner in elements)

    def items(self, flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
        start, longest = len(wide.get("prefixItems", ())), smallest(flat, "maxItems")
        indices = [index for index in range(start, max(start, prefix_length(flat)) + 1) if index < longest]
        return all(self.contained(element_of(flat, index), wide["items"]) for index in indices)

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


def _multiple(flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
    """Only whole divisors are compared: with fractions, validators differ in how they round."""
    divisor = wide["multipleOf"]
    factors = [part["multipleOf"] for part in flat if "multipleOf" in part]
    return isinstance(divisor, int) and any(isinstance(factor, int) and factor % divisor == 0 for factor in factors)


def _at_least(keyword: str) -> Callable[[_Prover, Conjuncts, Mapping[str, Json]], bool]:
    return lambda _, flat, wide: largest(flat, keyword) >= wide[keyword]


def _at_most(keyword: str) -> Callable[[_Prover, Conjuncts, Mapping[str, Json]], bool]:
    return lambda _, flat, wide: smallest(flat, keyword) <= wide[keyword]


def _bounded(keyword: str) -> Callable[[_Prover, Conjuncts, Mapping[str, Json]], bool]:
    def proof(_: _Prover, flat: Conjuncts, wide: Mapping[str, Json]) -> bool:
        bound, end = wide[keyword], lower_bound if "inimum" in keyword else upper_bound
        sign = 1 if end is lower_bound else -1
        value, excluded = end(flat, "integer" if {KIND: "integer"} in flat else "fraction")
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
    "uniqueItems": (_ARRAY, lambda _, flat, wide: not wide["uniqueItems"] or smallest(flat, "maxItems") <= 1),
    "prefixItems": (_ARRAY, _Prover.prefix_items),
    "items": (_ARRAY, _Prover.items),
    "contains": (_ARRAY, _Prover.contains),
    "minProperties": (_OBJECT, lambda _, flat, wide: fewest(flat) >= wide["minProperties"]),
    "maxProperties": (
        _OBJECT,
        lambda _, flat, wide: min(smallest(flat, "maxProperties"), most_names(flat)) <= wide["maxProperties"],
    ),
    "required": (_OBJECT, lambda _, flat, wide: {*wide["required"]} <= {*required(flat)}),
    "properties": (_OBJECT, _Prover.properties),
    "patternProperties": (_OBJECT, _Prover.pattern_properties),
    "additionalProperties": (_OBJECT, _Prover.additional_properties),
    "propertyNames": (_OBJECT, _Prover.property_names),
    "dependentRequired": (_OBJECT, _Prover.dependent_required),
    "dependentSchemas": (_OBJECT, _Prover.dependent_schemas),
}


KNOWN = frozenset(
    {*_APPLIES, *BESIDE_OTHERS, "type", "enum", "const", "anyOf", "oneOf", "not", "if", *_CONTEXT, "$ref"}
)
"""Every keyword that is reasoned about or safely left aside."""
