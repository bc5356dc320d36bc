"""Properties of a host: what must hold for every input, and not only for those of the vectors; pure.

Each asks the host about one input and raises PropertyBroken with a sentence. To add one, decorate a function with its
inputs, the requirements that it decides and the profile of hosts that it binds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from urllib.parse import parse_qs, urlsplit

from hypothesis import strategies as st

from gemini_mcp.spec.values import Json, inside, table
from gemini_mcp_conformance.host import strategies
from gemini_mcp_conformance.host.questions import HostCheck, Questions, checks_of
from gemini_mcp_conformance.host.searching import Holds, PropertyBroken, search
from gemini_mcp_conformance.see.witness import shown


@dataclass(frozen=True)
class Property:
    """A function, its inputs, the requirements that it decides, and the profile that it binds."""

    holds: Holds
    inputs: st.SearchStrategy[Json]
    requirements: tuple[str, ...]
    profile: str


PROPERTIES: list[Property] = []


def checks(examples: int, start: int) -> Iterator[HostCheck]:
    """The checks of every property; none without examples."""
    for one in PROPERTIES if examples else ():
        name = one.holds.__name__
        complain = partial(search, one.holds, one.inputs, examples, start)
        sentence = f"{name.replace('_', ' ').capitalize()}."
        yield from checks_of(f"property {name.replace('_', '-')}", sentence, one.requirements, one.profile, complain)


def holds(inputs: st.SearchStrategy[Json], *requirements: str, profile: str = "both") -> Callable[[Holds], Holds]:
    """Register a property."""

    def register(function: Holds) -> Holds:
        PROPERTIES.append(Property(function, inputs, requirements, profile))
        return function

    return register


def _demand(condition: bool, message: str) -> None:
    if not condition:
        raise PropertyBroken(message)


def _name_of(host: Questions, tool: str) -> str:
    server = {"server": "srv"} if host.profile == "current" else {}
    return host.ask("name-normalisation", {"tool": tool, **server})["name"]


@holds(strategies.TOOL_NAMES, "host-name:limit", profile="documented")
@holds(strategies.TOOL_NAMES, "host-name:limit:current", profile="current")
def name_is_short(host: Questions, value: Json) -> None:
    name = _name_of(host, value)
    _demand(len(name) <= 63, f"The host registers {name!r} of {len(name)} characters, and should use at most 63.")


@holds(strategies.TOOL_NAMES, "host-name:characters", profile="documented")
@holds(strategies.TOOL_NAMES, "host-name:qualified:current", profile="current")
def name_is_allowed(host: Questions, value: Json) -> None:
    name = _name_of(host, value)
    allowed = r"[a-zA-Z0-9_.-]*" if host.profile == "documented" else r"mcp_[a-zA-Z0-9_.:-]*"
    _demand(re.fullmatch(allowed, name) is not None, f"The host registers {name!r}, and should match {allowed!r}.")


@holds(strategies.TOOL_NAMES, "host-name:fits", profile="documented")
def name_is_stable(host: Questions, value: Json) -> None:
    once = _name_of(host, value)
    twice = _name_of(host, once)
    _demand(once == twice, f"The host makes {twice!r} of {once!r}, and should keep what it has made itself.")


@holds(strategies.GOOD_NAMES, "host-name:fits", profile="documented")
def short_name_is_kept(host: Questions, value: Json) -> None:
    name = _name_of(host, value)
    _demand(name == value, f"The host makes {name!r} of {value!r}, and should keep it: it needs no change.")


def _declared(host: Questions, schema: Json) -> Json:
    key = "parameters" if host.profile == "documented" else "parametersJsonSchema"
    answer = host.ask("schema-sanitisation", {"inputSchema": schema})
    _demand(key in table(answer), f"The host answers {shown(answer)}, which has no `{key}`.")
    return answer[key]


@holds(strategies.SCHEMAS, "host-schema:unchanged", profile="documented")
def sanitising_is_idempotent(host: Questions, value: Json) -> None:
    once = _declared(host, value)
    twice = _declared(host, once)
    _demand(twice == once, f"The host makes {shown(twice)} of {shown(once)}, and should keep what it has made itself.")


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
            _demand(keyword not in schema, f"The host leaves `{keyword}` at {place!r}, and should remove it.")
        is_clean = "anyOf" not in schema or "default" not in schema
        _demand(is_clean, f"The host leaves a `default` beside `anyOf` at {place!r}, and should remove it.")


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
    _demand(declared == wanted, f"The host declares {shown(declared)}, and should declare {shown(wanted)}.")


@holds(strategies.SCHEMAS, "host-schema:cycles")
def sanitising_ends(host: Questions, value: Json) -> None:
    schema: Json = {"type": "object", "properties": {"a": value, "self": {}}}
    answer = host.ask("schema-sanitisation", {"schema": schema, "cycleAt": ["properties", "self"]})
    _demand(
        answer.get("terminates") is True,
        "The host does not end when it sanitises a schema that contains itself, and should.",
    )


@holds(strategies.SCHEMAS, "host-schema:wait:current", profile="current")
def every_declaration_waits(host: Questions, value: Json) -> None:
    properties = _declared(host, value).get("properties", {})
    waits = properties.get("wait_for_previous", {})
    _demand(
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
    _demand(alike, f"The host answers {shown(answers)} to equal lists in other orders, and should answer alike.")


@holds(strategies.FILTERS, "host-tools:exclude")
def exclusion_wins(host: Questions, value: Json) -> None:
    tool, include, exclude = value
    lists = {"includeTools": [*include, tool], "excludeTools": [*exclude, tool]}
    answer = host.ask("tool-filter", {"toolName": tool, **lists})
    _demand(answer == {"enabled": False}, f"The host uses the excluded tool {tool!r}, and should not.")


@holds(strategies.SERVER_LISTS, "host-servers:allowed", "host-servers:excluded")
def servers_are_split(host: Questions, value: Json) -> None:
    servers, allowed, excluded = value
    settings = {"mcp": {"allowed": allowed, "excluded": excluded}}
    used = host.ask("server-filter", {"servers": servers, "settings": settings})["used"]
    ordered = [name for name in servers if name in used]
    _demand(used == ordered, f"The host uses {shown(used)}, and should keep the configured order {shown(ordered)}.")
    _demand(not set(used) & set(excluded), f"The host uses {shown(used)}, and should use none of {shown(excluded)}.")
    is_allowed = not allowed or set(used) <= set(allowed)
    _demand(is_allowed, f"The host uses {shown(used)}, and should use only {shown(allowed)}.")


@holds(strategies.PLAIN_TEXTS, "host-expansion:plain")
def plain_text_is_not_expanded(host: Questions, value: Json) -> None:
    answer = host.ask("env-expansion", {"arg": value, "environment": {"A": "x", value[:1] or "B": "y"}})
    _demand(
        answer == {"arg": value},
        f"The host makes {shown(answer)} of {shown(value)}, and should keep it: it has no variables.",
    )


@holds(strategies.VARIABLES, "host-expansion:dollar", "host-expansion:brace", "host-expansion:everywhere")
def braces_and_dollar_agree(host: Questions, value: Json) -> None:
    name, text = value
    environment = {name: text}
    first = host.ask("env-expansion", {"arg": f"<${name}>", "environment": environment})
    second = host.ask("env-expansion", {"arg": f"<${{{name}}}>", "environment": environment})
    _demand(
        first == second == {"arg": f"<{text}>"},
        f"The host makes {first} and {second} of the two spellings, and should put in {text!r}.",
    )


@holds(strategies.PROMPT_ARGUMENTS, "host-prompt:named")
def prompt_arguments_come_back(host: Questions, value: Json) -> None:
    line = " ".join(f'--{name}="{text}"' for name, text in value.items())
    declared = [{"name": name, "required": True} for name in value]
    answer = host.ask("prompt-args", {"args": line, "promptArguments": declared})
    _demand(
        answer == {"arguments": value}, f"The host reads {shown(answer)} from {line!r}, and should read {shown(value)}."
    )


def _converted(host: Questions, content: Json) -> Json:
    asked: Json = {"server": "s", "serverTool": "t", "registeredName": "t", "args": {}}
    return host.ask("content-to-parts", {**asked, "callToolResult": {"content": content}})


@holds(strategies.TEXTS, "host-content:joined", "host-content:inline", profile="documented")
def text_is_joined(host: Questions, value: Json) -> None:
    blocks = [{"type": "text", "text": text} for text in value]
    image = {"type": "image", "data": "aW1n", "mimeType": "image/png"}
    parts = _converted(host, [*blocks, image])["modelParts"]
    output = parts[0]["functionResponse"]["response"].get("output")
    wanted = "\n".join(value)
    _demand(output == wanted, f"The host joins the texts to {output!r}, and should join them to {wanted!r}.")
    inline = [part for part in parts[1:] if "inlineData" in part]
    _demand(
        len(parts) == 2 and len(inline) == 1, f"The host adds {len(parts) - 1} parts, and should add the image alone."
    )


@holds(strategies.BLOCKS, "host-content:display")
def display_has_a_line_for_each_block(host: Questions, value: Json) -> None:
    lines = _converted(host, value)["returnDisplay"].split("\n")
    _demand(
        len(lines) == max(1, len(value)),
        f"The host displays {len(lines)} lines for {len(value)} blocks, and should display one for each.",
    )


@holds(strategies.ENVIRONMENTS, "host-mcp-add:env")
def added_env_comes_back(host: Questions, value: Json) -> None:
    words = [word for name, text in value.items() for word in ("-e", f"{name}={text}")]
    server = _added(host, *words, "s", "cmd")
    _demand(
        inside(server, "env") == value, f"The host writes {shown(server)}, and should write the env {shown(value)}."
    )


def _added(host: Questions, *words: str) -> Json:
    """The server `s` that `mcp add` writes."""
    answer = host.ask("mcp-add", {"commands": [["gemini", "mcp", "add", *words]]})
    return inside(answer["projectSettings"], "mcpServers", "s")


@holds(strategies.NAMED_ARGUMENTS, "host-mcp-remove:removes")
def adding_and_removing_leaves_nothing(host: Questions, value: Json) -> None:
    name, args = value
    commands = [["gemini", "mcp", "add", name, "cmd", *args], ["gemini", "mcp", "remove", name]]
    answer = host.ask("mcp-add", {"commands": commands})
    left = answer["projectSettings"]
    _demand(left == {"mcpServers": {}}, f"The host leaves {shown(left)}, and should leave no server.")


@holds(strategies.ARGUMENTS, "host-mcp-add:flags:after", profile="documented")
def stdio_arguments_come_back(host: Questions, value: Json) -> None:
    server = _added(host, "s", "cmd", *value)
    _demand(
        server == {"command": "cmd", "args": value},
        f"The host writes {shown(server)}, and should write the args {shown(value)}.",
    )


@holds(strategies.AUTHORIZATIONS, "host-oauth:pkce", "host-oauth:scopes", profile="documented")
def authorization_url_holds_what_it_was_given(host: Questions, value: Json) -> None:
    client, scopes, state = value
    config = {"clientId": client, "authorizationUrl": "https://as.example/authorize", "scopes": scopes}
    flow = {"codeVerifier": "v", "codeChallenge": "C", "state": state}
    asked = {"config": config, "pkce": flow, "mcpServerUrl": "https://h.example/mcp"}
    url = str(host.ask("oauth", asked)["url"])
    query = parse_qs(urlsplit(url).query, keep_blank_values=True)
    _demand(query.get("client_id") == [client] and query.get("state") == [state], f"The query is {query}.")
    _demand(query.get("scope", [""]) == [" ".join(scopes)], f"The scope is {query.get('scope')}.")
    _demand(query.get("code_challenge_method") == ["S256"], "The challenge is not S256.")


@holds(strategies.LIFETIMES, "host-oauth:expiry")
def expiry_is_monotone(host: Questions, value: Json) -> None:
    earlier, later = sorted(value)
    first, second = (host.ask("oauth", {"expiresInMs": left}) for left in (earlier, later))
    _demand(first or not second, f"A token that ends in {later} ms is expired, one in {earlier} ms is not.")


@holds(strategies.PROMPTS, "host-resource:unknown")
def prompts_without_references_are_kept(host: Questions, value: Json) -> None:
    asked: Json = {"prompt": value, "server": "s", "resources": [{"uri": "r:1"}], "reads": {}}
    answer = host.ask("resources", asked)
    _demand(answer.get("parts") == [{"text": value}], f"The host sends {answer.get('parts')}.")


@holds(strategies.RIVALS, "host-conflict:first", "host-conflict:prefix", profile="documented")
def first_registration_wins(host: Questions, value: Json) -> None:
    servers = {f"s{index}": [tool] for index, tool in enumerate(value)}
    answer = host.ask("conflict-resolution", {"builtin": [], "servers": servers, "order": "as listed"})
    names = [entry["name"] for entry in answer["registry"]]
    expected: list[str] = []
    for index, tool in enumerate(value):
        expected.append(tool if tool not in expected else f"s{index}__{tool}")
    _demand(names == expected, f"The host registers {names}.")
