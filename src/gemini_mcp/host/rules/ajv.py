"""The text of the errors that Ajv finds in a value by a JSON Schema. Pure.

Gemini CLI judges the arguments of a call with Ajv, and stops at the first fault. The MCP SDK judges structured content
with it, and goes on to the last. A schema that Ajv cannot compile judges nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, cast

from jsonschema import validators

from gemini_mcp.host.rules.ajv_values import JUDGEMENTS, Uncompilable, compiled, equal
from gemini_mcp.host.tools.schema import IN_MAP, IN_SCHEMA
from gemini_mcp.spec.values import Json, is_array, items, list_of, table

DRAFT_7 = ("http://json-schema.org/draft-07/schema", "http://json-schema.org/draft-07/schema#")
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"

_validators: Any = validators


Keyword = Callable[["_Judge", Mapping[str, Json], Json, str], Iterator[str]]


def complaint(schema: Json, value: Json, name: str, has_all: bool = False) -> str | None:
    """The errors that Ajv finds, as one text; the value goes by the name."""
    try:
        _check(schema, has_all)
        said = _Judge(schema, has_all).faults(schema, value, name)
    except (Uncompilable, RecursionError):
        return None
    return ", ".join(said) or None


def _check(schema: Json, is_unread: bool) -> None:
    """Raise Uncompilable for what Ajv does not compile; the SDK does not hold it against its meta schema."""
    draft = table(schema).get("$schema", DRAFT_7[0])
    # Gemini CLI has an Ajv for draft-07 and one for 2020-12. Both refuse to compile a `$schema` they do not know.
    if not is_unread and draft not in (*DRAFT_7, DRAFT_2020):
        raise Uncompilable
    kind = _validators.Draft202012Validator if draft == DRAFT_2020 else _validators.Draft7Validator
    if not is_unread and next(kind(kind.META_SCHEMA).iter_errors(schema), None) is not None:
        raise Uncompilable
    for inner in _schemas(schema):
        if "$ref" in inner:
            _resolved(schema, inner["$ref"])
        # Ajv's meta-schema of draft-07 asks for unique values; that of `jsonschema` does not.
        choices = items(inner.get("enum"))
        if not is_unread and draft != DRAFT_2020 and any(equal(*pair) for pair in combinations(choices, 2)):
            raise Uncompilable
        for pattern in (*([inner["pattern"]] if "pattern" in inner else ()), *table(inner.get("patternProperties"))):
            compiled(pattern)


def _schemas(schema: Json) -> Iterator[Mapping[str, Json]]:
    """The schema and every schema inside it."""
    if not isinstance(schema, dict):
        return
    members = table(cast("Json", schema))
    yield members
    for keyword, inner in members.items():
        if keyword in IN_MAP:
            yield from (found for one in table(inner).values() for found in _schemas(one))
        elif keyword in IN_SCHEMA or keyword == "additionalProperties":
            yield from (found for one in (items(inner) or (inner,)) for found in _schemas(one))


@dataclass(frozen=True)
class _Judge:
    root: Json
    has_all: bool
    is_inside: bool = False
    """Whether a keyword like `anyOf` gathers the faults; only then does Ajv go on after a wrong type."""

    def faults(self, schema: Json, value: Json, at: str) -> list[str]:
        """Every fault, or those of the first keyword that has some."""
        if isinstance(schema, bool):
            return [] if schema else [f"{at} boolean schema is false"]
        members = table(schema)
        types = _types(members)
        # Ajv leaves a single type to the group of keywords for that type, which comes after those for any type.
        is_late = len(types) == 1 and any(keyword in members for keyword in _GROUPS.get(types[0], ()))
        said = [] if is_late else _type_faults(members, types, value, at)
        if said and not self.has_all and not self.is_inside:
            return said
        for kind, keywords in _ORDER:
            used = [keyword for keyword in keywords if keyword in members]
            if not used:
                continue
            if not kind or _is(kind, value):
                said += self._first(self._by(keyword, members, value, at) for keyword in used)
            elif is_late and kind == types[0]:
                said += _type_faults(members, types, value, at)
            if said and not self.has_all:
                break
        return said

    def _by(self, keyword: str, schema: Mapping[str, Json], value: Json, at: str) -> list[str]:
        if keyword in _KEYWORDS:
            return list(_KEYWORDS[keyword](self, schema, value, at))
        said = JUDGEMENTS[keyword](schema, value)
        return [] if said is None else [f"{at} {said}"]

    def gathered(self, schema: Json, value: Json, at: str) -> list[str]:
        """The faults of a branch, for a keyword that gathers them."""
        return replace(self, is_inside=True).faults(schema, value, at)

    def holds(self, schema: Json, value: Json) -> bool:
        return not self.gathered(schema, value, "")

    def _first(self, found: Iterable[list[str]]) -> list[str]:
        """Everything that was found, or what was found first."""
        said: list[str] = []
        for one in found:
            said += one
            if said and not self.has_all:
                break
        return said

    def each(self, found: Iterable[tuple[Json, Json, str]]) -> Iterator[str]:
        """The faults of values by their schemas, or those of the first that has some."""
        yield from self._first(self.faults(*one) for one in found)

    def referred(self, reference: Json, value: Json, at: str) -> list[str]:
        """The faults by a local reference; what refers further is judged as a schema of its own."""
        meant = _resolved(self.root, reference)
        is_own = any("$ref" in inner for inner in _schemas(meant))
        # Ajv puts a schema without references in place of its `$ref`. Any other is a function, which returns early.
        return replace(self, is_inside=self.is_inside and not is_own).faults(meant, value, at)


def _resolved(root: Json, reference: Json) -> Json:
    """The schema that a local reference means; raises Uncompilable."""
    found = root
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        raise Uncompilable
    for step in reference.removeprefix("#").split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        inner: Json = items(found)[int(key)] if is_array(found) and key.isdigit() else table(found).get(key)
        if inner is None:
            raise Uncompilable
        found = inner
    return found


def _types(schema: Mapping[str, Json]) -> list[str]:
    given = schema.get("type")
    types = [given] if isinstance(given, str) else [str(one) for one in items(given)]
    return [*types, "null"] if types and schema.get("nullable") is True and "null" not in types else types


def _type_faults(schema: Mapping[str, Json], types: list[str], value: Json, at: str) -> list[str]:
    if not types or any(_is(kind, value) for kind in types):
        return []
    given = schema["type"]
    return [f"{at} must be {given if isinstance(given, str) else ','.join(types)}"]


def _is(kind: str, value: Json) -> bool:
    if kind in ("number", "integer"):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and (kind == "number" or float(value).is_integer())
    kinds: dict[str, type] = {"string": str, "boolean": bool, "array": list, "object": dict}
    return value is None if kind == "null" else isinstance(value, kinds[kind])


def _reference(judge: _Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    yield from judge.referred(schema["$ref"], value, at)


def _not(judge: _Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    if judge.holds(schema["not"], value):
        yield f"{at} must NOT be valid"


def _any_of(judge: _Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    branches = [judge.gathered(one, value, at) for one in schema["anyOf"]]
    if all(branches):
        yield from (said for branch in branches for said in branch)
        yield f"{at} must match a schema in anyOf"


def _one_of(judge: _Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
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


def _all_of(judge: _Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    yield from judge.each((one, value, at) for one in schema["allOf"])


def _if(judge: _Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    taken = "then" if judge.holds(schema["if"], value) else "else"
    said = judge.faults(schema.get(taken, True), value, at)
    yield from said
    # Else Ajv has returned from within the branch, and never gets to this sentence.
    if said and (judge.has_all or judge.is_inside):
        yield f'{at} must match "{taken}" schema'


def _required(judge: _Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    for name in schema["required"]:
        if name not in value:
            yield f"{at} must have required property '{name}'"
            if not judge.has_all:
                return


def _property_names(judge: _Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    for name in value:
        said = judge.gathered(schema["propertyNames"], name, at)
        if said:
            yield from (*said, f"{at} property name must be valid")
            if not judge.has_all:
                return


def _additional_properties(judge: _Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    patterns = [compiled(pattern) for pattern in table(schema.get("patternProperties"))]
    known = table(schema.get("properties"))
    rest = [name for name in value if name not in known and not any(pattern.search(name) for pattern in patterns)]
    inner = schema["additionalProperties"]
    if inner is False:
        yield from [f"{at} must NOT have additional properties"] * min(len(rest), len(rest) if judge.has_all else 1)
    else:
        yield from judge.each((inner, value[name], f"{at}/{_step(name)}") for name in rest)


def _dependencies(judge: _Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    for name, needed in (*_required_by(schema), *table(schema.get("dependentSchemas")).items()):
        if name not in value:
            continue
        if not is_array(needed):
            said = judge.faults(needed, value, at)
        else:
            word = "property" if len(needed) == 1 else "properties"
            is_lacking = any(one not in value for one in needed)
            said = [f"{at} must have {word} {', '.join(needed)} when property {name} is present"] if is_lacking else []
        yield from said
        if said and not judge.has_all:
            return


def _required_by(schema: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    given = {**table(schema.get("dependencies")), **table(schema.get("dependentRequired"))}
    # Ajv judges the lists of names before the schemas.
    yield from sorted(given.items(), key=lambda pair: not is_array(pair[1]))


def _properties(judge: _Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    there = ((name, inner) for name, inner in schema["properties"].items() if name in value)
    yield from judge.each((inner, value[name], f"{at}/{_step(name)}") for name, inner in there)


def _pattern_properties(judge: _Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    patterns = ((compiled(pattern), inner) for pattern, inner in schema["patternProperties"].items())
    there = ((name, inner) for pattern, inner in patterns for name in value if pattern.search(name))
    yield from judge.each((inner, value[name], f"{at}/{_step(name)}") for name, inner in there)


def _items(judge: _Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    first = list_of(schema.get("items")) or list_of(schema.get("prefixItems")) or []
    rest = schema.get("additionalItems", True) if is_array(schema.get("items")) else schema.get("items", True)
    if rest is False and len(value) > len(first):
        yield f"{at} must NOT have more than {len(first)} items"
        if not judge.has_all:
            return
        rest = True
    schemas = [first[index] if index < len(first) else rest for index in range(len(value))]
    yield from judge.each((schemas[index], item, f"{at}/{index}") for index, item in enumerate(value))


def _contains(judge: _Judge, schema: Mapping[str, Json], value: Json, at: str) -> Iterator[str]:
    if any(judge.holds(schema["contains"], item) for item in value):
        return
    if judge.has_all or judge.is_inside:
        for index, item in enumerate(value):
            yield from judge.gathered(schema["contains"], item, f"{at}/{index}")
    yield f"{at} must contain at least 1 valid item(s)"


def _step(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


_NUMBER = ("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf", "format")
_STRING = ("maxLength", "minLength", "pattern", "format")
_ANY = ("$ref", "const", "enum", "not", "anyOf", "oneOf", "allOf", "if")
_ARRAY = ("maxItems", "minItems", "uniqueItems", "prefixItems", "items", "contains")
_OBJECT = (
    *("maxProperties", "minProperties", "required", "propertyNames", "additionalProperties"),
    *("dependencies", "dependentRequired", "dependentSchemas", "properties", "patternProperties"),
)
_ORDER = (("", _ANY), ("number", _NUMBER), ("string", _STRING), ("array", _ARRAY), ("object", _OBJECT))
"""Ajv's groups of keywords. The order decides which fault is the first, and so the only one that the model is told."""

_GROUPS = {kind: keywords for kind, keywords in _ORDER if kind}


_KEYWORDS: Mapping[str, Keyword] = {
    "$ref": _reference,
    "not": _not,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "allOf": _all_of,
    "if": _if,
    "prefixItems": lambda judge, schema, value, at: iter(()) if "items" in schema else _items(judge, schema, value, at),
    "items": _items,
    "contains": _contains,
    "required": _required,
    "propertyNames": _property_names,
    "additionalProperties": _additional_properties,
    "dependencies": _dependencies,
    "dependentRequired": _dependencies,
    "dependentSchemas": _dependencies,
    "properties": _properties,
    "patternProperties": _pattern_properties,
}
