"""The tools that a port offers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce
from urllib.parse import unquote

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for

from gemini_mcp.spec.families import Subject, kebab
from gemini_mcp.spec.values import Json, inside, items, table
from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.judge.checks.protocol.rpc import invalid_params
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.see.listing import is_foreign, lists, lists_all, tool, tools, tools_on, whole_lists
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.see.timeline import token
from gemini_mcp_conformance.see.witness import reply, shown
from gemini_mcp_conformance.talk.messages import NO_CURSORS
from gemini_mcp_conformance.talk.texts import NAMES_OF_OBJECTS

REFERENCES = 10
"""References in a row that are followed; more go round in a circle."""
NAMES = 8
"""How many names of tools a complaint lists."""


def schema_of(tool: Mapping[str, Json]) -> Mapping[str, Json]:
    """The schema of a tool's arguments, with all that it takes from elsewhere in itself."""
    schema = tool.get("inputSchema")
    return _whole(schema, schema)


def properties_of(tool: Mapping[str, Json]) -> Mapping[str, Json]:
    whole, schema = schema_of(tool), tool.get("inputSchema")
    return {name: _whole(declared, schema) for name, declared in table(whole.get("properties")).items()}


def _whole(declared: Json, schema: Json, depth: int = REFERENCES) -> Mapping[str, Json]:
    """The keywords of a schema and of those that hold beside it: what `$ref` leads to, and all of `allOf`."""
    beside = (*_referred(declared, schema), *items(inside(declared, "allOf"))) if depth else ()
    return reduce(_joined, [*(_whole(part, schema, depth - 1) for part in beside), table(declared)])


def _joined(one: Mapping[str, Json], other: Mapping[str, Json]) -> Mapping[str, Json]:
    """Two schemas that both hold; of any other keyword that both have the second counts."""
    both = one.keys() & other.keys()
    properties = {name: {**table(one[name]), **table(other[name])} for name in both & {"properties"}}
    required = {name: [*items(one[name]), *items(other[name])] for name in both & {"required"}}
    return {**one, **other, **properties, **required}


