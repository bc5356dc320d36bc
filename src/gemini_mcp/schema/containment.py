"""Containment: whether every value that some schemas accept together is accepted by another. Pure.

`contained` is a proof: it answers True only where each step is sound, and False where it knows no proof. A keyword gets
a step here when the specification uses it. Other assertions are proven only where both sides make the same. A schema
with any other keyword is proven only of itself, and of what it accepts without that keyword. Schemas are inlined and
bare. A proof that takes too long is none.
"""

from collections.abc import Iterable, Mapping, Sequence

from gemini_mcp.schema.conjuncts import (
    GROUPS,
    KIND,
    KINDS,
    Conjuncts,
    branches_of,
    each,
    flat_of,
    is_shared,
    kinds_of,
    largest,
    possible,
    property_of,
    required,
    smallest,
    values_of,
)
from gemini_mcp.schema.effort import Effort
from gemini_mcp.schema.inline import canonical, mapped, schemas_in, size
from gemini_mcp.schema.patterns import is_universal
from gemini_mcp.schema.validation import is_valid, judge
from gemini_mcp.spec.values import Json, is_array, is_object

_STEPS = 20_000
_LETTERS = 200
"""How much text costs one step of effort."""

_APPLIES: Mapping[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("items", "minItems", "maxItems", "uniqueItems"),
    "object": (
        *("required", "properties", "additionalProperties", "propertyNames"),
        *("minProperties", "maxProperties", "dependentRequired", "dependentSchemas"),
    ),
}
"""The keywords that say something of one type only."""

_OF_TYPE = {keyword: name for name, keywords in _APPLIES.items() for keyword in keywords}
_BOUNDS = {keyword for keyword in _OF_TYPE if keyword.startswith(("min", "max", "exclusive"))}
_READ = {*GROUPS["if"][1:], *GROUPS["$ref"][1:], KIND}
"""Keywords that say nothing but to the one that reads them."""

_KNOWN = {*_OF_TYPE, *_READ, "type", "enum", "const", "allOf", "anyOf", "oneOf", "not", "if", "$ref"}

_FORBIDDING = frozenset(
    {"contains", "minContains", "maxContains", "prefixItems", "patternProperties"}
    | {"unevaluatedItems", "unevaluatedProperties"}
)
"""Keywords without a step here that let nothing in, so that a schema without them accepts no less."""

_CHANGES: Mapping[str, tuple[str, ...]] = {
    "prefixItems": ("items",),
    "patternProperties": ("additionalProperties",),
    "contains": ("minContains", "maxContains"),
}
"""What the keywords beside them mean is changed by these."""

_NEGATED: Mapping[str, tuple[str, ...]] = {"not": (), "oneOf": (), "if": ("then", "else")}
"""Keywords that may let in more when the schema inside them accepts less."""

_LIMITS = {"string": ("minLength", "maxLength"), "number": ("minimum", "maximum"), "array": ("minItems", "maxItems")}


def contained(narrow: Json, wide: Json, effort: Effort | None = None) -> bool:
    """Whether it is proven that `wide` accepts whatever `narrow` accepts."""
    if wide is True or wide == {}:
        return True
    effort = effort or Effort()
    if effort.is_spent or not effort.spend(size(narrow) + size(wide)):
        return False
    weak = weakened(narrow)
    # A weakened `narrow` accepts more, so a proof about it holds. `wide` cannot be weakened.
    if not (_is_known(weak) and _is_known(wide)):
        return canonical(narrow) == canonical(wide)
    try:
        return _Prover(effort).contained((weak,), wide)
    except (RecursionError, _Exhausted):
        return False


def _is_known(schema: Json) -> bool:
    """Whether all keywords have a meaning here; another one may change what those beside it mean."""
    return not is_object(schema) or (schema.keys() <= _KNOWN and all(map(_is_known, schemas_in(schema))))


def weakened(schema: Json) -> Json:
    """A schema that accepts all that `schema` accepts and has only keywords with a meaning here, if that is possible.

    Keywords that only forbid are left out, with those whose meaning they change; a schema that is negated stays whole.
    """
    if not is_object(schema) or _is_known(schema):
        return schema
    dropped = {key for keyword in _FORBIDDING & schema.keys() for key in (keyword, *_CHANGES.get(keyword, ()))}
    dropped |= {key for key in schema.keys() & _NEGATED.keys() if not all(map(_is_known, _inner(schema[key])))}
    dropped |= {key for keyword in dropped for key in _NEGATED.get(keyword, ())}
    return mapped({key: value for key, value in schema.items() if key not in dropped}, weakened)


def _inner(value: Json) -> Sequence[Json]:
    return value if is_array(value) else [value]


class _Exhausted(Exception):
    """The proof has become too long."""


