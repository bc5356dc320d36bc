"""References resolved: a JSON Schema in, the same without references out. Pure.

A reference that leads back into itself stays, marked with what its document was, so that it equals only its like.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from urllib.parse import unquote

from gemini_mcp.spec.values import Json, is_array, is_object

ANNOTATIONS = {
    *("$comment", "$id", "$schema", "$vocabulary", "title", "description", "default", "examples"),
    *("deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType", "contentSchema"),
}
DEFINITIONS = frozenset({"$defs", "definitions"})
RECURSIVE = "$recursive"

_ONE = {
    *("additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"),
    *("unevaluatedItems", "unevaluatedProperties"),
}
_MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED = frozenset({"dependentSchemas", "patternProperties", "properties"})


def canonical(value: Json) -> str:
    """One text for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True)


def inline(schema: Json, others: Mapping[str, Json] | None = None) -> Json:
    """`schema` with its references replaced by what they name, here or in `others` by `$id`."""
    return _inlined(schema, schema, dict(others or {}), ())


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


def _inlined(schema: Json, root: Json, others: Mapping[str, Json], inside: tuple[tuple[int, str], ...]) -> Json:
    if not is_object(schema):
        return schema
    rest = {key: value for key, value in schema.items() if key != "$ref"}
    rest = mapped(rest, lambda inner: _inlined(inner, root, others, inside))
    if "$ref" not in schema:
        return rest
    target = _target(schema["$ref"], root, others, inside)
    if set(rest) <= ANNOTATIONS | DEFINITIONS:
        return {**target, **rest} if is_object(target) else target
    return {**rest, "allOf": [target, *rest.get("allOf", [])]}


def _target(reference: str, root: Json, others: Mapping[str, Json], inside: tuple[tuple[int, str], ...]) -> Json:
    address, _, fragment = reference.partition("#")
    home = root if not address or (is_object(root) and root.get("$id") == address) else others.get(address)
    key = (id(home), fragment)
    found = None if home is None or key in inside else _pointed(home, unquote(fragment))
    if found is None:
        digest = hashlib.sha256(canonical([root, dict(others)]).encode()).hexdigest()
        return {"$ref": reference, RECURSIVE: digest}
    return _inlined(found, home, others, (*inside, key))


def _pointed(document: Json, fragment: str) -> Json | None:
    if fragment and not fragment.startswith("/"):
        return None
    for step in fragment.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if is_object(document) and name in document:
            document = document[name]
        elif is_array(document) and name.isdigit() and int(name) < len(document):
            document = document[int(name)]
        else:
            return None
    return document
