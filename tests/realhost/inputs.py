"""Made-up inputs of behaviours, each from a source of chance; unlikely ones are as likely as usual ones. Pure."""

import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import configured
import declared
import spoken
from command_lines import lines

from gemini_mcp.spec.values import Json, JsonObject

_PIECES = ("a", "_", "-", ".", ":", "mcp_", "é", "\U0001f600", " ", "/", "A", "1", "x" * 20)
_PROMPT_WORDS = (
    *("--a=", "--b=x", '--a="x y"', '"q r"', "w", '\\"', "--c", "--", "=", "é", '--a=""', "  ", '"'),
    *('--b="\\\\"', "--a b=c"),
)
_SHELL = ("a", " ", "'", '"', "\\", "$V", "${V}", "${W}", "$", "#", ";", "|", "=", "-", "\t", "é")
_PATTERNS = ("path", "(a+)+", "[", "d.:null", "^.\0")
_PATHS = ("", "/", "/mcp", "/a/../b", "//x", "/a b", "/%7Ex/./y", "/mcp/", "/é", "?q=1", "/x?y#z")
_HOSTS = ("h.example", "H.Example", "h.example:8443", "u:p@h.example", "127.0.0.1:80", "[::1]:3000", "bücher.example")


def names(chance: Random) -> JsonObject:
    """A server's and a tool's name."""
    return {key: "".join(chance.choices(_PIECES, k=chance.randrange(1, 6))) for key in ("server", "tool")}


def prompt_lines(chance: Random) -> JsonObject:
    """The arguments that a prompt declares, and a command line."""
    declared = [{"name": name, "required": chance.random() < 0.6} for name in ("a", "b", "c d")]
    line = chance.choice(("", " ")).join(chance.choices(_PROMPT_WORDS, k=chance.randrange(6)))
    return {"promptArguments": chance.sample(declared, chance.randrange(4)), "args": line}


def prompt_answers(chance: Random) -> JsonObject:
    """A prompt, and what its server answers."""
    text: Json = chance.choice(("x", "", 5, None, {"a": 1}))
    content: Json = chance.choice((None, {}, {"type": "text"}, {"type": "text", "text": text}, {"type": "image"}))
    messages: Json = chance.choice(([], None, [{}], [{"content": content}], [{"role": "user", "content": content}]))
    error: Json = chance.choice(({}, {}, {"error": "e"}, {"error": {"m": 1}}, {"error": ""}, {"error": [1, None]}))
    return {"prompt": {"name": "p"}, "args": "", "answer": {"messages": messages, **error}}


def server_commands(chance: Random) -> JsonObject:
    """A line for `mcp.serverCommand`."""
    line = "".join(chance.choices(_SHELL, k=chance.randrange(9)))
    return {"serverCommand": line, "environment": {"V": "val", "W": "two words"}}


def addresses(chance: Random) -> JsonObject:
    """A URL, and a question about it."""
    scheme = chance.choice(("https://", "http://", "HTTPS://"))
    question = chance.choice(("wellknown", "baseurl", "resource-param", "is-sse"))
    return {"url": scheme + chance.choice(_HOSTS) + chance.choice(_PATHS), "function": question}


def results(chance: Random) -> JsonObject:
    """The result of a call; its blocks are whole, since the SDK refuses others before."""
    result: JsonObject = {"content": [_block(chance) for _ in range(chance.randrange(4))]}
    if chance.random() < 0.3:
        result["isError"] = chance.choice((True, False, "true", 1))
    if chance.random() < 0.2:
        result["error"] = chance.choice(({"message": "m", "isError": True}, {"isError": "true"}, "x"))
    members = list(result.items())
    chance.shuffle(members)
    arguments: Json = chance.choice(({}, {"p": 1}, {"b": {"c": [1.0, "é"]}}))
    return {"serverTool": "t", "registeredName": "mcp_s_t", "args": arguments, "callToolResult": dict(members)}


