"""Checks the arguments of a call against the tool's input schema: a tool and its arguments in, or an error. Pure.

The keywords that most schemas use are checked here, with a sentence for each; `jsonschema` checks every other.
"""

import json
import re
from collections.abc import Callable, Mapping

from gemini_mcp.errors import CallerError
from gemini_mcp.spec import ToolSpec
from gemini_mcp.spec.values import Json

TYPES: Mapping[str, Callable[[Json], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: _is_number(value) and value == int(value),
    "number": lambda value: _is_number(value),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}

BOUNDS: Mapping[str, tuple[str, Callable[[Json, Json], bool]]] = {
    "enum": ("one of {}", lambda value, bound: value in bound),
    "const": ("{}", lambda value, bound: value == bound),
    "minLength": (
        "at least {} characters long",
        lambda value, bound: not isinstance(value, str) or len(value) >= bound,
    ),
    "maxLength": ("at most {} characters long", lambda value, bound: not isinstance(value, str) or len(value) <= bound),
    "pattern": (
        "text that matches {}",
        lambda value, bound: not isinstance(value, str) or re.search(bound, value) is not None,
    ),
    "minimum": ("{} or more", lambda value, bound: not _is_number(value) or value >= bound),
    "maximum": ("{} or less", lambda value, bound: not _is_number(value) or value <= bound),
}

KNOWN = frozenset(
    {*BOUNDS, "type", "properties", "required", "title", "description", "default", "examples", "deprecated", "$schema"}
)
"""Keywords that are checked here, and those that forbid nothing."""


def check(tool: ToolSpec, arguments: Mapping[str, Json]) -> None:
    """Raise `CallerError` for the first argument that is missing or not what its schema says; others are ignored."""
    for name, schema in tool.properties.items():
        if name in arguments:
            _check_value(name, schema, arguments[name])
        elif name in tool.required:
            raise CallerError("argument-missing", {"argument": name, "expected": expected(schema)})
    if not _is_simple(tool.definition["inputSchema"]):
        _check_whole(tool.definition["inputSchema"], arguments)


def expected(schema: Mapping[str, Json]) -> str:
    """What a value should be, in words: `a string`."""
    types = _types(schema)
    return " or ".join(_with_article(name) for name in types) if types else "a value"


def _is_simple(schema: Mapping[str, Json]) -> bool:
    """Whether `check` knows every keyword of a tool's schema, so that the start need not wait for `jsonschema`."""
    named = [schema, *schema.get("properties", {}).values()]
    return all(isinstance(one, dict) and one.keys() <= KNOWN for one in named)


def _check_whole(schema: Mapping[str, Json], arguments: Mapping[str, Json]) -> None:
    import jsonschema  # Importing it takes as long as the rest of a start.

    validator: Json = jsonschema.Draft202012Validator(schema)
    error: Json = next(validator.iter_errors(arguments), None)
    if error is not None:
        name = str(error.absolute_path[0]) if error.absolute_path else ", ".join(arguments)
        wanted = f"what `{error.validator}` asks for, {json.dumps(error.validator_value, ensure_ascii=False)}"
        raise CallerError("argument-value", {"argument": name, "expected": wanted})


def _check_value(name: str, schema: Mapping[str, Json], value: Json) -> None:
    types = _types(schema)
    if types and not any(TYPES[known](value) for known in types if known in TYPES):
        raise CallerError("argument-type", {"argument": name, "actual": _kind(value), "expected": expected(schema)})
    for keyword, (words, holds) in BOUNDS.items():
        if keyword in schema and not holds(value, schema[keyword]):
            raise CallerError("argument-value", {"argument": name, "expected": words.format(repr(schema[keyword]))})


def _types(schema: Mapping[str, Json]) -> tuple[str, ...]:
    types = schema.get("type", ())
    return (types,) if isinstance(types, str) else tuple(types)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kind(value: Json) -> str:
    return next(
        _with_article(name) for name in ("null", "boolean", "number", "string", "array", "object") if TYPES[name](value)
    )


def _with_article(name: str) -> str:
    if name == "null":
        return name
    return f"an {name}" if name[0] in "aio" else f"a {name}"
