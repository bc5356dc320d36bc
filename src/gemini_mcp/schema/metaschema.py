"""The JSON Schema of JSON Schemas of 2020-12, in one piece. Pure.

The published one is spread over vocabularies that refer to each other dynamically, which makes it several times slower.
"""

from functools import cache

from jsonschema_specifications import REGISTRY  # pyright: ignore[reportMissingTypeStubs]

from gemini_mcp.spec.values import Json, is_array, is_object

_DRAFT = "https://json-schema.org/draft/2020-12/"
_VOCABULARIES = ("core", "applicator", "unevaluated", "validation", "meta-data", "format-annotation", "content")


@cache
def metaschema() -> Json:
    """The vocabularies of 2020-12 merged; each reference to a schema leads to the whole."""
    parts: list[Json] = [REGISTRY.contents(f"{_DRAFT}meta/{name}") for name in _VOCABULARIES]
    properties: Json = {}
    definitions: Json = {}
    for part in parts:
        properties |= _closed(part.get("properties", {}))
        definitions |= _closed(part.get("$defs", {}))
    return {"$schema": f"{_DRAFT}schema", "type": ["object", "boolean"], "properties": properties, "$defs": definitions}


def _closed(value: Json) -> Json:
    if is_array(value):
        return [_closed(inner) for inner in value]
    if is_object(value):
        whole = value.get("$dynamicRef") == "#meta"
        return {"$ref": "#"} if whole else {key: _closed(inner) for key, inner in value.items()}
    return value
