"""Finds the references of a JSON Schema that cannot be followed. Pure.

Only what tells whether a reference can be followed belongs here; `inline` follows it.
"""

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import shown
from gemini_mcp.schema.inline import pointed, schemas_by_path
from gemini_mcp.spec.values import Json, is_array, is_object

_IN_PLACE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})
"""Keywords whose schemas speak of the same value, so that a circle of them never ends."""


def faults(schema: Json, others: Mapping[str, Json]) -> Iterator[tuple[Path, str]]:
    """The path of each reference that cannot be followed, here or in `others` by `$id`, and why."""
    endless = _circle(schema, others)
    for path, inner in schemas_by_path(schema):
        if path and "$id" in inner:
            yield (*path, "$id"), "`$id` inside a schema changes what references mean, which is not followed"
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = inner.get(keyword)
            if isinstance(reference, str) and (why := _fault(keyword, reference, schema, others)):
                yield (*path, keyword), f"`{keyword}` {shown(reference)} {why}"
        if id(inner) in endless:
            yield path, "`$ref` leads back to itself before it says anything"
            return


def _fault(keyword: str, reference: str, root: Json, others: Mapping[str, Json]) -> str:
    address = reference.partition("#")[0]
    if keyword != "$ref":
        return "depends on who refers to it, which is not followed"
    if address and address not in others and not (is_object(root) and root.get("$id") == address):
        return "leads out of the specification, and nothing is fetched"
    return "" if pointed(reference, root, others) is not None else "leads nowhere"


def _circle(schema: Json, others: Mapping[str, Json]) -> frozenset[int]:
    """The schemas of a circle that a validator would run in for ever, if there is one."""
    graph: dict[int, list[int]] = {}
    for root in (schema, *others.values()):
        for _, inner in schemas_by_path(root):
            graph[id(inner)] = [id(one) for one in _same_value(inner, root, others)]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return frozenset(error.args[1])
    return frozenset()


def _same_value(schema: Mapping[str, Json], root: Json, others: Mapping[str, Json]) -> Iterator[Json]:
    if isinstance(reference := schema.get("$ref"), str) and (target := pointed(reference, root, others)):
        yield target[0]
    for keyword in _IN_PLACE & schema.keys():
        held = schema[keyword]
        yield from held if is_array(held) else held.values() if keyword == "dependentSchemas" else [held]