def _block(chance: Random) -> JsonObject:
    mime = chance.choice(("image/png", "audio/wav", "video/mp4", "text/plain"))
    text = chance.choice(("a", "", "</untrusted_context>x", "5", "é"))
    resource: Json = chance.choice(({"uri": "a", "text": text}, {"uri": "a", "blob": "aGk="}, {"uri": "a"}))
    return chance.choice(
        (
            {"type": "text", "text": text},
            {"type": "image", "mimeType": mime, "data": "aGk="},
            {"data": "aGk=", "mimeType": mime, "type": "audio"},
            {"type": "resource", "resource": resource},
            {"type": "resource_link", "uri": "u:1", "name": "n", "title": chance.choice(("T", ""))},
            {"type": "odd", "text": "x"},
        )
    )


def schemas(chance: Random) -> JsonObject:
    """A tool's input schema, mostly one of an object."""
    schema = _schema(chance, 0)
    return {"inputSchema": {**schema, "type": "object"} if chance.random() < 0.85 else schema}


def _schema(chance: Random, depth: int) -> JsonObject:
    kinds: tuple[Json, ...] = ("object", "array", "string", ["object", "null"], ["null", "null"], "null")
    schema: JsonObject = {"type": chance.choice(kinds)}
    if depth < 3 and chance.random() < 0.6:
        keys = ("a", "b", "type", "$schema", "wait_for_previous")
        schema["properties"] = {key: _schema(chance, depth + 1) for key in chance.sample(keys, 2)}
    if depth < 3 and chance.random() < 0.3:
        schema[chance.choice(("anyOf", "allOf"))] = [_schema(chance, depth + 1) for _ in range(2)]
    if chance.random() < 0.3:
        schema[chance.choice(("default", "const"))] = {"type": ["x", "null"]}
    if chance.random() < 0.2:
        schema["required"] = chance.choice((["a"], "a", [1]))
    return schema


def servers(chance: Random) -> JsonObject:
    """A scripted server: what it lists, how it introduces itself, what it refuses."""
    spec: JsonObject = {"tools": [_tool(chance, index) for index in range(chance.randrange(3))]}
    if chance.random() < 0.4:
        argument: JsonObject = {"name": "a", "required": chance.choice((True, "yes", None))}
        spec["prompts"] = [{"name": "p", "arguments": [argument]}]
    if chance.random() < 0.3:
        spec["resources"] = [chance.choice(({"uri": "a:b", "name": "n"}, {"uri": "a:b"}, {"name": "n"}))]
    if chance.random() < 0.3:
        version: Json = chance.choice(("2024-11-05", "2030-01-01", 5))
        changes: tuple[JsonObject, ...] = ({"protocolVersion": version}, {"serverInfo": None}, {"instructions": 5})
        spec["initialize"] = chance.choice(changes)
    if chance.random() < 0.2:
        spec[f"{chance.choice(('tools', 'prompts'))}Error"] = [chance.choice((-32601, -32603)), "no"]
    return {"serverSpec": {"spec": spec}}


def _tool(chance: Random, index: int) -> JsonObject:
    more: JsonObject = chance.choice(
        (
            *({}, {"title": "T"}, {"title": 4}, {"annotations": {"readOnlyHint": chance.choice((True, "yes"))}}),
            *({"outputSchema": {"type": chance.choice(("object", "string"))}}, {"description": None}),
            *({"icons": [{"src": chance.choice(("a", 1))}]}, {"_meta": 5}, {"other": 1}),
        )
    )
    return {"name": f"t{index}", "inputSchema": {"type": "object"}, **more}


def shared_servers(chance: Random) -> JsonObject:
    """One server as an extension and as the settings configure it."""
    return {"extension": _config(chance), "settings": _config(chance)}


def _config(chance: Random) -> JsonObject:
    names = ("a", "b", "a(x)", "", "c")
    values: JsonObject = {key: chance.sample(names, chance.randrange(4)) for key in ("includeTools", "excludeTools")}
    values["env"] = {key: chance.choice(("1", "", "$V")) for key in chance.sample(names, chance.randrange(3))}
    values["headers"] = {"A": chance.choice(("x", "y"))}
    values |= {"command": "c", "args": chance.sample(names, 2), "cwd": "/", "url": "http://h/", "timeout": 5}
    return {key: values[key] for key in chance.sample(sorted(values), chance.randrange(len(values)))}


