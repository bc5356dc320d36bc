"""Keywords of JSON Schema that apply another schema, or judge the members of an object, in the words of Ajv. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias

from gemini_mcp.host.rules.javascript import number_text
from gemini_mcp.host.rules.patterns import compiled
from gemini_mcp.spec.values import Json, is_array, table


class Judge(Protocol):
    """What judges a value by a whole schema."""

    @property
    def has_all(self) -> bool: ...
    @property
    def is_2020(self) -> bool: ...
    @property
    def is_inside(self) -> bool: ...

    def faults(self, schema: Json, value: Json, at: str) -> list[str]: ...
    def gathered(self, schema: Json, value: Json, at: str) -> list[str]: ...
    def holds(self, schema: Json, value: Json) -> bool: ...
    def each(self, found: Iterable[tuple[Json, Json, str]]) -> Iterator[str]: ...
    def referred(self, reference: Json, value: Json, at: str) -> list[str]: ...


Keyword: TypeAlias = Callable[[Judge, Mapping[str, Json], Json, str], Iterator[str]]


def _reference(judge: Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    yield from judge.referred(schema["$ref"], value, at)


def _not(judge: Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    if judge.holds(schema["not"], value):
        yield f"{at} must NOT be valid"


def _any_of(judge: Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    branches = [judge.gathered(one, value, at) for one in schema["anyOf"]]
    if all(branches):
        yield from (said for branch in branches for said in branch)
        yield f"{at} must match a schema in anyOf"


def _one_of(judge: Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    said: list[str] = []
    fitting = 0
    for one in schema["oneOf"]:
        branch = judge.gathered(one, value, at)
        said += branch
        fitting += not branch
        if fitting > 1:
            break
    if fitting != 1:
        yield from (*said, f"{at} must match exactly one schema in oneOf")


def _all_of(judge: Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    yield from judge.each((one, value, at) for one in schema["allOf"])


def _if(judge: Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    taken = "then" if judge.holds(schema["if"], value) else "else"
    said = judge.faults(schema.get(taken, True), value, at)
    yield from said
    # Else Ajv has returned from within the branch, and never gets to this sentence.
    if said and (judge.has_all or judge.is_inside):
        yield f'{at} must match "{taken}" schema'


def _required(judge: Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    for name in schema["required"]:
        if name not in value:
            yield f"{at} must have required property '{name}'"
            if not judge.has_all:
                return


def _property_names(judge: Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    for name in value:
        said = judge.gathered(schema["propertyNames"], name, at)
        if said:
            yield from (*said, f"{at} property name must be valid")
            if not judge.has_all:
                return


def _additional_properties(judge: Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    patterns = [compiled(pattern, is_unicode=True) for pattern in table(schema.get("patternProperties"))]
    known = table(schema.get("properties"))
    rest = [name for name in value if name not in known and not any(pattern.search(name) for pattern in patterns)]
    inner = schema["additionalProperties"]
    if inner is False:
        yield from [f"{at} must NOT have additional properties"] * min(len(rest), len(rest) if judge.has_all else 1)
    else:
        yield from judge.each((inner, value[name], f"{at}/{_step(name)}") for name in rest)


def _dependencies(keyword: str) -> Keyword:
    def judged(judge: Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
        # Ajv judges the lists of names before the schemas.
        for name, needed in sorted(schema[keyword].items(), key=lambda pair: not is_array(pair[1])):
            if name not in value:
                continue
            said = _lacking(name, needed, value, at) if is_array(needed) else judge.faults(needed, value, at)
            yield from said if judge.has_all or not is_array(needed) else said[:1]
            if said and not judge.has_all:
                return

    return judged


def _lacking(name: str, needed: Sequence[str], value: Json, at: str) -> list[str]:
    """The same sentence for each name that is lacking."""
    word = "property" if len(needed) == 1 else "properties"
    said = f"{at} must have {word} {', '.join(needed)} when property {name} is present"
    return [said for one in needed if one not in value]


def _properties(judge: Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    there = ((name, inner) for name, inner in schema["properties"].items() if name in value)
    yield from judge.each((inner, value[name], f"{at}/{_step(name)}") for name, inner in there)


def _pattern_properties(judge: Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    patterns = ((compiled(pattern, is_unicode=True), inner) for pattern, inner in schema["patternProperties"].items())
    there = ((name, inner) for pattern, inner in patterns for name in value if pattern.search(name))
    yield from judge.each((inner, value[name], f"{at}/{_step(name)}") for name, inner in there)


def _additional_items(judge: Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    if is_array(schema.get("items")):
        yield from _behind(judge, schema["additionalItems"], len(schema["items"]), value, at)


def _prefix_items(judge: Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    pairs = zip(schema["prefixItems"], value, strict=False)
    yield from judge.each((inner, item, f"{at}/{index}") for index, (inner, item) in enumerate(pairs))


def _items(judge: Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    if is_array(schema["items"]):
        yield from _prefix_items(judge, {"prefixItems": schema["items"]}, value, at)
    elif judge.is_2020 and "prefixItems" in schema:
        yield from _behind(judge, schema["items"], len(schema["prefixItems"]), value, at)
    else:
        yield from judge.each((schema["items"], item, f"{at}/{index}") for index, item in enumerate(value))


def _behind(judge: Judge, inner: Json, count: int, value: Json, at: str) -> Iterator[str]:
    """The faults of the items behind the first few."""
    if inner is not False:
        yield from judge.each((inner, value[index], f"{at}/{index}") for index in range(count, len(value)))
    elif len(value) > count:
        yield f"{at} must NOT have more than {count} items"


def _contains(judge: Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    least, most = (schema.get("minContains", 1), schema.get("maxContains")) if judge.is_2020 else (1, None)
    said: list[str] = []
    fitting = 0
    # Ajv stops counting as soon as it knows, and tells the faults that it has met by then.
    for index, item in enumerate(value):
        if fitting >= least if most is None else fitting > most:
            break
        branch = judge.gathered(schema["contains"], item, f"{at}/{index}")
        said += branch
        fitting += not branch
    if least <= fitting and (most is None or fitting <= most):
        return
    if judge.has_all or judge.is_inside:
        yield from said
    more = "" if most is None else f" and no more than {number_text(most)}"
    yield f"{at} must contain at least {number_text(least)}{more} valid item(s)"


def _step(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


_NUMBER = ("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf", "format")
_STRING = ("maxLength", "minLength", "pattern", "format")
_ANY = ("$ref", "const", "enum", "not", "anyOf", "oneOf", "allOf", "if")
_COUNTS = ("minContains", "maxContains")
_ARRAY = ("maxItems", "minItems", "additionalItems", "prefixItems", "items", "contains", *_COUNTS, "uniqueItems")
_OBJECT = (
    *("maxProperties", "minProperties", "required", "propertyNames", "additionalProperties"),
    *("dependencies", "properties", "patternProperties", "dependentRequired", "dependentSchemas"),
)
ORDER = (("", _ANY), ("number", _NUMBER), ("string", _STRING), ("array", _ARRAY), ("object", _OBJECT))
"""Ajv's groups of keywords. The order decides which fault is the first, and so the only one that the model is told."""

UNKNOWN: Mapping[bool, frozenset[str]] = {
    False: frozenset([*_COUNTS, "prefixItems", "dependentRequired", "dependentSchemas"]),
    True: frozenset(["additionalItems"]),
}
"""The keywords that Ajv does not know: for draft-07, and for 2020-12."""

GROUPS = {kind: keywords for kind, keywords in ORDER if kind}


KEYWORDS: Mapping[str, Keyword] = {
    "$ref": _reference,
    "not": _not,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "allOf": _all_of,
    "if": _if,
    "additionalItems": _additional_items,
    "prefixItems": _prefix_items,
    "items": _items,
    "contains": _contains,
    # These change `contains`. That they are there decides when the type is judged.
    **dict.fromkeys(_COUNTS, lambda _judge, _schema, _value, _at: iter(())),
    "required": _required,
    "propertyNames": _property_names,
    "additionalProperties": _additional_properties,
    "dependencies": _dependencies("dependencies"),
    "dependentRequired": _dependencies("dependentRequired"),
    "dependentSchemas": _dependencies("dependentSchemas"),
    "properties": _properties,
    "patternProperties": _pattern_properties,
}
