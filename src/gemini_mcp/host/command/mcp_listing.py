"""What `gemini mcp list` prints of the servers in the texts of the settings files. Pure."""

from collections.abc import Container, Iterator, Mapping, Sequence

from gemini_mcp.host.command.mcp_values import Failed
from gemini_mcp.host.rules.javascript import template, truthy
from gemini_mcp.host.servers.transport import url_transports
from gemini_mcp.host.settings.jsonc import read
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.host.settings.standing import disabled_in, identifier
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, inside, items, list_of, table, texts_of

SCOPES = ("user", "project")

ENABLEMENT = "enablement"
"""The scope of the file that names the disabled servers."""

_KEPT_BACK = ("blocked", "disabled")
_OTHER_PROVIDERS = ("google_credentials", "service_account_impersonation")
_MARKS = {"connected": "✓", "disconnected": "✗", "blocked": "⛔", "disabled": "○"}


def listing(
    servers: Sequence[ServerConfig], states: Mapping[str, str], rules: Rules, signed_in: Container[str] = ()
) -> str:
    """What `list` prints; a server without a state is disconnected. Raises Failed."""
    if not servers:
        return "No MCP servers configured.\n"
    text = "Configured MCP servers:\n\n"
    for server in servers:
        state = states.get(server.name, "disconnected")
        if rules.two_addresses and state not in _KEPT_BACK:
            text += "".join(_diagnostics(server, rules, rules.two_addresses, signed_in))
        source = server.origin.extension if server.origin else inside(server.values, "extension", "name")
        shown = f" (from {template(source)})" if truthy(source) else ""
        try:
            described = _described(server.values, rules)
        except Failed as failure:
            raise Failed(str(failure), text) from failure
        text += f"{_MARKS[state]} {server.name}{shown}: {described} - {state.capitalize()}\n"
    return text


def _diagnostics(server: ServerConfig, rules: Rules, two_addresses: str, signed_in: Container[str]) -> Iterator[str]:
    """What Gemini CLI says of a server while it makes its transport."""
    config, addresses = server.values, [bool(server.values.get(key)) for key in ("httpUrl", "url")]
    asks = truthy(inside(config, "oauth", "enabled")) and config.get("authProviderType") not in _OTHER_PROVIDERS
    if any(addresses) and asks and server.name not in signed_in:
        # It prints what goes with the message, too.
        yield f"{rules.needs_authentication.format(server=server.name)} undefined\n"
    if all(addresses):
        yield two_addresses.format(server=server.name)


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


def refuse_lists(sections: Sequence[Mapping[str, Json]], servers: Sequence[Json]) -> None:
    """Fail where Gemini CLI fails to make its policy of `mcp` and `mcpServers`."""
    for key in ("excluded", "allowed"):
        if key == "allowed" and None in servers:
            raise Failed("Cannot read properties of null (reading 'trust')")
        if any(truthy(value) and not isinstance(value, str | list) for value in (mcp.get(key) for mcp in sections)):
            raise Failed(f"settings.mcp.{key} is not iterable")


def kept_back(servers: Mapping[str, JsonObject], texts: Mapping[str, str], rules: Rules) -> dict[str, str]:
    """The state of each server that a profile which lists them so does not try, by the lists of the settings files."""
    # `mcp list` of 0.1.19 tries every server, whatever the lists say.
    if not rules.unites_lists:
        return {}
    lists = [table(inside(settings_of(texts.get(scope, "")), "mcp")) for scope in SCOPES]
    allowed = [set(map(identifier, names)) for mcp in lists if (names := texts_of(mcp.get("allowed"))) is not None]
    excluded = {identifier(name) for mcp in lists for name in texts_of(mcp.get("excluded")) or ()}
    disabled = disabled_in(settings_of(texts.get(ENABLEMENT, "")))
    found: dict[str, str] = {}
    for name in servers:
        wanted = identifier(name)
        if wanted in excluded or any(wanted not in names for names in allowed):
            found[name] = "blocked"
        elif wanted in disabled:
            found[name] = "disabled"
    return found


def settings_of(text: str) -> Json:
    return read(text) if text.strip() else {}


def servers_of(text: str) -> JsonObject:
    """The servers by name; those of a list have their places as names, as members of a JavaScript array have."""
    given = inside(settings_of(text), "mcpServers")
    listed = list_of(given)
    return dict(table(given)) if listed is None else {str(place): one for place, one in enumerate(listed)}
