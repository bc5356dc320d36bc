"""Checks the arguments of a call against the tool's input schema; the first fault raises `CallerError`. Pure.

Most calls need no more than missing arguments and wrong types; `jsonschema` checks every other keyword.
"""

import json
from collections.abc import Mapping

from gemini_mcp.errors import CallerError
from gemini_mcp.spec import ToolSpec
from gemini_mcp.spec.subjects import ANNOTATIONS
from gemini_mcp.spec.values import Json, type_of

KNOWN = ANNOTATIONS | {"properties", "required", "$schema"}
"""The keywords that are checked here, and those that forbid nothing."""

EXPECTED = {
    "enum": "one of {}",
    "minLength": "at least {} characters long",
    "maxLength": "at most {} characters long",
    "pattern": "text that matches {}",
    "minimum": "{} or more",
    "maximum": "{} or less",
    "multipleOf": "a multiple of {}",
    "minItems": "at least {} long",
    "maxItems": "at most {} long",
}
"""What a keyword asks of a value, in words."""


def check(tool: ToolSpec, arguments: Mapping[str, Json]) -> None:
    """Raise `CallerError` for the first argument that is missing or not what its schema says; others are ignored."""
    for name, schema in tool.properties.items():
        if name in arguments:
            _check_type(name, schema, arguments[name])
        elif name in tool.required:
            raise CallerError("argument-missing", {"argument": name, "expected": expected(schema)})
    if not _is_simple(tool.definition["inputSchema"]):
        _check_whole(tool.definition["inputSchema"], arguments)


def expected(schema: Mapping[str, Json]) -> str:
    """What a value should be, in words: `a string`."""
    return " or ".join(map(_with_article, _types(schema))) or "a value"


def _is_simple(schema: Mapping[str, Json]) -> bool:
    """Whether nothing in a tool's schema is left to `jsonschema`."""
    named = [schema, *schema.get("properties", {}).values()]
    return all(isinstance(one, dict) and one.keys() <= KNOWN for one in named)


def _check_whole(schema: Mapping[str, Json], arguments: Mapping[str, Json]) -> None:
    import jsonschema  # Importing it takes as long as the rest of a start.
    from referencing import Registry

    # A registry of its own: the library's default one fetches whatever a `$ref` names.
    validator: Json = jsonschema.Draft202012Validator(schema, registry=Registry())
    error: Json = next(validator.iter_errors(arguments), None)
    if error is None:
        return
    name = str(error.absolute_path[0]) if error.absolute_path else ", ".join(arguments)
    asked = json.dumps(error.validator_value, ensure_ascii=False)
    if len(error.absolute_path) == 1 and error.validator in EXPECTED:
        wanted = EXPECTED[error.validator].format(asked)
    else:
        wanted = f"what `{error.validator}` asks for, {asked}"
    raise CallerError("argument-value", {"argument": name, "expected": wanted})


def _check_type(name: str, schema: Mapping[str, Json], value: Json) -> None:
    types = _types(schema)
    if types and not any(_is(value, known) for known in types):
        actual = _with_article(type_of(value))
        raise CallerError("argument-type", {"argument": name, "actual": actual, "expected": expected(schema)})


def _is(value: Json, name: str) -> bool:
    """Whether a value has a type; 1.0 is an integer to JSON Schema."""
    kind = type_of(value)
    return kind == name or (name == "integer" and kind == "number" and (isinstance(value, int) or value.is_integer()))


def _types(schema: Mapping[str, Json]) -> tuple[str, ...]:
    types = schema.get("type", ())
    return (types,) if isinstance(types, str) else tuple(types)


def _with_article(name: str) -> str:
    if name == "null":
        return name
    return f"an {name}" if name[0] in "aio" else f"a {name}"
