"""Keywords of JSON Schema that apply no other schema to a part of the value, in the words of Ajv. Pure.

Each takes the schema and the value, and gives what follows the value's name in the complaint, or nothing.
"""

import math
import re
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import TypeAlias

from gemini_mcp.host.rules.ajv_formats import FORMATS
from gemini_mcp.host.rules.javascript import number_text
from gemini_mcp.spec.values import Json, JsonObject, list_of, object_of

Judgement: TypeAlias = Callable[[Mapping[str, Json], Json], str | None]


class Uncompilable(Exception):
    """Ajv refuses the schema."""


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern as JavaScript reads it, as far as the two languages differ in what schemas use."""
    try:
        return re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", pattern), re.ASCII)
    except re.error:
        raise Uncompilable from None


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
    return f'must match pattern "{pattern}"' if compiled(pattern).search(value) is None else None


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
    alike = [pair for pair in combinations(range(len(value)), 2) if equal(value[pair[0]], value[pair[1]])]
    if not schema["uniqueItems"] or not alike:
        return None
    # Ajv compares from the last item backwards, and names the first pair that it meets.
    first, second = max(alike, key=lambda pair: (pair[1], pair[0]))
    return f"must NOT have duplicate items (items ## {first} and {second} are identical)"


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
