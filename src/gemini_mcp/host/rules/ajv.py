"""The text of the errors that Ajv finds in a value by a JSON Schema. Pure.

Gemini CLI judges the arguments of a call with Ajv, and stops at the first fault. The MCP SDK judges structured content
with it, and goes on to the last. A schema that Ajv cannot compile judges nothing.

Of 2020-12, `$dynamicRef`, `unevaluatedItems` and `unevaluatedProperties` are not judged.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, cast

from jsonschema import validators

from gemini_mcp.host.rules.ajv_keywords import GROUPS, KEYWORDS, ORDER, UNKNOWN
from gemini_mcp.host.rules.ajv_values import JUDGEMENTS, equal, is_of, types_of
from gemini_mcp.host.rules.patterns import Uncompilable, compiled
from gemini_mcp.host.tools.schema import IN_MAP, IN_SCHEMA
from gemini_mcp.spec.values import Json, is_array, items, table

DRAFT_7 = ("http://json-schema.org/draft-07/schema", "http://json-schema.org/draft-07/schema#")
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"

_validators: Any = validators


def complaint(schema: Json, value: Json, name: str, has_all: bool = False) -> str | None:
    """The errors that Ajv finds, as one text; the value goes by the name."""
    try:
        # The SDK has Ajv for draft-07 alone, and holds no schema against its meta-schema.
        is_2020 = not has_all and table(schema).get("$schema") == DRAFT_2020
        if not has_all:
            _check_whole(schema, is_2020)
        for inner in _applied(schema, is_2020):
            _check(inner)
        said = _Judge(schema, has_all, is_2020).faults(schema, value, name)
    except (Uncompilable, RecursionError):
        return None
    return ", ".join(said) or None


def _check_whole(schema: Json, is_2020: bool) -> None:
    """Raise Uncompilable for what the meta-schema refuses."""
    # Gemini CLI has an Ajv for draft-07 and one for 2020-12. Both refuse to compile a `$schema` they do not know.
    if not is_2020 and table(schema).get("$schema", DRAFT_7[0]) not in DRAFT_7:
        raise Uncompilable
    kind = _validators.Draft202012Validator if is_2020 else _validators.Draft7Validator
    if next(kind(kind.META_SCHEMA).iter_errors(schema), None) is not None:
        raise Uncompilable
    # Ajv's meta-schema of draft-07 asks for unique values; that of `jsonschema` does not.
    enums = () if is_2020 else (items(inner.get("enum")) for inner in _schemas(schema))
    if any(equal(*pair) for enum in enums for pair in combinations(enum, 2)):
        raise Uncompilable


def _check(schema: Mapping[str, Json]) -> None:
    """Raise Uncompilable for what the code of a keyword refuses."""
    if schema.get("enum") == [] or _misuses_nullable(schema):
        raise Uncompilable
    for pattern in (*([schema["pattern"]] if "pattern" in schema else ()), *table(schema.get("patternProperties"))):
        compiled(pattern, is_unicode=True)


def _misuses_nullable(schema: Mapping[str, Json]) -> bool:
    """Whether `nullable` is no boolean, stands without `type`, or denies the null that `type` allows."""
    given, types = schema.get("nullable", True), schema.get("type")
    has_null = "null" in (items(types) or (types,))
    return not isinstance(given, bool) or ("nullable" in schema and not types) or (has_null and not given)


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


def _applied(root: Json, is_2020: bool) -> Iterator[Mapping[str, Json]]:
    """The schemas that Ajv compiles: it never looks into definitions that nothing refers to."""
    waiting, met = [root], set[int]()
    while waiting:
        schema = waiting.pop()
        at = id(schema)
        if isinstance(schema, dict) and at not in met:
            met.add(at)
            members = table(cast("Json", schema))
            yield members
            waiting += [found for keyword in members for found in _applied_by(keyword, members, root, is_2020)]


def _applied_by(keyword: str, schema: Mapping[str, Json], root: Json, is_2020: bool) -> Sequence[Json]:
    inner = schema[keyword]
    if keyword == "$ref":
        return (_resolved(root, inner),)
    if keyword in ("$defs", "definitions", *UNKNOWN[is_2020]) or not _does_work(keyword, schema, is_2020):
        return ()
    if keyword in IN_MAP:
        return tuple(table(inner).values())
    return items(inner) or (inner,) if keyword in IN_SCHEMA or keyword == "additionalProperties" else ()


def _does_work(keyword: str, schema: Mapping[str, Json], is_2020: bool) -> bool:
    if keyword == "anyOf" and not is_2020:
        return not any(_holds_always(one) for one in items(schema["anyOf"]))
    if keyword in ("if", "then", "else"):
        return "if" in schema and not all(_holds_always(schema.get(one, True)) for one in ("then", "else"))
    return keyword != "additionalItems" or is_array(schema.get("items"))


def _holds_always(schema: Json) -> bool:
    return schema is True or schema == {}


@dataclass(frozen=True)
class _Judge:
    root: Json
    has_all: bool
    is_2020: bool
    is_inside: bool = False
    """Whether a keyword like `anyOf` gathers the faults; only then does Ajv go on after a wrong type."""

    def faults(self, schema: Json, value: Json, at: str) -> list[str]:
        """Every fault, or those of the first keyword that has some."""
        if isinstance(schema, bool):
            return [] if schema else [f"{at} boolean schema is false"]
        members = table(schema)
        types = types_of(members)
        # Ajv leaves a single type to the group of keywords for that type, which comes after those for any type.
        known = [keyword for keyword in members if keyword not in UNKNOWN[self.is_2020]]
        is_late = len(types) == 1 and any(keyword in known for keyword in GROUPS.get(types[0], ()))
        said = [] if is_late else _type_faults(members, types, value, at)
        if said and not self.has_all and not self.is_inside:
            return said
        for kind, keywords in ORDER:
            used = [keyword for keyword in keywords if keyword in known]
            # `type` belongs to the keywords for any type, so that Ajv looks for faults behind them in any case.
            if kind and not used:
                continue
            if not kind or is_of(kind, value):
                said += self._first(self._by(keyword, members, value, at) for keyword in used)
            elif is_late and kind == types[0]:
                said += _type_faults(members, types, value, at)
            if said and not self.has_all:
                break
        return said

    def _by(self, keyword: str, schema: Mapping[str, Json], value: Json, at: str) -> list[str]:
        if keyword in KEYWORDS:
            return list(KEYWORDS[keyword](self, schema, value, at))
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


def _type_faults(schema: Mapping[str, Json], types: list[str], value: Json, at: str) -> list[str]:
    if not types or any(is_of(kind, value) for kind in types):
        return []
    given = schema["type"]
    return [f"{at} must be {given if isinstance(given, str) else ','.join(types)}"]
