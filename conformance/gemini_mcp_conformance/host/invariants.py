"""Invariants of a host: an `ask`, a profile and an input in, nothing out, or Broken with a sentence; pure.

An invariant holds for every input, whatever the vectors happen to hold; the table of them is in `properties`.
"""

import json
import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from gemini_mcp_conformance.host import strategies
from gemini_mcp_conformance.host.strategies import REMOVED
from gemini_mcp_conformance.host.values import Json, JsonObject, object_of

Ask = Callable[[str, Json], Json]


class Broken(Exception):
    """An invariant does not hold; the message says what the host did."""


def _demand(condition: bool, message: str) -> None:
    if not condition:
        raise Broken(message)


def _name_of(ask: Ask, profile: str, tool: str, server: str = "srv") -> str:
    return ask("name-normalisation", {"tool": tool, "server": server} if profile == "current" else {"tool": tool})[
        "name"
    ]


def name_is_short(ask: Ask, profile: str, value: Json) -> None:
    name = _name_of(ask, profile, value)
    _demand(len(name) <= 63, f"the host registers {name!r}, which is {len(name)} characters long")


def name_is_allowed(ask: Ask, profile: str, value: Json) -> None:
    name = _name_of(ask, profile, value)
    allowed = r"[a-zA-Z0-9_.-]*" if profile == "documented" else r"mcp_[a-zA-Z0-9_.:-]*"
    _demand(re.fullmatch(allowed, name) is not None, f"the host registers {name!r}, which the API refuses")


def name_is_stable(ask: Ask, profile: str, value: Json) -> None:
    once = _name_of(ask, profile, value)
    twice = _name_of(ask, profile, once)
    _demand(once == twice, f"the host makes {once!r} of the name and {twice!r} of that")


def short_name_is_kept(ask: Ask, profile: str, value: Json) -> None:
    name = _name_of(ask, profile, value)
    _demand(name == value, f"the host makes {name!r} of {value!r}, which needs no change")


def _declared(ask: Ask, profile: str, schema: Json) -> Json:
    key = "parameters" if profile == "documented" else "parametersJsonSchema"
    answer = object_of(ask("schema-sanitisation", {"inputSchema": schema})) or {}
    _demand(key in answer, f"the host answers {json.dumps(answer)[:200]}")
    return answer[key]


def sanitising_is_idempotent(ask: Ask, profile: str, value: Json) -> None:
    once = _declared(ask, profile, value)
    _demand(_declared(ask, profile, once) == once, "sanitising a second time changes the schema again")


def sanitising_removes(ask: Ask, profile: str, value: Json) -> None:
    for place, schema in strategies.schema_positions(_declared(ask, profile, value)):
        for keyword in REMOVED:
            _demand(keyword not in schema, f"`{keyword}` is still there at {place!r}")
        _demand(not ("anyOf" in schema and "default" in schema), f"a `default` beside `anyOf` is left at {place!r}")


def sanitising_changes_nothing_else(ask: Ask, profile: str, value: Json) -> None:
    declared = _declared(ask, profile, value)
    _demand(declared == strategies.expected_schema(value), "something else of the schema changed")


def sanitising_ends(ask: Ask, profile: str, value: Json) -> None:
    schema: Json = {"type": "object", "properties": {"a": value, "self": {}}}
    answer = ask("schema-sanitisation", {"schema": schema, "cycleAt": ["properties", "self"]})
    _demand(answer.get("terminates") is True, "sanitising a schema that contains itself does not end")


def every_declaration_waits(ask: Ask, profile: str, value: Json) -> None:
    properties = _declared(ask, profile, value).get("properties", {})
    waits = properties.get("wait_for_previous", {})
    _demand(waits.get("type") == "boolean", "a declared tool lacks the boolean `wait_for_previous`")


def filters_ignore_order(ask: Ask, profile: str, value: Json) -> None:
    tool, include, exclude = value
    answers = [
        ask("tool-filter", {"toolName": tool, "includeTools": one, "excludeTools": other})
        for one, other in ((include, exclude), (include[::-1], exclude[::-1]), (include * 2, exclude * 2))
    ]
    _demand(answers[0] == answers[1] == answers[2], "the order of the lists changes which tools are used")


def exclusion_wins(ask: Ask, profile: str, value: Json) -> None:
    tool, include, exclude = value
    answer = ask("tool-filter", {"toolName": tool, "includeTools": [*include, tool], "excludeTools": [*exclude, tool]})
    _demand(answer == {"enabled": False}, f"the excluded tool {tool!r} is used")


def servers_are_split(ask: Ask, profile: str, value: Json) -> None:
    servers, allowed, excluded = value
    settings_ = {"mcp": {"allowed": allowed, "excluded": excluded}}
    answer = ask("server-filter", {"servers": servers, "settings": settings_})
    used = answer["used"]
    _demand(used == [name for name in servers if name in used], "the used servers are not in configuration order")
    _demand(not set(used) & set(excluded), "an excluded server is used")
    _demand(not allowed or set(used) <= set(allowed), "a server is used that is not allowed")


def plain_text_is_not_expanded(ask: Ask, profile: str, value: Json) -> None:
    answer = ask("env-expansion", {"arg": value, "environment": {"A": "x", value[:1] or "B": "y"}})
    _demand(answer == {"arg": value}, f"the host makes {answer} of a text without variables")


