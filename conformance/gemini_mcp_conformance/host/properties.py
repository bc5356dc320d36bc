"""Invariants put to an adapter with made-up inputs: what holds for every input, whatever the vectors happen to hold.

A property is a function of an `ask` and hypothesis data; it raises Broken with a sentence. A failure is shrunk, and the
shrunk input is its witness.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from urllib.parse import parse_qs, urlsplit

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from gemini_mcp_conformance.host import strategies
from gemini_mcp_conformance.host.asking import Adapter, NoAnswer, Unsupported
from gemini_mcp_conformance.host.values import Json, JsonObject, object_of
from gemini_mcp_conformance.host.verdicts import COULD_NOT_RUN, FAIL, HARNESS_ERROR, PASS, Finding

Ask = Callable[[str, Json], Json]

REMOVED = ("$schema", "additionalProperties")


class Broken(Exception):
    """A property does not hold; the message is the sentence, the witness the input."""

    def __init__(self, message: str, witness: Json) -> None:
        super().__init__(message)
        self.witness = witness


@dataclass(frozen=True)
class Property:
    """One invariant."""

    name: str
    requirements: tuple[str, ...]
    profiles: tuple[str, ...]
    inputs: st.SearchStrategy[Json]
    holds: Callable[[Ask, str, Json], None]


BOTH, DOCUMENTED, CURRENT = ("documented", "current"), ("documented",), ("current",)


def _demand(condition: bool, message: str, witness: Json) -> None:
    if not condition:
        raise Broken(message, witness)


def _name_of(ask: Ask, profile: str, tool: str, server: str = "srv") -> str:
    return ask("name-normalisation", {"tool": tool, "server": server} if profile == "current" else {"tool": tool})[
        "name"
    ]


def name_is_short(ask: Ask, profile: str, value: Json) -> None:
    name = _name_of(ask, profile, value)
    _demand(len(name) <= 63, f"the host registers {name!r}, which is {len(name)} characters long", value)


def name_is_allowed(ask: Ask, profile: str, value: Json) -> None:
    name = _name_of(ask, profile, value)
    allowed = r"[a-zA-Z0-9_.-]*" if profile == "documented" else r"mcp_[a-zA-Z0-9_.:-]*"
    _demand(re.fullmatch(allowed, name) is not None, f"the host registers {name!r}, which the API refuses", value)


def name_is_stable(ask: Ask, profile: str, value: Json) -> None:
    once = _name_of(ask, profile, value)
    twice = _name_of(ask, profile, once)
    _demand(once == twice, f"the host makes {once!r} of the name and {twice!r} of that", value)


def short_name_is_kept(ask: Ask, profile: str, value: Json) -> None:
    name = _name_of(ask, profile, value)
    _demand(name == value, f"the host makes {name!r} of {value!r}, which needs no change", value)


def _declared(ask: Ask, profile: str, schema: Json) -> Json:
    key = "parameters" if profile == "documented" else "parametersJsonSchema"
    answer = object_of(ask("schema-sanitisation", {"inputSchema": schema})) or {}
    _demand(key in answer, f"the host answers {json.dumps(answer)[:200]}", schema)
    return answer[key]


def sanitising_is_idempotent(ask: Ask, profile: str, value: Json) -> None:
    once = _declared(ask, profile, value)
    _demand(_declared(ask, profile, once) == once, "sanitising a second time changes the schema again", value)


def sanitising_removes(ask: Ask, profile: str, value: Json) -> None:
    for place, schema in strategies.schema_positions(_declared(ask, profile, value)):
        for keyword in REMOVED:
            _demand(keyword not in schema, f"`{keyword}` is still there at {place!r}", value)
        _demand(
            not ("anyOf" in schema and "default" in schema), f"a `default` beside `anyOf` is left at {place!r}", value
        )


def sanitising_changes_nothing_else(ask: Ask, profile: str, value: Json) -> None:
    declared = _declared(ask, profile, value)
    _demand(declared == strategies.expected_schema(value), "something else of the schema changed", value)


def sanitising_ends(ask: Ask, profile: str, value: Json) -> None:
    schema: Json = {"type": "object", "properties": {"a": value, "self": {}}}
    answer = ask("schema-sanitisation", {"schema": schema, "cycleAt": ["properties", "self"]})
    _demand(answer.get("terminates") is True, "sanitising a schema that contains itself does not end", schema)


def every_declaration_waits(ask: Ask, profile: str, value: Json) -> None:
    properties = _declared(ask, profile, value).get("properties", {})
    waits = properties.get("wait_for_previous", {})
    _demand(waits.get("type") == "boolean", "a declared tool lacks the boolean `wait_for_previous`", value)


def filters_ignore_order(ask: Ask, profile: str, value: Json) -> None:
    tool, include, exclude = value
    answers = [
        ask("tool-filter", {"toolName": tool, "includeTools": one, "excludeTools": other})
        for one, other in ((include, exclude), (include[::-1], exclude[::-1]), (include * 2, exclude * 2))
    ]
    _demand(answers[0] == answers[1] == answers[2], "the order of the lists changes which tools are used", value)


def exclusion_wins(ask: Ask, profile: str, value: Json) -> None:
    tool, include, exclude = value
    answer = ask("tool-filter", {"toolName": tool, "includeTools": [*include, tool], "excludeTools": [*exclude, tool]})
    _demand(answer == {"enabled": False}, f"the excluded tool {tool!r} is used", value)


def servers_are_split(ask: Ask, profile: str, value: Json) -> None:
    servers, allowed, excluded = value
    settings_ = {"mcp": {"allowed": allowed, "excluded": excluded}}
    answer = ask("server-filter", {"servers": servers, "settings": settings_})
    used = answer["used"]
    _demand(
        used == [name for name in servers if name in used], "the used servers are not in configuration order", value
    )
    _demand(not set(used) & set(excluded), "an excluded server is used", value)
    _demand(not allowed or set(used) <= set(allowed), "a server is used that is not allowed", value)


def plain_text_is_not_expanded(ask: Ask, profile: str, value: Json) -> None:
    answer = ask("env-expansion", {"arg": value, "environment": {"A": "x", value[:1] or "B": "y"}})
    _demand(answer == {"arg": value}, f"the host makes {answer} of a text without variables", value)


def braces_and_dollar_agree(ask: Ask, profile: str, value: Json) -> None:
    name, text = value
    environment = {name: text}
    first = ask("env-expansion", {"arg": f"<${name}>", "environment": environment})
    second = ask("env-expansion", {"arg": f"<${{{name}}}>", "environment": environment})
    _demand(first == second == {"arg": f"<{text}>"}, f"the host makes {first} and {second} of the two spellings", value)


def prompt_arguments_come_back(ask: Ask, profile: str, value: Json) -> None:
    line = " ".join(f"--{name}={_quoted(text, profile)}" for name, text in value.items())
    declared = [{"name": name, "required": True} for name in value]
    answer = ask("prompt-args", {"args": line, "promptArguments": declared})
    _demand(answer == {"arguments": value}, f"the host reads {answer} from {line!r}", value)


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
    _demand(output == "\n".join(value), f"the output is {output!r}", value)
    inline = [part for part in parts[1:] if "inlineData" in part]
    _demand(len(parts) == 2 and len(inline) == 1, f"{len(parts) - 1} parts follow the function response", value)


def display_has_a_line_for_each_block(ask: Ask, profile: str, value: Json) -> None:
    asked: Json = {"server": "s", "serverTool": "t", "registeredName": "t", "args": {}}
    answer = ask("content-to-parts", {**asked, "callToolResult": {"content": value}})
    lines = answer["returnDisplay"].split("\n")
    _demand(len(lines) == max(1, len(value)), f"the display has {len(lines)} lines for {len(value)} blocks", value)


def added_env_comes_back(ask: Ask, profile: str, value: Json) -> None:
    words = [word for name, text in value.items() for word in ("-e", f"{name}={text}")]
    answer = ask("mcp-add", {"commands": [["gemini", "mcp", "add", *words, "s", "cmd"]]})
    server = _added(answer)
    _demand((server or {}).get("env") == value, f"the host writes {server}", value)


def _added(answer: Json) -> JsonObject | None:
    """The server `s` that a command wrote."""
    servers = object_of((object_of(answer["projectSettings"]) or {}).get("mcpServers")) or {}
    return object_of(servers.get("s"))


def adding_and_removing_leaves_nothing(ask: Ask, profile: str, value: Json) -> None:
    name, args = value
    commands = [["gemini", "mcp", "add", name, "cmd", *args], ["gemini", "mcp", "remove", name]]
    answer = ask("mcp-add", {"commands": commands})
    _demand(answer["projectSettings"] == {"mcpServers": {}}, f"the host leaves {answer['projectSettings']}", value)


def stdio_arguments_come_back(ask: Ask, profile: str, value: Json) -> None:
    answer = ask("mcp-add", {"commands": [["gemini", "mcp", "add", "s", "cmd", *value]]})
    server = _added(answer)
    _demand(server == {"command": "cmd", "args": value}, f"the host writes {server}", value)


def authorization_url_holds_what_it_was_given(ask: Ask, profile: str, value: Json) -> None:
    client, scopes, state = value
    config = {"clientId": client, "authorizationUrl": "https://as.example/authorize", "scopes": scopes}
    flow = {"codeVerifier": "v", "codeChallenge": "C", "state": state}
    asked = {"config": config, "pkce": flow, "mcpServerUrl": "https://h.example/mcp"}
    url = str(ask("oauth", asked)["url"])
    query = parse_qs(urlsplit(url).query, keep_blank_values=True)
    _demand(query.get("client_id") == [client] and query.get("state") == [state], f"the query is {query}", value)
    _demand(query.get("scope", [""]) == [" ".join(scopes)], f"the scope is {query.get('scope')}", value)
    _demand(query.get("code_challenge_method") == ["S256"], "the challenge is not S256", value)


def expiry_is_monotone(ask: Ask, profile: str, value: Json) -> None:
    earlier, later = sorted(value)
    first, second = (ask("oauth", {"expiresInMs": left}) for left in (earlier, later))
    _demand(first or not second, f"a token that ends in {later} ms is expired, one in {earlier} ms is not", value)


def prompts_without_references_are_kept(ask: Ask, profile: str, value: Json) -> None:
    asked: Json = {"prompt": value, "server": "s", "resources": [{"uri": "r:1"}], "reads": {}}
    answer = ask("resources", asked)
    _demand(answer.get("parts") == [{"text": value}], f"the host sends {answer.get('parts')}", value)


def first_registration_wins(ask: Ask, profile: str, value: Json) -> None:
    servers = {f"s{index}": [tool] for index, tool in enumerate(value)}
    answer = ask("conflict-resolution", {"builtin": [], "servers": servers, "order": "as listed"})
    names = [entry["name"] for entry in answer["registry"]]
    expected: list[str] = []
    for index, tool in enumerate(value):
        expected.append(tool if tool not in expected else f"s{index}__{tool}")
    _demand(names == expected, f"the host registers {names}", value)


P = Property
PROPERTIES: tuple[Property, ...] = (
    P("name-short", ("host-name:limit",), DOCUMENTED, strategies.TOOL_NAMES, name_is_short),
    P("name-short-current", ("host-name:limit:current",), CURRENT, strategies.TOOL_NAMES, name_is_short),
    P("name-allowed", ("host-name:characters",), DOCUMENTED, strategies.TOOL_NAMES, name_is_allowed),
    P("name-allowed-current", ("host-name:qualified:current",), CURRENT, strategies.TOOL_NAMES, name_is_allowed),
    P("name-stable", ("host-name:fits",), DOCUMENTED, strategies.TOOL_NAMES, name_is_stable),
    P("name-kept", ("host-name:fits",), DOCUMENTED, strategies.GOOD_NAMES, short_name_is_kept),
    P("schema-idempotent", ("host-schema:unchanged",), DOCUMENTED, strategies.SCHEMAS, sanitising_is_idempotent),
    P(
        "schema-removed",
        ("host-schema:dollar-schema", "host-schema:additional-properties", "host-schema:any-of-default"),
        DOCUMENTED,
        strategies.SCHEMAS,
        sanitising_removes,
    ),
    P(
        "schema-unchanged",
        ("host-schema:unchanged", "host-schema:names", "host-schema:values", "host-schema:recursion"),
        DOCUMENTED,
        strategies.SCHEMAS,
        sanitising_changes_nothing_else,
    ),
    P("schema-cycles", ("host-schema:cycles",), BOTH, strategies.SCHEMAS, sanitising_ends),
    P("schema-waits", ("host-schema:wait:current",), CURRENT, strategies.SCHEMAS, every_declaration_waits),
    P("filter-order", ("host-tools:include", "host-tools:exclude"), BOTH, strategies.FILTERS, filters_ignore_order),
    P("filter-exclusion", ("host-tools:exclude",), BOTH, strategies.FILTERS, exclusion_wins),
    P(
        "servers-split",
        ("host-servers:allowed", "host-servers:excluded"),
        BOTH,
        strategies.SERVER_LISTS,
        servers_are_split,
    ),
    P("expansion-plain", ("host-expansion:plain",), BOTH, strategies.PLAIN_TEXTS, plain_text_is_not_expanded),
    P(
        "expansion-spellings",
        ("host-expansion:dollar", "host-expansion:brace", "host-expansion:everywhere"),
        BOTH,
        strategies.VARIABLES,
        braces_and_dollar_agree,
    ),
    P("prompt-named", ("host-prompt:named",), BOTH, strategies.PROMPT_ARGUMENTS, prompt_arguments_come_back),
    P("content-joined", ("host-content:joined", "host-content:inline"), DOCUMENTED, strategies.TEXTS, text_is_joined),
    P("content-display", ("host-content:display",), BOTH, strategies.BLOCKS, display_has_a_line_for_each_block),
    P("add-env", ("host-mcp-add:env",), BOTH, strategies.ENVIRONMENTS, added_env_comes_back),
    P("add-remove", ("host-mcp-remove:removes",), BOTH, strategies.NAMED_ARGUMENTS, adding_and_removing_leaves_nothing),
    P("add-arguments", ("host-mcp-add:flags:after",), DOCUMENTED, strategies.ARGUMENTS, stdio_arguments_come_back),
    P(
        "authorization-url",
        ("host-oauth:pkce", "host-oauth:scopes"),
        DOCUMENTED,
        strategies.AUTHORIZATIONS,
        authorization_url_holds_what_it_was_given,
    ),
    P("expiry", ("host-oauth:expiry",), BOTH, strategies.LIFETIMES, expiry_is_monotone),
    P("no-reference", ("host-resource:unknown",), BOTH, strategies.PROMPTS, prompts_without_references_are_kept),
    P(
        "first-wins",
        ("host-conflict:first", "host-conflict:prefix"),
        DOCUMENTED,
        strategies.RIVALS,
        first_registration_wins,
    ),
)


def check(adapter: Adapter, profile: str, max_examples: int = 50, start: int = 0) -> Iterator[Finding]:
    """A finding for every property of the profile."""
    for one in PROPERTIES:
        if profile in one.profiles:
            yield _checked(adapter, one, profile, max_examples, start)


def speaks_of(profile: str) -> frozenset[str]:
    """The requirements that properties of the profile check."""
    return frozenset(name for one in PROPERTIES if profile in one.profiles for name in one.requirements)


def _checked(adapter: Adapter, one: Property, profile: str, max_examples: int, start: int) -> Finding:
    def ask(behaviour: str, value: Json) -> Json:
        return adapter.ask(behaviour, profile, value)

    def holds(value: Json) -> None:
        try:
            one.holds(ask, profile, value)
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise Broken(f"the answer has another shape than expected: {error!r}", value) from error

    finding = partial(Finding, f"property {one.name}", one.requirements)
    try:
        _search(holds, one.inputs, max_examples, start)
    except Unsupported as error:
        return finding(COULD_NOT_RUN, f"the adapter does not support `{error}`")
    except Broken as broken:
        return finding(FAIL, str(broken), broken.witness)
    except NoAnswer as error:
        return finding(FAIL, str(error))
    except Exception as error:
        return finding(HARNESS_ERROR, repr(error))
    return finding(PASS)


def _search(holds: Callable[[Json], None], inputs: st.SearchStrategy[Json], max_examples: int, start: int) -> None:
    run = settings(
        max_examples=max_examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        report_multiple_bugs=False,
    )(seed(start)(given(inputs)(holds)))
    run()