class _Prover:
    def __init__(self, effort: Effort) -> None:
        self.effort = effort
        self.steps = _STEPS

    def contained(self, narrow: Iterable[Json], wide: Json) -> bool:
        narrow = tuple(narrow)
        flat = flat_of(narrow)
        if flat is None or wide is True or wide == {}:
            return True
        texts = {canonical(part) for part in (*narrow, *flat)}
        self.steps -= 1
        if self.steps < 0 or not self.effort.spend(1 + sum(map(len, texts)) // _LETTERS):
            raise _Exhausted
        if is_object(wide) and canonical(wide) in texts:
            return True
        if (values := values_of(flat)) is not None:
            accepts = judge(wide)
            return all(accepts(value) is True for value in values)
        # Kinds are proven one by one: a keyword for strings says nothing of numbers.
        kinds = set(KINDS).intersection(*(kinds_of(part) for part in flat))
        return all(self.kind_contained(flat, kind, wide) for kind in sorted(kinds))

    def kind_contained(self, flat: Conjuncts, kind: str, wide: Json) -> bool:
        if kind in ("null", "boolean"):
            # These kinds have so few values that all are tried.
            values = [None] if kind == "null" else [True, False]
            return all(is_valid(value, wide) is True for value in possible(values, flat))
        flat = (*flat, {KIND: kind})
        if (branches := branches_of(flat)) is not None:
            rest, choices = branches
            return all(self.contained((*rest, *choice), wide) for choice in choices)
        if is_object(wide) and all(self.asserts(flat, kind, wide, keyword) for keyword in wide):
            return True
        # Nothing lies in everything: an empty `flat` needs no keyword of `wide`.
        return self.is_empty(flat, kind)

    def asserts(self, flat: Conjuncts, kind: str, wide: Mapping[str, Json], keyword: str) -> bool:
        """Whether everything in `flat` satisfies one keyword of `wide`."""
        value = wide[keyword]
        if keyword in _READ or _OF_TYPE.get(keyword, _type(kind)) != _type(kind):
            return True
        match keyword:
            case "type":
                return kind in kinds_of({"type": value})
            case "allOf":
                return all(self.contained(flat, part) for part in value)
            case "anyOf":
                return any(self.contained(flat, part) for part in value)
            case "oneOf":
                return any(self.is_only(flat, index, value) for index in range(len(value)))
            # Nothing satisfies both, which is what `not` demands.
            case "not":
                return self.contained((*flat, value), False)
            case "if":
                return self.contained((*flat, value), wide.get("then", True)) and self.contained(
                    (*flat, {"not": value}), wide.get("else", True)
                )
            case "properties":
                return all(self.contained(property_of(flat, name), inner) for name, inner in value.items())
            case "additionalProperties":
                named = {name for part in flat for name in part.get("properties", {})} - {*wide.get("properties", {})}
                demands = [each(flat, keyword), *(property_of(flat, name) for name in sorted(named))]
                return is_shared(flat, wide, keyword) or all(self.contained(demand, value) for demand in demands)
            case "items":
                return is_shared(flat, wide, keyword) or self.contained(each(flat, keyword), value)
            case "required":
                return {*value} <= {*required(flat)}
            case _ if keyword in _BOUNDS:
                return _is_bounded(flat, keyword, value)
            case "multipleOf" if value == 1 and kind == "integer":
                return True
            case "pattern" if is_universal(value):
                return True
            case _:
                # Of a reference that was not followed, the same text may mean another schema.
                return keyword != "$ref" and is_shared(flat, wide, keyword)

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
        if kind == "object":
            return any(self.contained(property_of(flat, name), False) for name in required(flat))
        least, most = _LIMITS[_type(kind)]
        return largest(flat, least) > smallest(flat, most)


def _type(kind: str) -> str:
    return "number" if kind in ("integer", "fraction") else kind


def _is_bounded(flat: Conjuncts, keyword: str, value: float) -> bool:
    """Whether the bounds in `flat` are at least as tight as this one."""
    match keyword:
        case "minLength" | "minItems":
            return largest(flat, keyword) >= value
        case "minProperties":
            return max(largest(flat, keyword), len(required(flat))) >= value
        case "minimum":
            return max(largest(flat, keyword), largest(flat, "exclusiveMinimum")) >= value
        case "exclusiveMinimum":
            return largest(flat, keyword) >= value or largest(flat, "minimum") > value
        case "maxLength" | "maxItems" | "maxProperties":
            return smallest(flat, keyword) <= value
        case "maximum":
            return min(smallest(flat, keyword), smallest(flat, "exclusiveMaximum")) <= value
        case "exclusiveMaximum":
            return smallest(flat, keyword) <= value or smallest(flat, "maximum") < value
        case _:
            return False
