"""What `gemini mcp list` prints of the servers in the texts of the settings files. Pure."""

from collections.abc import Container, Iterator, Mapping, Sequence

from gemini_mcp.host.command.mcp_lists import Kept, settings_of
from gemini_mcp.host.command.mcp_values import Failed
from gemini_mcp.host.rules.javascript import template, truthy
from gemini_mcp.host.rules.urls import InvalidUrl
from gemini_mcp.host.servers.environment import UnusableConfig, expanded
from gemini_mcp.host.servers.transport import auth_provider, request_headers, url_transports
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import JsonObject, inside, items, list_of, table

NOBODY = Kept()

_KEPT_BACK = ("blocked", "disabled")
_MARKS = {"connected": "✓", "disconnected": "✗", "blocked": "⛔", "disabled": "○"}


def listing(
    servers: Sequence[ServerConfig],
    states: Mapping[str, str],
    rules: Rules,
    signed_in: Container[str] = (),
    kept: Kept = NOBODY,
) -> str:
    """What `list` prints; a server without a state is disconnected. Raises Failed."""
    if not servers:
        return "No MCP servers configured.\n"
    text = "Configured MCP servers:\n\n"
    for server in servers:
        state = kept.states.get(server.name) or states.get(server.name, "disconnected")
        text += kept.said.get(server.name, "")
        if server.name in kept.failures:
            raise Failed(kept.failures[server.name], text)
        if rules.two_addresses and state not in _KEPT_BACK:
            text += "".join(_diagnostics(server, rules, signed_in))
        source = server.origin.extension if server.origin else inside(server.values, "extension", "name")
        shown = f" (from {template(source)})" if truthy(source) else ""
        try:
            described = _described(server.values, rules)
        except Failed as failure:
            raise Failed(str(failure), text) from failure
        text += f"{_MARKS[state]} {server.name}{shown}: {described} - {state.capitalize()}\n"
    return text


def _diagnostics(server: ServerConfig, rules: Rules, signed_in: Container[str]) -> Iterator[str]:
    """What Gemini CLI says of a server while it makes its transport, until it fails."""
    config, addresses = server.values, [truthy(server.values.get(key)) for key in ("httpUrl", "url")]
    try:
        provider = auth_provider(config, rules, has_google=False)
        if not any(addresses):
            yield from _not_configured(server, rules)
            return
        if provider is None and truthy(inside(config, "oauth", "enabled")) and server.name not in signed_in:
            # It prints what goes with the message, too.
            yield f"{rules.needs_authentication.format(server=server.name)} undefined\n"
        request_headers(config, {}, rules, provider)
    except (UnusableConfig, InvalidUrl):
        return
    if all(addresses) and rules.two_addresses is not None:
        yield rules.two_addresses.format(server=server.name)


def _not_configured(server: ServerConfig, rules: Rules) -> Iterator[str]:
    """The variables of `env` that the server does not get, until one that ends it; raises UnusableConfig."""
    guard = rules.environment
    if guard is None or not truthy(server.values.get("command")):
        return
    for name, value in server.env.items():
        if name.upper() in guard.not_configurable:
            yield guard.not_configured.format(server=server.name, name=name)
        else:
            expanded(value, {})


def _described(config: JsonObject, rules: Rules) -> str:
    if truthy(config.get("httpUrl")):
        return f"{template(config['httpUrl'])} (http)"
    if truthy(config.get("url")):
        return f"{template(config['url'])} ({url_transports(config, rules)[0]})"
    if not truthy(config.get("command")):
        return ""
    given = config.get("args")
    if list_of(given) is None and given is not None:
        raise Failed("server.args?.join is not a function")
    command, *arguments = ("" if word is None else template(word) for word in (config["command"], *items(given)))
    words = " ".join((command, *arguments))
    return rules.stdio_line.format(words=words, command=command, arguments=" ".join(arguments))


def servers_of(text: str) -> JsonObject:
    """The servers by name; those of a list have their places as names, as members of a JavaScript array have."""
    given = inside(settings_of(text), "mcpServers")
    listed = list_of(given)
    return dict(table(given)) if listed is None else {str(place): one for place, one in enumerate(listed)}
