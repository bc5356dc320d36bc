"""`gemini mcp add`, `remove` and `list` as changes to settings texts and lines to print; pure.

Reading the words is in `arguments`; files are read and written by whoever calls this.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gemini_mcp.host.command.mcp_arguments import Misused, Words, number, read_add, read_remove
from gemini_mcp.host.rules import usage
from gemini_mcp.host.rules.javascript import truthy
from gemini_mcp.host.rules.profiles import Profile
from gemini_mcp.host.settings.jsonc import read, with_value, without_value
from gemini_mcp.host.settings.loading import servers_of
from gemini_mcp.spec.values import Json, JsonObject, list_of, object_of

EXIT_USAGE = 1


@dataclass(frozen=True)
class Ran:
    """What a command printed, how it ended, and the texts of the files it changed, by scope."""

    exit: int = 0
    said: str = ""
    is_complaint: bool = False
    is_help: bool = False
    texts: Mapping[str, str] = field(default_factory=dict[str, str])


def run(
    arguments: Sequence[str], texts: Mapping[str, str], profile: Profile, connected: frozenset[str] = frozenset()
) -> Ran:
    """Run `gemini mcp ARGUMENTS` on the settings texts; `connected` names the servers that answer."""
    name, *rest = arguments or ["--help"]
    try:
        if name == "add":
            return _add(read_add(rest, profile), texts, profile)
        if name == "remove":
            return _remove(read_remove(rest, profile), texts, profile)
    except Misused as misuse:
        text = usage.add_usage(profile) if name == "add" else usage.remove_usage(profile)
        return Ran(EXIT_USAGE, usage.refused(text, str(misuse), profile), is_complaint=True)
    if name == "list":
        return Ran(said=listing(_merged(texts), connected, profile))
    if name in ("--help", "-h"):
        return Ran(said=usage.group_usage(profile), is_help=True)
    complaint = usage.refused(usage.group_usage(profile), f"Unknown argument: {name}", profile)
    return Ran(EXIT_USAGE, complaint, is_complaint=True)


def server_config(words: Words, profile: Profile) -> JsonObject:
    """The server that the words of `add` describe."""
    transport = words.last("transport") or "stdio"
    target, args = words.words[1], [*words.words[2:], *words.after]
    if transport == "stdio":
        return {"command": target, "args": args, **_given("env", _pairs(words, "env", profile)), **_common(words)}
    key = "httpUrl" if transport == "http" and profile is Profile.DOCUMENTED else "url"
    kind = {} if profile is Profile.DOCUMENTED else {"type": transport}
    return {key: target, **kind, **_given("headers", _pairs(words, "header", profile)), **_common(words)}


def listing(servers: Mapping[str, JsonObject], connected: frozenset[str], profile: Profile) -> str:
    """What `list` prints."""
    if not servers:
        return "No MCP servers configured.\n"
    lines = (line(name, config, name in connected, profile) for name, config in servers.items())
    return "Configured MCP servers:\n\n" + "".join(f"{text}\n" for text in lines)


def line(name: str, config: JsonObject, is_connected: bool, profile: Profile) -> str:
    """One server's line."""
    mark, word = ("✓", "Connected") if is_connected else ("✗", "Disconnected")
    return f"{mark} {name}: {_described(config, profile)} - {word}"


def _described(config: JsonObject, profile: Profile) -> str:
    if truthy(config.get("httpUrl")):
        return f"{config['httpUrl']} (http)"
    if truthy(config.get("url")):
        kind = "sse" if profile is Profile.DOCUMENTED else config.get("type") or "http"
        return f"{config['url']} ({kind})"
    if not truthy(config.get("command")):
        return ""
    words = [str(word) for word in (config["command"], *(list_of(config.get("args")) or []))]
    if profile is Profile.DOCUMENTED:
        return f"command: {' '.join(words)} (stdio)"
    return f"{words[0]} {' '.join(words[1:])} (stdio)"


def _add(words: Words, texts: Mapping[str, str], profile: Profile) -> Ran:
    if "help" in words.flags:
        return Ran(said=usage.add_usage(profile), is_help=True)
    name, scope = words.words[0], words.last("scope") or "project"
    text = texts.get(scope, "")
    is_known = truthy(_servers(text).get(name))
    changed = with_value(text, ("mcpServers", name), server_config(words, profile))
    if is_known:
        said = f'MCP server "{name}" is already configured within {scope} settings.\n'
        said += f'MCP server "{name}" updated in {scope} settings.\n'
    else:
        said = f'MCP server "{name}" added to {scope} settings. ({words.last("transport") or "stdio"})\n'
    return Ran(said=said, texts={scope: changed})


def _remove(words: Words, texts: Mapping[str, str], profile: Profile) -> Ran:
    if "help" in words.flags:
        return Ran(said=usage.remove_usage(profile), is_help=True)
    name, scope = words.words[0], words.last("scope") or "project"
    text = texts.get(scope, "")
    if not truthy(_servers(text).get(name)):
        return Ran(said=f'Server "{name}" not found in {scope} settings.\n')
    changed = without_value(text, ("mcpServers", name))
    return Ran(said=f'Server "{name}" removed from {scope} settings.\n', texts={scope: changed})


def _servers(text: str) -> JsonObject:
    settings = object_of(read(text)) if text.strip() else {}
    return object_of((settings or {}).get("mcpServers")) or {}


def _merged(texts: Mapping[str, str]) -> dict[str, JsonObject]:
    return {**servers_of(_servers(texts.get("user", ""))), **servers_of(_servers(texts.get("project", "")))}


def _pairs(words: Words, flag: str, profile: Profile) -> dict[str, str] | None:
    """The names and values of `-e A=b` or `-H 'A: b'`; those without either are left out."""
    if flag not in words.flags:
        return None
    separator = "=" if flag == "env" else ":"
    pairs = [word.partition(separator) for word in words.flags[flag]]
    if flag == "env" and profile is Profile.CURRENT:
        pairs = [(name, mark, value.partition("=")[0]) for name, mark, value in pairs]
    if flag == "header":
        pairs = [(name.strip(), mark, value.strip()) for name, mark, value in pairs]
    return {name: value for name, _, value in pairs if name and value}


def _common(words: Words) -> JsonObject:
    timeout, trust = words.last("timeout"), words.last("trust")
    return {
        **({} if timeout is None else {"timeout": number(timeout)}),
        **({} if trust is None else {"trust": trust == "true"}),
        **_given("description", words.last("description")),
        **_given("includeTools", _list(words, "include-tools")),
        **_given("excludeTools", _list(words, "exclude-tools")),
    }


def _list(words: Words, flag: str) -> list[str] | None:
    return list(words.flags[flag]) if flag in words.flags else None


def _given(key: str, value: Json) -> JsonObject:
    return {} if value is None else {key: value}