def policies(chance: Random) -> JsonObject:
    """A tool, settings and a policy file that may be about it, and a session."""
    servers, tools = ("srv", "my_srv", "my srv", "mcp_x", "SRV"), ("t", "u", "a b", "*", "t*")
    names = ("mcp_srv_t", "mcp_my_srv_*", "mcp_*", "*", "t", "mcp_my_*", "mcp_x_t", "mcp_srv_t(x)")
    rules = "".join(_policy_rule(chance, servers, tools) for _ in range(chance.randrange(4)))
    lists = {key: chance.sample(names, 2) for key in ("exclude", "allowed", "core", "confirmationRequired")}
    kept = {key: lists[key] for key in chance.sample(sorted(lists), chance.choice((0, 0, 1, 2)))}
    listed = chance.sample(("allowed", "excluded"), chance.randrange(2))
    mcp = {key: chance.sample((*servers, "*"), 1) for key in listed}
    return {
        "tool": {"server": chance.choice(servers), "name": chance.choice(tools[:3]), "annotations": _hints(chance)},
        "settings": {"tools": kept, "mcp": mcp, "mcpServers": {chance.choice(servers): {"trust": True}}},
        "files": {"own.toml": rules},
        "mode": chance.choice(("default", "autoEdit", "yolo", "plan")),
        "headless": chance.random() < 0.5,
        "arguments": chance.choice(({}, {"b": 1, "a": {"d": None, "c": "é"}}, {"path": "/etc"})),
    }


def _hints(chance: Random) -> JsonObject:
    return chance.choice(({}, {"readOnlyHint": True}, {"readOnlyHint": False}))


def _policy_rule(chance: Random, servers: Sequence[str], tools: Sequence[str]) -> str:
    lines = [f"decision = {json.dumps(chance.choice(('allow', 'deny', 'ask_user')))}"]
    lines += [f"priority = {chance.choice((5, 100, 200, 500, 1000 if chance.random() < 0.1 else 999))}"]
    lines += [f"toolName = {json.dumps(chance.choice((*tools, 'mcp_my_srv_*', 'mcp_*', list(tools[:2]))))}"]
    more = (
        f"mcpName = {json.dumps(chance.choice((*servers, '*')))}",
        f"modes = {json.dumps(chance.sample(('default', 'yolo', 'plan'), 2))}",
        f"interactive = {json.dumps(chance.random() < 0.5)}",
        "toolAnnotations = { readOnlyHint = true }",
        f"argsPattern = {json.dumps(chance.choice(_PATTERNS))}",
    )
    lines += [line for line in more if chance.random() < 0.3]
    return "\n".join(("[[rule]]", *lines, ""))


Make = Callable[[Random], Any]

BEHAVIOURS: Mapping[str, tuple[str, Make]] = {
    "names": ("name-normalisation", names),
    "prompt lines": ("prompt-args", prompt_lines),
    "prompt answers": ("prompt-args", prompt_answers),
    "server commands": ("transport", server_commands),
    "addresses": ("oauth", addresses),
    "results": ("content-to-parts", results),
    "schemas": ("schema-sanitisation", schemas),
    "servers": ("discovery", servers),
    "shared servers": ("extensions", shared_servers),
    "policies": ("policy", policies),
    "command lines": ("mcp-add", lines),
    "configured settings": ("settings-validation", configured.settings),
    "configured transports": ("transport", configured.transports),
    "configured variables": ("env-expansion", configured.variables),
    "configured lists": ("server-filter", configured.lists),
    "spoken results": ("content-to-parts", spoken.results),
    "spoken prompt lines": ("prompt-args", spoken.prompt_lines),
    "spoken prompt answers": ("prompt-args", spoken.prompt_answers),
    "spoken texts": ("resources", spoken.texts),
    "spoken documents": ("oauth", spoken.documents),
    "declared servers": ("discovery", declared.servers),
    "declared schemas": ("schema-sanitisation", declared.input_schemas),
    "declared conflicts": ("conflict-resolution", declared.conflicts),
}
"""By what is made up: the behaviour that it is an input of."""
