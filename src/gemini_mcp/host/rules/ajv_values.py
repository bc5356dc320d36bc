"""Keywords of JSON Schema that apply no other schema to a part of the value, in the words of Ajv. Pure.

Each takes the schema and the value, and gives what follows the value's name in the complaint, or nothing.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from gemini_mcp.host.rules.ajv_formats import FORMATS
from gemini_mcp.host.rules.javascript import number_text, template
from gemini_mcp.host.rules.patterns import compiled
from gemini_mcp.spec.values import Json, JsonObject, items, list_of, object_of, table

Judgement: TypeAlias = Callable[[Mapping[str, Json], Json], str | None]


def types_of(schema: Mapping[str, Json]) -> list[str]:
    """The types that a schema allows; none where it names none."""
    given = schema.get("type")
    types = [given] if isinstance(given, str) else [str(one) for one in items(given)]
    return [*types, "null"] if types and schema.get("nullable") is True and "null" not in types else types


def is_of(kind: str, value: Json) -> bool:
    """Whether the value is of a type of JSON Schema."""
    if kind in ("number", "integer"):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and (kind == "number" or float(value).is_integer())
    kinds: dict[str, type] = {"string": str, "boolean": bool, "array": list, "object": dict}
    return value is None if kind == "null" else isinstance(value, kinds[kind])


def equal(one: Json, other: Json) -> bool:
    """Whether two values are the same to JavaScript: `true` is not 1, and 1.0 is."""
    members, inner = object_of(one), list_of(one)
    if members is not None:
        others: JsonObject | None = object_of(other)
        is_same = others is not None and members.keys() == others.keys()
        return is_same and others is not None and all(equal(value, others[key]) for key, value in members.items())
    if inner is not None:
        listed = list_of(other)
        return listed is not None and len(inner) == len(listed) and all(map(equal, inner, listed))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _limit(name: str, word: str, breaks: Callable[[float, float], bool]) -> Judgement:
    return lambda schema, value: f"must be {word} {number_text(schema[name])}" if breaks(value, schema[name]) else None


def _size(name: str, word: str) -> Judgement:
    is_most = name.startswith("max")

    def judged(schema: Mapping[str, Json], value: Json) -> str | None:
        size, limit = len(value), schema[name]
        is_wrong = size > limit if is_most else size < limit
        return f"must NOT have {'more' if is_most else 'fewer'} than {number_text(limit)} {word}" if is_wrong else None

    return judged


def _multiple_of(schema: Mapping[str, Json], value: Json) -> str | None:
    # Ajv divides doubles, so 0.3 is no multiple of 0.1 to it.
    part = value / schema["multipleOf"]
    return None if part == math.floor(part) else f"must be multiple of {number_text(schema['multipleOf'])}"


def _pattern(schema: Mapping[str, Json], value: Json) -> str | None:
    pattern = schema["pattern"]
    return f'must match pattern "{pattern}"' if compiled(pattern, is_unicode=True).search(value) is None else None


def _format(schema: Mapping[str, Json], value: Json) -> str | None:
    known = FORMATS.get(str(schema["format"]))
    is_wrong = known is not None and isinstance(value, known.kind) and not known.fits(value)
    return f'must match format "{schema["format"]}"' if is_wrong else None


def _const(schema: Mapping[str, Json], value: Json) -> str | None:
    return None if equal(value, schema["const"]) else "must be equal to constant"


def _enum(schema: Mapping[str, Json], value: Json) -> str | None:
    is_one = any(equal(value, one) for one in schema["enum"])
    return None if is_one else "must be equal to one of the allowed values"


def _unique_items(schema: Mapping[str, Json], value: Json) -> str | None:
    types = types_of(table(schema.get("items")))
    is_simple = types and "object" not in types and "array" not in types
    pair = (_met_again(value, types) if is_simple else _alike(value)) if schema["uniqueItems"] else None
    return pair and f"must NOT have duplicate items (items ## {pair[0]} and {pair[1]} are identical)"


def _alike(value: Sequence[Json]) -> tuple[int, int] | None:
    # Ajv compares from the last item backwards, and names the first pair that it meets.
    pairs = ((first, second) for second in reversed(range(len(value))) for first in reversed(range(second)))
    return next((pair for pair in pairs if equal(value[pair[0]], value[pair[1]])), None)


def _met_again(value: Sequence[Json], types: Sequence[str]) -> tuple[int, int] | None:
    # Where `items` has simple types, Ajv writes down each item of these types, backwards, as the name of a member.
    met: dict[str, int] = {}
    for index in reversed(range(len(value))):
        item = value[index]
        if not any(is_of(kind, item) for kind in types):
            continue
        name = f"{item}_" if isinstance(item, str) and len(types) > 1 else template(item)
        if name in met:
            return met[name], index
        # JavaScript takes a number for no prototype, so this name is never met again.
        if name != "__proto__":
            met[name] = index
    return None


JUDGEMENTS: Mapping[str, Judgement] = {
    "maximum": _limit("maximum", "<=", lambda value, limit: value > limit),
    "minimum": _limit("minimum", ">=", lambda value, limit: value < limit),
    "exclusiveMaximum": _limit("exclusiveMaximum", "<", lambda value, limit: value >= limit),
    "exclusiveMinimum": _limit("exclusiveMinimum", ">", lambda value, limit: value <= limit),
    "multipleOf": _multiple_of,
    "maxLength": _size("maxLength", "characters"),
    "minLength": _size("minLength", "characters"),
    "pattern": _pattern,
    "format": _format,
    "const": _const,
    "enum": _enum,
    "maxItems": _size("maxItems", "items"),
    "minItems": _size("minItems", "items"),
    "uniqueItems": _unique_items,
    "maxProperties": _size("maxProperties", "properties"),
    "minProperties": _size("minProperties", "properties"),
}
