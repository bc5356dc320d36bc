"""Tools: their names, schemas and filters, and which of two with one name is registered; pure."""

from __future__ import annotations

import re

from gemini_mcp.spec.values import Json, table
from gemini_mcp_conformance.host import strategies
from gemini_mcp_conformance.host.properties.registry import demand, holds
from gemini_mcp_conformance.host.questions import Questions
from gemini_mcp_conformance.see.witness import shown


def _name_of(host: Questions, tool: str) -> str:
    server = {"server": "srv"} if host.profile == "current" else {}
    return host.ask("name-normalisation", {"tool": tool, **server})["name"]


@holds(strategies.TOOL_NAMES, "host-name:limit", profile="documented")
@holds(strategies.TOOL_NAMES, "host-name:limit:current", profile="current")
def name_is_short(host: Questions, value: Json) -> None:
    name = _name_of(host, value)
    demand(len(name) <= 63, f"The host registers {name!r} of {len(name)} characters, and should use at most 63.")


@holds(strategies.TOOL_NAMES, "host-name:characters", profile="documented")
@holds(strategies.TOOL_NAMES, "host-name:qualified:current", profile="current")
def name_is_allowed(host: Questions, value: Json) -> None:
    name = _name_of(host, value)
    allowed = r"[a-zA-Z0-9_.-]*" if host.profile == "documented" else r"mcp_[a-zA-Z0-9_.:-]*"
    demand(re.fullmatch(allowed, name) is not None, f"The host registers {name!r}, and should match {allowed!r}.")


@holds(strategies.TOOL_NAMES, "host-name:fits", profile="documented")
def name_is_stable(host: Questions, value: Json) -> None:
    once = _name_of(host, value)
    twice = _name_of(host, once)
    demand(once == twice, f"The host makes {twice!r} of {once!r}, and should keep what it has made itself.")


@holds(strategies.GOOD_NAMES, "host-name:fits", profile="documented")
def short_name_is_kept(host: Questions, value: Json) -> None:
    name = _name_of(host, value)
    demand(name == value, f"The host makes {name!r} of {value!r}, and should keep it: it needs no change.")


def _declared(host: Questions, schema: Json) -> Json:
    key = "parameters" if host.profile == "documented" else "parametersJsonSchema"
    answer = host.ask("schema-sanitisation", {"inputSchema": schema})
    demand(key in table(answer), f"The host answers {shown(answer)}, which has no `{key}`.")
    return answer[key]


@holds(strategies.SCHEMAS, "host-schema:unchanged", profile="documented")
def sanitising_is_idempotent(host: Questions, value: Json) -> None:
    once = _declared(host, value)
    twice = _declared(host, once)
    demand(twice == once, f"The host makes {shown(twice)} of {shown(once)}, and should keep what it has made itself.")


@holds(
    strategies.SCHEMAS,
    "host-schema:dollar-schema",
    "host-schema:additional-properties",
    "host-schema:any-of-default",
    profile="documented",
)
def sanitising_removes(host: Questions, value: Json) -> None:
    for place, schema in strategies.schema_positions(_declared(host, value)):
        for keyword in strategies.REMOVED:
            demand(keyword not in schema, f"The host leaves `{keyword}` at {place!r}, and should remove it.")
        is_clean = "anyOf" not in schema or "default" not in schema
        demand(is_clean, f"The host leaves a `default` beside `anyOf` at {place!r}, and should remove it.")


@holds(
    strategies.SCHEMAS,
    "host-schema:unchanged",
    "host-schema:names",
    "host-schema:values",
    "host-schema:recursion",
    profile="documented",
)
def sanitising_changes_nothing_else(host: Questions, value: Json) -> None:
    declared, wanted = _declared(host, value), strategies.expected_schema(value)
    demand(declared == wanted, f"The host declares {shown(declared)}, and should declare {shown(wanted)}.")


@holds(strategies.SCHEMAS, "host-schema:cycles")
def sanitising_ends(host: Questions, value: Json) -> None:
    schema: Json = {"type": "object", "properties": {"a": value, "self": {}}}
    answer = host.ask("schema-sanitisation", {"schema": schema, "cycleAt": ["properties", "self"]})
    demand(
        answer.get("terminates") is True,
        "The host does not end when it sanitises a schema that contains itself, and should.",
    )


@holds(strategies.SCHEMAS, "host-schema:wait:current", profile="current")
def every_declaration_waits(host: Questions, value: Json) -> None:
    properties = _declared(host, value).get("properties", {})
    waits = properties.get("wait_for_previous", {})
    demand(
        waits.get("type") == "boolean",
        f"The host declares `wait_for_previous` as {shown(waits)}, and should declare a boolean.",
    )


@holds(strategies.FILTERS, "host-tools:include", "host-tools:exclude")
def filters_ignore_order(host: Questions, value: Json) -> None:
    tool, include, exclude = value
    answers = [
        host.ask("tool-filter", {"toolName": tool, "includeTools": one, "excludeTools": other})
        for one, other in ((include, exclude), (include[::-1], exclude[::-1]), (include * 2, exclude * 2))
    ]
    alike = answers[0] == answers[1] == answers[2]
    demand(alike, f"The host answers {shown(answers)} to equal lists in other orders, and should answer alike.")


@holds(strategies.FILTERS, "host-tools:exclude")
def exclusion_wins(host: Questions, value: Json) -> None:
    tool, include, exclude = value
    lists = {"includeTools": [*include, tool], "excludeTools": [*exclude, tool]}
    answer = host.ask("tool-filter", {"toolName": tool, **lists})
    demand(answer == {"enabled": False}, f"The host uses the excluded tool {tool!r}, and should not.")


@holds(strategies.RIVALS, "host-conflict:first", "host-conflict:prefix", profile="documented")
def first_registration_wins(host: Questions, value: Json) -> None:
    servers = {f"s{index}": [tool] for index, tool in enumerate(value)}
    answer = host.ask("conflict-resolution", {"builtin": [], "servers": servers, "order": "as listed"})
    names = [entry["name"] for entry in answer["registry"]]
    expected: list[str] = []
    for index, tool in enumerate(value):
        expected.append(tool if tool not in expected else f"s{index}__{tool}")
    demand(names == expected, f"The host registers {names}.")
