"""The tools that a port offers."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for

from gemini_mcp.spec.families import Subject
from gemini_mcp.spec.values import Json, inside, items, table
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.tell.witness import reply, shown

CODE = -32602
REFERENCES = 10
"""References that lead to each other and are followed; beyond, they go round in a circle."""
NO_CURSOR = "no-such-page"
"""A cursor that no port has given."""


def lists(observation: Observation) -> list[list[Exchange]]:
    """Each list that was asked for, as its pages."""
    found: list[list[Exchange]] = []
    for exchange in observation.exchanges:
        cursor = exchange.params.get("cursor")
        if exchange.method == "tools/list" and cursor is None:
            found.append([exchange])
        elif exchange.method == "tools/list" and found and cursor == _next(found[-1]):
            found[-1].append(exchange)
    return found


def whole_lists(observation: Observation) -> list[list[Mapping[str, Json]]]:
    """The tools of each list that was answered and read to its last page."""
    whole = [pages for pages in lists(observation) if pages[-1].result is not None and _next(pages) is None]
    return [[table(tool) for page in pages for tool in items(inside(page.result, "tools"))] for pages in whole]


def lists_all(observation: Observation) -> bool:
    """Whether a list was read to its last page, or there was none to be had."""
    found = lists(observation)
    return bool(whole_lists(observation)) or (bool(found) and all(pages[0].result is None for pages in found))


def tools(observation: Observation) -> list[Mapping[str, Json]]:
    found = whole_lists(observation)
    return found[0] if found else []


def _next(pages: list[Exchange]) -> Json:
    return inside(pages[-1].result, "nextCursor")


def tool(observation: Observation, name: str) -> Mapping[str, Json] | None:
    return next((tool for tool in tools(observation) if tool.get("name") == name), None)


def schema_of(tool: Mapping[str, Json]) -> Mapping[str, Json]:
    return table(tool.get("inputSchema"))


def properties_of(tool: Mapping[str, Json]) -> Mapping[str, Json]:
    schema = schema_of(tool)
    return {name: _referred(declared, schema) for name, declared in table(schema.get("properties")).items()}


def _referred(declared: Json, schema: Json) -> Json:
    """What a reference within the schema stands for; anything else as it is."""
    for _ in range(REFERENCES):
        reference = inside(declared, "$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        declared = inside(
            schema, *(unquote(part).replace("~1", "/").replace("~0", "~") for part in reference[2:].split("/"))
        )
    return declared


def lists_tool(observation: Observation, subject: Subject) -> bool:
    """Whether a list was read that offers the subject's tool."""
    return lists_all(observation) and tool(observation, subject["tool"]) is not None


@check_all("tools:{tool}", judges=lambda observation, subject: lists_all(observation))
def tool_is_offered(observation: Observation, subject: Subject) -> list[str]:
    names, name = [tool.get("name") for tool in tools(observation)], subject["tool"]
    return [] if name in names else [f"The port offers the tools {shown(names)}, and should offer {name!r}."]


@check_all("tools:{tool}:{argument}", judges=lists_tool)
def property_is_declared(observation: Observation, subject: Subject) -> list[str]:
    name, key = subject["tool"], subject["argument"]
    specified = types_of(observation.spec.tools[name].properties[key])
    declared = properties_of(tool(observation, name) or {}).get(key)
    if declared is not None and types_of(declared) == specified:
        return []
    kind = " or ".join(f"`{one}`" for one in sorted(specified)) or "any type"
    return [f"The port's {name!r} declares {key!r} as {shown(declared)}, and should declare it with the type {kind}."]


def types_of(schema: Json) -> set[str]:
    """The types that a property may have; none is any."""
    found = inside(schema, "type")
    return {found} if isinstance(found, str) else set(map(str, items(found)))


def lists_required(observation: Observation, subject: Subject) -> bool:
    """Whether the subject's tool is offered with all that it should require; what it lacks is told elsewhere."""
    listed = properties_of(tool(observation, subject["tool"]) or {})
    return lists_tool(observation, subject) and listed.keys() >= set(observation.spec.tools[subject["tool"]].required)


