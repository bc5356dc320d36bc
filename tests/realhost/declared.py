"""Made-up servers such as people write, with one thing out of place now and then: what they declare and say. Pure."""

import copy
from collections.abc import Sequence
from random import Random

from near import ODD

from gemini_mcp.spec.values import Json, JsonObject, list_of, object_of

WORDS = (
    *("read_file", "get-sum", "search.web", "search:web", "büro", "検索", "a b", "a/b", "emoji😀tool", "x" * 62),
    *("x" * 70, "x" * 45 + "end", "constructor", "toString", "__proto__", "1st", "_", "", "mcp_read", "read__file"),
    *("mcp_srv_read", "READ_FILE", "read_file ", "naïve", "a\nb", "a.b.c", "a-b-c", "tab\tname", "'q'", '"q"'),
)
_TYPES: tuple[Json, ...] = (
    *("string", "number", "integer", "boolean", "object", "array", "null", ["string", "null"], ["null", "object"]),
    *(["string", "number"], ["null"], ["string", "null", "number"], ["array", "null"], [], "STRING", "any"),
)
_PLAIN: tuple[JsonObject, ...] = (
    *({"format": "uri"}, {"format": "date-time"}, {"pattern": "^[a-z]+$"}, {"minLength": 1}, {"maximum": 10.5}),
    *({"enum": ["a", "b", None]}, {"enum": [1, 2]}, {"const": "x"}, {"default": None}, {"default": {"a": [1, None]}}),
    *({"description": "de\u0301scr"}, {"title": "T"}, {"examples": [{"type": ["string", "null"]}]}, {"nullable": True}),
    *({"readOnly": True}, {"deprecated": True}, {"x-own": {"type": ["a", "null"]}}, {"$comment": "c"}, {"$id": "i"}),
    *({"additionalProperties": False}, {"additionalProperties": {"type": ["string", "null"]}}, {"$schema": "s"}),
    *({"required": ["a"]}, {"required": []}, {"minItems": 1}, {"uniqueItems": True}, {"multipleOf": 0.1}),
    *({"contentEncoding": "base64"}, {"$anchor": "x"}, {"$ref": "#/$defs/d"}, {"$ref": "#/definitions/nope"}),
)


def odd(chance: Random, value: Json, often: float = 0.25) -> Json:
    """The value, or often so much the value with one thing in it replaced, dropped or put in."""
    if chance.random() > often:
        return value
    value = copy.deepcopy(value)
    members, items = object_of(value), list_of(value)
    if members and chance.random() < 0.8:
        key = chance.choice(list(members))
        rest = [] if chance.random() < 0.2 else [(key, odd(chance, members[key], 0.9))]
        return dict([pair for pair in members.items() if pair[0] != key] + rest)
    if items and chance.random() < 0.8:
        place = chance.randrange(len(items))
        return [*items[:place], odd(chance, items[place], 0.9), *items[place + chance.choice((0, 1)) :]]
    return copy.deepcopy(chance.choice(ODD))


def schema(chance: Random, depth: int = 0) -> JsonObject:
    """A schema with references, choices and what may be null."""
    made: JsonObject = {} if chance.random() < 0.15 else {"type": chance.choice(_TYPES)}
    for more in chance.sample(_PLAIN, chance.choice((0, 0, 1, 1, 2))):
        made |= copy.deepcopy(more)
    if depth > 2:
        return made
    if chance.random() < 0.5:
        keys = chance.sample(("a", "b", "type", "$ref", "default", "properties", "anyOf", "wait_for_previous", "é"), 2)
        made[chance.choice(("properties", "properties", "$defs", "definitions", "patternProperties"))] = {
            key: schema(chance, depth + 1) for key in keys
        }
    if chance.random() < 0.25:
        made[chance.choice(("anyOf", "oneOf", "allOf", "prefixItems"))] = [schema(chance, depth + 1) for _ in range(2)]
    if chance.random() < 0.25:
        made[chance.choice(("items", "not", "if", "then", "contains", "additionalProperties"))] = schema(
            chance, depth + 1
        )
    return made


def input_schemas(chance: Random) -> JsonObject:
    """The schema of a tool's arguments."""
    made = schema(chance)
    return {"inputSchema": odd(chance, made if chance.random() < 0.1 else {**made, "type": "object"})}


