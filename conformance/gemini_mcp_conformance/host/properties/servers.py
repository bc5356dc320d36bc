"""Servers: which of them are used, what their settings become, and how they sign in; pure."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from gemini_mcp.spec.values import Json, inside
from gemini_mcp_conformance.host import strategies
from gemini_mcp_conformance.host.properties.registry import demand, holds
from gemini_mcp_conformance.host.questions import Questions
from gemini_mcp_conformance.see.witness import shown


@holds(strategies.SERVER_LISTS, "host-servers:allowed", "host-servers:excluded")
def servers_are_split(host: Questions, value: Json) -> None:
    servers, allowed, excluded = value
    settings = {"mcp": {"allowed": allowed, "excluded": excluded}}
    used = host.ask("server-filter", {"servers": servers, "settings": settings})["used"]
    ordered = [name for name in servers if name in used]
    demand(used == ordered, f"The host uses {shown(used)}, and should keep the configured order {shown(ordered)}.")
    demand(not set(used) & set(excluded), f"The host uses {shown(used)}, and should use none of {shown(excluded)}.")
    is_allowed = not allowed or set(used) <= set(allowed)
    demand(is_allowed, f"The host uses {shown(used)}, and should use only {shown(allowed)}.")


@holds(strategies.PLAIN_TEXTS, "host-expansion:plain")
def plain_text_is_not_expanded(host: Questions, value: Json) -> None:
    answer = host.ask("env-expansion", {"arg": value, "environment": {"A": "x", value[:1] or "B": "y"}})
    demand(
        answer == {"arg": value},
        f"The host makes {shown(answer)} of {shown(value)}, and should keep it: it has no variables.",
    )


@holds(strategies.VARIABLES, "host-expansion:dollar", "host-expansion:brace", "host-expansion:everywhere")
def braces_and_dollar_agree(host: Questions, value: Json) -> None:
    name, text = value
    environment = {name: text}
    first = host.ask("env-expansion", {"arg": f"<${name}>", "environment": environment})
    second = host.ask("env-expansion", {"arg": f"<${{{name}}}>", "environment": environment})
    demand(
        first == second == {"arg": f"<{text}>"},
        f"The host makes {first} and {second} of the two spellings, and should put in {text!r}.",
    )


@holds(strategies.ENVIRONMENTS, "host-mcp-add:env")
def added_env_comes_back(host: Questions, value: Json) -> None:
    words = [word for name, text in value.items() for word in ("-e", f"{name}={text}")]
    server = _added(host, *words, "s", "cmd")
    demand(inside(server, "env") == value, f"The host writes {shown(server)}, and should write the env {shown(value)}.")


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
    demand(left == {"mcpServers": {}}, f"The host leaves {shown(left)}, and should leave no server.")


@holds(strategies.ARGUMENTS, "host-mcp-add:flags:after", profile="documented")
def stdio_arguments_come_back(host: Questions, value: Json) -> None:
    server = _added(host, "s", "cmd", *value)
    demand(
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
    demand(query.get("client_id") == [client] and query.get("state") == [state], f"The query is {query}.")
    demand(query.get("scope", [""]) == [" ".join(scopes)], f"The scope is {query.get('scope')}.")
    demand(query.get("code_challenge_method") == ["S256"], "The challenge is not S256.")


@holds(strategies.LIFETIMES, "host-oauth:expiry")
def expiry_is_monotone(host: Questions, value: Json) -> None:
    earlier, later = sorted(value)
    first, second = (host.ask("oauth", {"expiresInMs": left}) for left in (earlier, later))
    demand(first or not second, f"A token that ends in {later} ms is expired, one in {earlier} ms is not.")
