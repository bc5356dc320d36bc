"""What becomes of a tool's input schema on its way to the model; cyclic schemas are fine. Pure.

Only rewriting belongs here; whether a list of tools is accepted at all is in `rules/messages`.
"""

from collections.abc import Callable

from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, list_of, object_of

REMOVED = ("$schema", "additionalProperties")
"""The keywords that `sanitise` removes wherever a schema stands."""

_APPLICATORS = frozenset(["allOf", "anyOf", "else", "if", "items", "not", "oneOf", "prefixItems", "then"])
_OTHERS = ["contains", "contentSchema", "propertyNames", "additionalItems", "unevaluatedItems", "unevaluatedProperties"]
IN_SCHEMA = _APPLICATORS.union(_OTHERS)
"""The keywords whose value is a schema, or an array of schemas."""

IN_MAP = frozenset(["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"])
"""The keywords whose value has a schema for each name."""

WAIT_FOR_PREVIOUS: JsonObject = {
    "type": "boolean",
    "description": "Set to true to wait for all previously requested tools in this turn to complete before starting. "
    "Set to false (or omit) to run in parallel. "
    "Use true when this tool depends on the output of previous tools.",
}

Visit = Callable[[Json], Json]


def parameters(schema: Json, rules: Rules) -> Json:
    """The schema as the model gets it."""
    for step in rules.schema_steps:
        schema = STEPS[step](schema)
    return schema


def sanitise(schema: Json) -> Json:
    """The schema without `$schema`, `additionalProperties`, and the `default` beside an `anyOf`."""
    return _rewrite(schema, _sanitised)


def make_nullable(schema: Json) -> Json:
    """The value with every two-element `type` array that has `"null"` made one type and `nullable`."""
    return _rewrite(schema, _nullable)


def add_wait_for_previous(schema: Json) -> Json:
    """The object schema with the parameter by which the model orders its calls."""
    members = object_of(schema)
    if members is None or members.get("type") != "object":
        return schema
    properties = object_of(members.get("properties", {}))
    if properties is None:
        return schema
    # A property of that name which the server declares is overwritten, and what the model sets reaches the server.
    return {**members, "properties": {**properties, "wait_for_previous": dict(WAIT_FOR_PREVIOUS)}}


def _sanitised(node: JsonObject, visit: Visit) -> JsonObject:
    kept = {key: value for key, value in node.items() if key not in REMOVED}
    if "anyOf" in kept:
        kept.pop("default", None)
    return {key: _inside(key, value, visit) for key, value in kept.items()}


def _inside(keyword: str, value: Json, visit: Visit) -> Json:
    if keyword in IN_SCHEMA:
        schemas = list_of(value)
        return visit(value) if schemas is None else [visit(schema) for schema in schemas]
    # In a map the names are the author's: a parameter may be called `$schema`.
    named = object_of(value) if keyword in IN_MAP else None
    return value if named is None else {name: visit(schema) for name, schema in named.items()}


def _nullable(node: JsonObject, visit: Visit) -> JsonObject:
    types = list_of(node.get("type"))
    if types is not None and len(types) == 2 and "null" in types:
        other = types[1 - types.index("null")]
        if isinstance(other, str):
            node = {**node, "type": other, "nullable": True}
    # Gemini CLI goes through every object, also those in `default`, `enum` and `examples`, which are no schemas.
    return {key: _each(value, visit) for key, value in node.items()}


def _each(value: Json, visit: Visit) -> Json:
    items = list_of(value)
    return visit(value) if items is None else [_each(item, visit) for item in items]


def _rewrite(root: Json, rule: Callable[[JsonObject, Visit], JsonObject]) -> Json:
    """Apply the rule to every object, once each: a schema may hold itself, or nest deeper than Python's stack."""
    copies: dict[int, JsonObject] = {}
    waiting: list[JsonObject] = []

    def visit(value: Json) -> Json:
        node = object_of(value)
        if node is None:
            return value
        if id(node) not in copies:
            copies[id(node)] = {}
            waiting.append(node)
        return copies[id(node)]

    rewritten = visit(root)
    while waiting:
        node = waiting.pop()
        copies[id(node)].update(rule(node, visit))
    return rewritten


STEPS = {"sanitise": sanitise, "make-nullable": make_nullable, "add-wait-for-previous": add_wait_for_previous}