def tool(chance: Random) -> Json:
    """A tool as `tools/list` has it."""
    made: JsonObject = {"name": chance.choice(WORDS), "inputSchema": {"type": "object"}}
    more: Sequence[tuple[str, Json]] = (
        ("title", chance.choice(("T", "", "é"))),
        ("description", chance.choice(("d", "", "a\nb"))),
        ("annotations", {"title": "A", "readOnlyHint": True, "destructiveHint": False, "openWorldHint": True}),
        ("outputSchema", {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
        ("icons", [{"src": "data:x", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}]),
        ("execution", {"taskSupport": chance.choice(("optional", "required", "forbidden", "other"))}),
        ("_meta", {"a/b": 1}),
        ("inputSchema", {**schema(chance, 1), "type": "object"}),
    )
    return odd(chance, made | dict(chance.sample(more, chance.randrange(4))), 0.08)


def _prompt(chance: Random) -> Json:
    argument = {"name": "a", "title": "A", "description": "d", "required": True}
    made = {"name": chance.choice(WORDS), "title": "T", "description": "d", "arguments": [argument, {"name": "b"}]}
    kept = chance.sample(sorted(set(made) - {"name"}), chance.randrange(4))
    return odd(chance, {"name": made["name"], **{key: made[key] for key in kept}}, 0.15)


def _resource(chance: Random) -> Json:
    uri = chance.choice(("file:///a", "a:b", "", "not a uri", "é://x", "file:///{path}", "ui://app", "r:1"))
    size: Json = chance.choice((0, 5, 1.5, -1))
    more = {"title": "T", "description": "d", "mimeType": "text/plain", "size": size, "_meta": {"a": 1}}
    more["annotations"] = {"audience": ["user"], "priority": 0.5, "lastModified": "2025-01-12T15:00:58Z"}
    kept = chance.sample(sorted(more), chance.randrange(3))
    return odd(chance, {"uri": uri, "name": chance.choice(("n", "", "é")), **{key: more[key] for key in kept}}, 0.15)


def _capabilities(chance: Random) -> JsonObject:
    changes: Json = chance.choice(({}, {"listChanged": True}, {"listChanged": False}))
    kinds = ("tools", "prompts", "resources", "logging", "completions", "experimental", "tasks", "extensions", "own")
    made: JsonObject = dict.fromkeys(chance.sample(kinds, chance.randrange(5)), changes)
    return {**made, "resources": {"subscribe": True}} if chance.random() < 0.2 else made


def _introduction(chance: Random) -> Json:
    return chance.choice(
        (
            {"instructions": chance.choice(("be kind", "", None, "é"))},
            {"serverInfo": {"name": chance.choice(("é", "")), "version": "1", "title": "T", "websiteUrl": "http://x"}},
            {"serverInfo": odd(chance, {"name": "n", "version": "1", "icons": [{"src": "s"}]}, 0.7)},
            {"protocolVersion": chance.choice(("2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"))},
            {"protocolVersion": chance.choice(("2026-07-28", "", "1", "2025-11-26", None, 2025))},
            {"capabilities": odd(chance, _capabilities(chance), 0.7)},
            {"_meta": {"a": 1}},
            {"_meta": odd(chance, {"a": 1, "progressToken": 5}, 0.6)},
        )
    )


def _filters(chance: Random) -> JsonObject:
    names = (
        *WORDS[:5],
        f"{WORDS[0]}(x)",
        f"{WORDS[0]} (x)",
        "*",
        "read*",
        "srv__read_file",
        "mcp_srv_read_file",
        "(x)",
    )
    config: JsonObject = {}
    for key in chance.sample(("includeTools", "excludeTools"), chance.choice((0, 0, 1, 1, 2))):
        config[key] = odd(chance, chance.sample(names, chance.randrange(4)), 0.15)
    return {**config, "trust": True} if chance.random() < 0.1 else config


def _listed(chance: Random, kind: str) -> Json:
    make = {"tools": tool, "prompts": _prompt, "resources": _resource}[kind]
    made = [make(chance) for _ in range(chance.choice((0, 1, 1, 2, 3)))]
    return odd(chance, [*made, made[0]] if made and chance.random() < 0.2 else made, 0.05)


def servers(chance: Random) -> JsonObject:
    """A scripted server, and how it is configured."""
    kinds = [kind for kind in ("tools", "prompts", "resources") if chance.random() < 0.5]
    spec: JsonObject = {kind: _listed(chance, kind) for kind in kinds}
    if kinds and chance.random() < 0.2:
        kind = chance.choice(kinds)
        paged = {"tools": "pages", "prompts": "promptPages", "resources": "resourcePages"}[kind]
        spec[paged] = [_listed(chance, kind) for _ in range(chance.randrange(1, 4))]
    if chance.random() < 0.4:
        spec["capabilities"] = _capabilities(chance)
    if chance.random() < 0.35:
        spec["initialize"] = _introduction(chance)
    if chance.random() < 0.2:
        kind = chance.choice(("tools", "prompts", "resources"))
        message = chance.choice(("no", "", "é", "a\nb", "Method not found", "MCP error -1: x"))
        spec[f"{kind}Error"] = [chance.choice((-32601, -32603, -32600, -32000, -32001, 1, 0, 404)), message]
    return {"serverSpec": {"spec": spec, **({"cfg": config} if (config := _filters(chance)) else {})}}


def conflicts(chance: Random) -> JsonObject:
    """Servers that may have tools of one name, beside built-in ones."""
    names = chance.sample(("a", "b", "a_b", "a b", "é", "srv", "A", "long" * 10, "mcp_a", "1", "constructor"), 3)
    tools = [*WORDS[:6], "x" * 70, "x" * 66, "b_c", "c", "toString", "read_file"]
    said: JsonObject = {}
    for name in names[: chance.randrange(1, 4)]:
        offered: Json = [chance.choice(tools) for _ in range(chance.randrange(4))]
        said[name] = offered
        if chance.random() < 0.3:
            said[name] = {"tools": offered, **_filters(chance)}
        if chance.random() < 0.1:
            said[name] = {"tools": offered, "connectFails": True}
    return {"builtin": chance.sample((*tools[1:3], "mcp_a_c", "read_file"), chance.randrange(3)), "servers": said}