def _referred(declared: Json, schema: Json) -> Sequence[Json]:
    """The schema to which a reference within the whole leads."""
    reference = inside(declared, "$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return ()
    # RFC 6901: `~1` stands for a slash and `~0` for a tilde, to be read in this order.
    keys = [unquote(part).replace("~1", "/").replace("~0", "~") for part in reference[2:].split("/")]
    return (inside(schema, *keys),)


def lists_tool(observation: Observation, subject: Subject) -> bool:
    """Whether a list was read that offers the subject's tool."""
    return lists_all(observation) and tool(observation, subject["tool"]) is not None


def shown_names(names: Sequence[str]) -> str:
    """The names for a reader, and how many there are more."""
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    return ", ".join(shown(name)[1:-1] for name in names[:NAMES]) + more


@check_all("tools:{tool}", judges=lists_all)
def tool_is_offered(observation: Observation, subject: Subject) -> Complaints:
    names, wanted = [str(tool.get("name")) for tool in tools(observation)], tuple(observation.spec.tools)
    if not names:
        yield f"The port offers no tools, and should offer {' and '.join(map(repr, wanted))}."
    if is_foreign(observation):
        yield f"The port offers {shown_names(names)}; it is not a port of this specification."
    if subject["tool"] not in names:
        yield f"The port offers {shown_names(names)}, and should offer {subject['tool']!r}."


@check_all("tools:{tool}", judges=lambda observation: bool(_extended_lists(observation)))
def tools_are_listed_whatever_else_is_asked(observation: Observation) -> Complaints:
    for each in _extended_lists(observation):
        if each.error is not None:
            yield f"{reply(each, f'tools/list with {shown(each.params)}')}, and should offer its tools."


@check_all("tools:{tool}", judges=lambda observation: bool(_broken_off(observation)))
def tool_is_on_a_page_of_each_list(observation: Observation, subject: Subject) -> Complaints:
    for pages in _broken_off(observation):
        if subject["tool"] not in [tool.get("name") for tool in tools_on(pages)]:
            refused = reply(pages[-1], f"tools/list with {shown(pages[-1].params)}")
            yield f"{refused}, and should offer the tools behind the page that named the cursor."


def _broken_off(observation: Observation) -> list[list[Exchange]]:
    """The lists of which the port refused a page that it had named."""
    return [pages for pages in lists(observation) if len(pages) > 1 and pages[-1].error is not None]


def _extended_lists(observation: Observation) -> list[Exchange]:
    """The lists that were asked for with a token for progress, and so perhaps with more."""
    return [each for each in observation.exchanges if each.method == "tools/list" and token(each) is not None]


@check_all("tools:{tool}:{argument}", judges=lists_tool)
def property_is_declared(observation: Observation, subject: Subject) -> Complaints:
    name, key = subject["tool"], subject["argument"]
    specified = types_of(observation.spec.tools[name].properties[key])
    declared = properties_of(tool(observation, name) or {}).get(key)
    if declared is None or types_of(declared) != specified:
        kind = " or ".join(f"`{one}`" for one in sorted(specified)) or "any type"
        does = f"does not declare {key!r}" if declared is None else f"declares {key!r} as {shown(declared)}"
        yield f"The port's {name!r} {does}, and should declare it with the type {kind}."


def types_of(schema: Json) -> set[str]:
    """The types that a property may have; none is any."""
    found = inside(schema, "type")
    return {found} if isinstance(found, str) else set(map(str, items(found)))


def lists_required(observation: Observation, subject: Subject) -> bool:
    """Whether the subject's tool has all properties that it should require; another check says which are missing."""
    listed = properties_of(tool(observation, subject["tool"]) or {})
    return lists_tool(observation, subject) and listed.keys() >= set(observation.spec.tools[subject["tool"]].required)


@check_all("tools:{tool}:required", judges=lists_required)
def required_is_the_specified(observation: Observation, subject: Subject) -> Complaints:
    name = subject["tool"]
    needed = observation.spec.tools[name].required
    required = schema_of(tool(observation, name) or {}).get("required", [])
    if {str(each) for each in items(required)} != set(needed):
        yield f"The port's {name!r} requires {shown(required)}, and should require {shown(needed)}."


@check_all("tools:removed", judges=lambda observation: bool(tools(observation)))
def nothing_removed_is_offered(observation: Observation) -> Complaints:
    spec = observation.spec
    offered = {str(tool.get("name")): properties_of(tool) for tool in tools(observation)}
    for name, properties in offered.items():
        own = f"tools:{kebab(name)}"
        if own in spec.former and name not in spec.tools:
            yield f"The port offers the tool {name!r}, which this version of the specification has removed."
        removed = [key for key in properties if f"{own}:{kebab(key)}" in spec.former]
        for key in sorted(removed) if name in spec.tools else ():
            if key not in spec.tools[name].properties:
                named = f"the property {key!r} of {name!r}"
                yield f"The port offers {named}, which this version of the specification has removed."


@check_all("tools:schema", judges=lambda observation: bool(tools(observation)))
def every_schema_is_valid(observation: Observation) -> Complaints:
    for offered in tools(observation):
        schema, name = offered.get("inputSchema"), shown(offered.get("name"))
        if inside(schema, "type") != "object":
            yield f"The port's {name} has the inputSchema {shown(schema)}, and should have one of the type `object`."
            continue
        fault = _fault(json.dumps(schema))
        if fault:
            yield f"The port's {name} has an inputSchema that is no JSON Schema ({fault}), and should have a valid one."


@lru_cache(64)
def _fault(schema: str) -> str:
    """What is wrong with a JSON Schema, given as text because a port lists the same one again and again."""
    found = json.loads(schema)
    try:
        # MCP: a schema without `$schema` is one of 2020-12.
        validator_for(found, default=Draft202012Validator).check_schema(found)
    except SchemaError as error:
        return error.message
    return ""


@check_all("tools:unique", judges=lists_all)
def names_are_unique(observation: Observation) -> Complaints:
    names = [tool.get("name") for tool in tools(observation)]
    for name in names:
        if names.count(name) > 1:
            yield f"The port offers {str(name)!r} {names.count(name)} times, and should offer it once."


@check_all("tools:order", judges=lambda observation: len(whole_lists(observation)) > 1)
def the_order_stays(observation: Observation) -> Complaints:
    first, *others = ([tool.get("name") for tool in found] for found in whole_lists(observation))
    for names in others:
        if names != first:
            yield f"The port listed the tools {shown(first)} and then {shown(names)}, and should keep their order."


@check("tools:cursor", judges=lambda exchange: exchange.params.get("cursor") in NO_CURSORS)
def unknown_cursor_is_a_wrong_parameter(exchange: Exchange) -> Complaints:
    return invalid_params(exchange, f"a list of tools from the unknown cursor {shown(exchange.params['cursor'])}")


def calls_unknown(exchange: Exchange) -> bool:
    is_nameless = exchange.params.get("name") == ""
    return exchange.tool.startswith("no-such-") or exchange.tool in NAMES_OF_OBJECTS or is_nameless


@check("tools:unknown", judges=calls_unknown)
def unknown_tool_is_no_success(exchange: Exchange) -> Complaints:
    if not exchange.is_error:
        yield f"{reply(exchange, f'a call of the unknown tool {exchange.tool!r}')}, and should answer with an error."


def calls_unlisted(observation: Observation) -> list[Exchange]:
    """The calls of tools that are not specified, and that the port does not list."""
    known = {*observation.spec.tools, *(str(tool.get("name")) for tool in tools(observation))}
    return [each for each in observation.calls if each.tool not in known and not calls_unknown(each)]


@check_all("tools:unknown", judges=lambda seen: bool(whole_lists(seen)) and bool(calls_unlisted(seen)))
def unlisted_tool_is_no_success(observation: Observation) -> Complaints:
    for each in calls_unlisted(observation):
        if not each.is_error:
            yield f"{reply(each, f'a call of {each.tool!r}, which it does not list,')}, and should refuse it."


@check("tools:unknown:code", judges=calls_unknown)
def unknown_tool_is_a_wrong_parameter(exchange: Exchange) -> Complaints:
    return invalid_params(exchange, f"a call of the unknown tool {exchange.tool!r}")
