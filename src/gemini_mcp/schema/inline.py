"""Replaces the references of a JSON Schema by what they name. Pure.

Nothing is fetched. A reference stays when it leads back into itself, out of the documents or nowhere. It is marked by
its document, so that the same text in another document is not taken for the same schema.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from urllib.parse import unquote

from gemini_mcp.report.positions import Path
from gemini_mcp.spec.values import Json, is_array, is_object, items, table

ANNOTATIONS = {
    *("$comment", "$id", "$schema", "$vocabulary", "title", "description", "default", "examples"),
    *("deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType", "contentSchema"),
}
DEFINITIONS = frozenset({"$defs", "definitions"})
RECURSIVE = "$recursive"

LARGEST = 10_000
"""How many values a schema may hold, its references followed; a larger one counts as unknown."""

_DEEPEST = 48
"""References inside references; each of them takes several levels of Python's stack."""

_ONE = {
    *("additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"),
    *("unevaluatedItems", "unevaluatedProperties"),
}
_MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED = frozenset({"dependentSchemas", "patternProperties", "properties"})


def canonical(value: Json) -> str:
    """One text for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True)


def size(schema: Json) -> int:
    """How many values a schema holds, itself included."""
    count, waiting = 0, [schema]
    while waiting:
        value = waiting.pop()
        count += 1
        waiting += [*table(value).values(), *items(value)]
    return count


def inline(schema: Json, others: Mapping[str, Json] | None = None) -> Json:
    """`schema` with its references replaced by what they name, here or in `others` by `$id`."""
    return _Inliner(schema, others or {}).followed()


def bare(schema: Json) -> Json:
    """`schema` without what asserts nothing."""
    if not is_object(schema):
        return schema
    kept = {key: value for key, value in schema.items() if key not in ANNOTATIONS | DEFINITIONS}
    return mapped(kept, bare)


def mapped(schema: Mapping[str, Json], change: Callable[[Json], Json]) -> Json:
    """`schema` with `change` applied to every schema directly inside it."""
    return {key: _changed(key, value, change) for key, value in schema.items()}


def schemas_in(schema: Mapping[str, Json]) -> list[Json]:
    """The schemas directly inside `schema`."""
    found: list[Json] = []
    mapped(schema, found.append)
    return found


def _changed(key: str, value: Json, change: Callable[[Json], Json]) -> Json:
    if key in _ONE:
        return change(value)
    if key in _MANY and is_array(value):
        return [change(inner) for inner in value]
    if key in _NAMED and is_object(value):
        return {name: change(inner) for name, inner in value.items()}
    return value


def schemas_by_path(schema: Json, path: Path = ()) -> Iterator[tuple[Path, Mapping[str, Json]]]:
    """The schema and every schema inside it, definitions included, with its path."""
    if is_object(schema):
        yield path, schema
        for key, held in schema.items():
            if key in _ONE:
                yield from schemas_by_path(held, (*path, key))
            elif key in _MANY or key in _NAMED | DEFINITIONS:
                for name, inner in table(held).items() or enumerate(items(held)):
                    yield from schemas_by_path(inner, (*path, key, name))


def pointed(reference: str, root: Json, others: Mapping[str, Json]) -> tuple[Json, Json] | None:
    """What a reference names and the document that holds it; None where it leads nowhere that may be read."""
    address, _, fragment = reference.partition("#")
    home = root if not address or (is_object(root) and root.get("$id") == address) else others.get(address)
    found = None if home is None else _below(home, unquote(fragment))
    return None if found is None else (found, home)


def written_at(schema: Json, path: Path) -> Path:
    """Where the file says what lies at `path` once references are followed; as far as it says it."""
    place: Path = ()
    value = schema
    for step in path:
        for _ in range(_DEEPEST):
            if not is_object(value) or step in value or not str(value.get("$ref")).startswith("#/"):
                break
            place = tuple(unquote(value["$ref"]).replace("~1", "/").replace("~0", "~").split("/")[1:])
            value = (pointed(value["$ref"], schema, {}) or (None, None))[0]
        members: Mapping[str | int, Json] = {**table(value), **dict(enumerate(items(value)))}
        held = members.get(step)
        if held is None:
            return place
        place, value = (*place, step), held
    return place


class _Inliner:
    """Follows references until the schema would hold too many values or nest too deep."""

    def __init__(self, root: Json, others: Mapping[str, Json]) -> None:
        self.root = root
        self.others = others
        self.left = LARGEST

    def followed(self) -> Json:
        return self._inlined(self.root, self.root, ())

    @cached_property
    def _digest(self) -> str:
        return hashlib.sha256(canonical([self.root, dict(self.others)]).encode()).hexdigest()

    def _inlined(self, schema: Json, home: Json, inside: tuple[tuple[int, str] | None, ...]) -> Json:
        self.left -= 1
        if not is_object(schema):
            return schema
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        rest = mapped(rest, lambda inner: self._inlined(inner, home, (*inside, None)))
        if "$ref" not in schema:
            return rest
        target = self._target(schema["$ref"], home, inside)
        if set(rest) <= ANNOTATIONS | DEFINITIONS:
            return {**target, **rest} if is_object(target) else target
        # Since 2019-09 keywords beside `$ref` count too.
        return {**rest, "allOf": [target, *rest.get("allOf", [])]}

    def _target(self, reference: str, home: Json, inside: tuple[tuple[int, str] | None, ...]) -> Json:
        found = pointed(reference, home, self.others)
        key = (id(found[0]), "") if found else None
        if found is None or key in inside or self.left < 0 or len(inside) > _DEEPEST:
            return {"$ref": reference, RECURSIVE: self._digest}
        return self._inlined(*found, (*inside, key))


def _below(document: Json, fragment: str) -> Json | None:
    if fragment and not fragment.startswith("/"):
        return None
    for step in fragment.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if is_object(document) and name in document:
            document = document[name]
        elif is_array(document) and name in map(str, range(len(document))):
            document = document[int(name)]
        else:
            return None
    return document
