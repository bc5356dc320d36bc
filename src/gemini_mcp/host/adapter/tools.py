"""Vectors about tools: their names, their schemas, which are used, and who gets a taken name. Pure."""

from collections.abc import Sequence
from functools import reduce
from operator import getitem

from gemini_mcp.host.prompts.prompts import prompts_by_name
from gemini_mcp.host.rules import messages
from gemini_mcp.host.rules.javascript import cut_units, length
from gemini_mcp.host.rules.profiles import profiles
from gemini_mcp.host.servers import scripted
from gemini_mcp.host.servers.discovery import State, conclude
from gemini_mcp.host.tools import names, registry, schema
from gemini_mcp.host.tools.filters import is_enabled
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, items, object_of

ABSENT = "__absent__"
EXCERPT = 260
"""How much of a longer message the vectors quote."""

_EMPTY: JsonObject = {"type": "object"}


def name_normalisation(value: JsonObject, rules: Rules) -> Json:
    """`{tool, server?}` or `{raw}` to the registered name, its length, and what it reads back as."""
    if "raw" in value or not rules.name_read_back:
        name = names.normalise(value["raw"] if "raw" in value else value["tool"], rules)
        return {"name": name, "length": length(name)}
    name = names.registered_name(value["server"], value["tool"], rules)
    parsed = names.parse(name, rules)
    shown = {} if parsed is None else {"serverName": parsed[0], "toolName": parsed[1]}
    return {"name": name, "length": length(name), "parsed": shown}


def tool_filter(value: JsonObject, rules: Rules) -> Json:
    """`{toolName, includeTools?, excludeTools?}` to whether the tool is used."""
    return {"enabled": is_enabled(value["toolName"], value.get("includeTools"), value.get("excludeTools"))}


def schema_sanitisation(value: JsonObject, rules: Rules) -> Json:
    """`{inputSchema}` to what is declared to the model; `{schema}` and `{description}` to the rewriting alone."""
    if "inputSchema" in value:
        return _declared(value["inputSchema"], rules)
    if "cycleAt" in value:
        return {"terminates": True, "schema": _rewritten_cycle(value["schema"], value["cycleAt"], rules)}
    if "schema" in value:
        return {"schema": schema.parameters(value["schema"], rules)}
    member: JsonObject = {"anyOf": [{"type": "STRING"}], "default": 1}
    cyclic: JsonObject = {"type": "OBJECT", "properties": {"a": member, "self": None}}
    rewritten = _rewritten_cycle(cyclic, ["properties", "self"], rules)["properties"]["a"]
    return {"terminates": True, "properties.a.default": rewritten.get("default", "__removed__")}


def _rewritten_cycle(root: Json, path: Sequence[str], rules: Rules) -> Json:
    """The schema rewritten with itself at the path of keys; there the answer says that it is a cycle."""
    *outer, last = path
    reduce(getitem, outer, root)[last] = root
    rewritten = schema.parameters(root, rules)
    reduce(getitem, outer, rewritten)[last] = {"cycle": True}
    return rewritten


def _declared(input_schema: Json, rules: Rules) -> Json:
    tool: JsonObject = {"name": "t"} if input_schema == ABSENT else {"name": "t", "inputSchema": input_schema}
    reading = messages.read("tools/list", {"tools": [tool]}, rules)
    if not reading.issues:
        return {rules.vectors["declarationKey"]: schema.parameters(reading.value["tools"][0]["inputSchema"], rules)}
    status = conclude("s", scripted.Played().found, rules).status.value
    return {**rules.vectors["refusedTool"], "finalStatus": status}


def conflict_resolution(value: JsonObject, rules: Rules) -> Json:
    """`{builtin, servers}` to the registry, the order of declaration, and what was said."""
    played = [_played(name, config, rules) for name, config in value["servers"].items()]
    built = registry.build(value["builtin"], [offer for play in played for offer in play.found.tools], rules)
    said = zip(value["servers"], played, strict=True)
    log = [line for name, play in said for line in (*built.log.get(name, ()), *play.conclusion.messages)]
    registered = [
        {"name": tool.name, "builtin": True}
        if tool.offer is None
        else {"name": tool.name, "server": tool.offer.server, "serverTool": tool.offer.name}
        for tool in built.tools
    ]
    order = [tool.name for tool in built.tools]
    return {"registry": registered, "declarationOrder": order, **({"log": log} if log else {})}


def _played(name: str, config: Json, rules: Rules) -> scripted.Played:
    members = object_of(config) or {"tools": config}
    if members.get("connectFails"):
        return scripted.play(name, {"exit": 1}, {}, rules)
    tools = [{"name": tool, "inputSchema": dict(_EMPTY)} for tool in items(members.get("tools"))]
    return scripted.play(name, {"tools": tools}, members, rules)


def discovery(value: JsonObject, rules: Rules) -> Json:
    """`{serverSpec}` to the states, the requests and what is registered; `{}` to how each version introduces itself."""
    if "serverSpec" not in value:
        # The recording compares the introductions of all versions in one question.
        return {version: sent for one in profiles().values() for version, sent in one.introductions.items()}
    described = object_of(value["serverSpec"])
    played, status, between = scripted.Played(), None, rules.state_without_servers
    if described is not None:
        played = scripted.play("srv", described.get("spec") or {}, described.get("cfg") or {}, rules)
        status = None if played.was_skipped else played.conclusion.status.value
        between = State.IN_PROGRESS.value
    found, built = played.found, registry.build((), played.found.tools, rules)
    return {
        "discoveryState": [State.NOT_STARTED.value, between, State.COMPLETED.value],
        "statusEvents": [] if status is None else ["connecting", status],
        "finalStatus": status,
        "tools": [tool.name for tool in built.tools],
        "prompts": list(prompts_by_name(found.prompts)),
        "resources": [resource.uri for resource in found.resources],
        "clientRequests": list(played.requests),
        "messages": [cut_units(said, 0, EXCERPT) for said in (*built.log.get("srv", ()), *played.conclusion.messages)],
    }