@check_all("tools:{tool}:required", judges=lists_required)
def required_is_the_specified(observation: Observation, subject: Subject) -> list[str]:
    name = subject["tool"]
    needed = observation.spec.tools[name].required
    required = schema_of(tool(observation, name) or {}).get("required", [])
    if {str(each) for each in items(required)} == set(needed):
        return []
    return [f"The port's {name!r} requires {shown(required)}, and should require {shown(needed)}."]


@check_all("tools:removed", judges=lambda observation: bool(tools(observation)))
def nothing_removed_is_offered(observation: Observation) -> list[str]:
    spec = observation.spec
    offered = {str(tool.get("name")): properties_of(tool) for tool in tools(observation)}
    gone = [name for name in spec.former if name in offered and name not in spec.tools]
    kept = [(name, key) for name in spec.tools for key in offered.get(name, ()) if key in spec.former.get(name, ())]
    removed = [f"the property {key!r} of {name!r}" for name, key in kept if key not in spec.tools[name].properties]
    named = [*(f"the tool {name!r}" for name in gone), *removed]
    return [f"The port offers {named[0]}, which this version of the specification has no more."] if named else []


@check_all("tools:schema", judges=lambda observation: bool(tools(observation)))
def every_schema_is_valid(observation: Observation) -> list[str]:
    return [complaint for tool in tools(observation) for complaint in _schema_complaints(tool)]


@check_all("tools:unique", judges=lists_all)
def names_are_unique(observation: Observation) -> list[str]:
    names = [tool.get("name") for tool in tools(observation)]
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    return [f"The port offers {name!r} more than once." for name in twice]


@check_all("tools:order", judges=lambda observation: len(whole_lists(observation)) > 1)
def the_order_stays(observation: Observation) -> list[str]:
    first, *others = ([tool.get("name") for tool in found] for found in whole_lists(observation))
    changed = [names for names in others if names != first]
    return [f"The port listed the tools {shown(first)} and then {shown(changed[0])}."] if changed else []


@check("tools:cursor", judges=lambda exchange: exchange.params.get("cursor") == NO_CURSOR)
def unknown_cursor_is_a_wrong_parameter(exchange: Exchange) -> list[str]:
    code = (exchange.error or {}).get("code")
    asked = "a list of tools from an unknown cursor"
    return [] if code == CODE else [f"{reply(exchange, asked)}, and should answer with error -32602."]


@check("tools:unknown", judges=lambda exchange: _is_unknown(exchange))
def unknown_tool_is_no_success(exchange: Exchange) -> list[str]:
    if exchange.is_error:
        return []
    return [f"{reply(exchange, f'a call of the unknown tool {exchange.tool!r}')}, and should answer with an error."]


@check("tools:unknown:code", judges=lambda exchange: _is_unknown(exchange))
def unknown_tool_is_a_wrong_parameter(exchange: Exchange) -> list[str]:
    code = (exchange.error or {}).get("code")
    asked = f"a call of the unknown tool {exchange.tool!r}"
    return [] if code == CODE else [f"{reply(exchange, asked)}, and should answer with error -32602."]


def _is_unknown(exchange: Exchange) -> bool:
    return exchange.tool is not None and exchange.tool.startswith("no-such-")


def _schema_complaints(tool: Mapping[str, Json]) -> list[str]:
    schema = tool.get("inputSchema")
    if inside(schema, "type") != "object":
        return [f"The inputSchema of {shown(tool.get('name'))} is {shown(schema)}, and should have the type `object`."]
    try:
        validator_for(dict(schema_of(tool)), default=Draft202012Validator).check_schema(dict(schema_of(tool)))
    except SchemaError as error:
        return [f"The inputSchema of {shown(tool.get('name'))} is no JSON Schema: {error.message}."]
    return []