def braces_and_dollar_agree(ask: Ask, profile: str, value: Json) -> None:
    name, text = value
    environment = {name: text}
    first = ask("env-expansion", {"arg": f"<${name}>", "environment": environment})
    second = ask("env-expansion", {"arg": f"<${{{name}}}>", "environment": environment})
    _demand(first == second == {"arg": f"<{text}>"}, f"the host makes {first} and {second} of the two spellings")


def prompt_arguments_come_back(ask: Ask, profile: str, value: Json) -> None:
    line = " ".join(f"--{name}={_quoted(text, profile)}" for name, text in value.items())
    declared = [{"name": name, "required": True} for name in value]
    answer = ask("prompt-args", {"args": line, "promptArguments": declared})
    _demand(answer == {"arguments": value}, f"the host reads {answer} from {line!r}")


def _quoted(text: str, profile: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"') if profile == "current" else text
    return f'"{escaped}"'


def text_is_joined(ask: Ask, profile: str, value: Json) -> None:
    blocks = [{"type": "text", "text": text} for text in value]
    image = {"type": "image", "data": "aW1n", "mimeType": "image/png"}
    asked: Json = {"server": "s", "serverTool": "t", "registeredName": "t", "args": {}}
    answer = ask("content-to-parts", {**asked, "callToolResult": {"content": [*blocks, image]}})
    parts = answer["modelParts"]
    output = parts[0]["functionResponse"]["response"].get("output")
    _demand(output == "\n".join(value), f"the output is {output!r}")
    inline = [part for part in parts[1:] if "inlineData" in part]
    _demand(len(parts) == 2 and len(inline) == 1, f"{len(parts) - 1} parts follow the function response")


def display_has_a_line_for_each_block(ask: Ask, profile: str, value: Json) -> None:
    asked: Json = {"server": "s", "serverTool": "t", "registeredName": "t", "args": {}}
    answer = ask("content-to-parts", {**asked, "callToolResult": {"content": value}})
    lines = answer["returnDisplay"].split("\n")
    _demand(len(lines) == max(1, len(value)), f"the display has {len(lines)} lines for {len(value)} blocks")


def added_env_comes_back(ask: Ask, profile: str, value: Json) -> None:
    words = [word for name, text in value.items() for word in ("-e", f"{name}={text}")]
    answer = ask("mcp-add", {"commands": [["gemini", "mcp", "add", *words, "s", "cmd"]]})
    server = _added(answer)
    _demand((server or {}).get("env") == value, f"the host writes {server}")


def _added(answer: Json) -> JsonObject | None:
    """The server `s` that a command wrote."""
    servers = object_of((object_of(answer["projectSettings"]) or {}).get("mcpServers")) or {}
    return object_of(servers.get("s"))


def adding_and_removing_leaves_nothing(ask: Ask, profile: str, value: Json) -> None:
    name, args = value
    commands = [["gemini", "mcp", "add", name, "cmd", *args], ["gemini", "mcp", "remove", name]]
    answer = ask("mcp-add", {"commands": commands})
    _demand(answer["projectSettings"] == {"mcpServers": {}}, f"the host leaves {answer['projectSettings']}")


def stdio_arguments_come_back(ask: Ask, profile: str, value: Json) -> None:
    answer = ask("mcp-add", {"commands": [["gemini", "mcp", "add", "s", "cmd", *value]]})
    server = _added(answer)
    _demand(server == {"command": "cmd", "args": value}, f"the host writes {server}")


def authorization_url_holds_what_it_was_given(ask: Ask, profile: str, value: Json) -> None:
    client, scopes, state = value
    config = {"clientId": client, "authorizationUrl": "https://as.example/authorize", "scopes": scopes}
    flow = {"codeVerifier": "v", "codeChallenge": "C", "state": state}
    asked = {"config": config, "pkce": flow, "mcpServerUrl": "https://h.example/mcp"}
    url = str(ask("oauth", asked)["url"])
    query = parse_qs(urlsplit(url).query, keep_blank_values=True)
    _demand(query.get("client_id") == [client] and query.get("state") == [state], f"the query is {query}")
    _demand(query.get("scope", [""]) == [" ".join(scopes)], f"the scope is {query.get('scope')}")
    _demand(query.get("code_challenge_method") == ["S256"], "the challenge is not S256")


def expiry_is_monotone(ask: Ask, profile: str, value: Json) -> None:
    earlier, later = sorted(value)
    first, second = (ask("oauth", {"expiresInMs": left}) for left in (earlier, later))
    _demand(first or not second, f"a token that ends in {later} ms is expired, one in {earlier} ms is not")


def prompts_without_references_are_kept(ask: Ask, profile: str, value: Json) -> None:
    asked: Json = {"prompt": value, "server": "s", "resources": [{"uri": "r:1"}], "reads": {}}
    answer = ask("resources", asked)
    _demand(answer.get("parts") == [{"text": value}], f"the host sends {answer.get('parts')}")


def first_registration_wins(ask: Ask, profile: str, value: Json) -> None:
    servers = {f"s{index}": [tool] for index, tool in enumerate(value)}
    answer = ask("conflict-resolution", {"builtin": [], "servers": servers, "order": "as listed"})
    names = [entry["name"] for entry in answer["registry"]]
    expected: list[str] = []
    for index, tool in enumerate(value):
        expected.append(tool if tool not in expected else f"s{index}__{tool}")
    _demand(names == expected, f"the host registers {names}")
