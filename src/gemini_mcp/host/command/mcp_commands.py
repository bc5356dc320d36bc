"""`gemini mcp add`, `remove` and `list`: the changed texts of the settings files, and the lines to print. Pure.

The words are read in `mcp_arguments`; the caller reads and writes the files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gemini_mcp.host.command.mcp_arguments import Misused, Words, number, read_add, read_remove
from gemini_mcp.host.rules.javascript import truthy
from gemini_mcp.host.servers.transport import url_transports
from gemini_mcp.host.settings.jsonc import read, with_value, without_value
from gemini_mcp.host.settings.loading import servers_of
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import JsonObject, list_of, object_of, without_none

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
    arguments: Sequence[str], texts: Mapping[str, str], rules: Rules, connected: frozenset[str] = frozenset()
) -> Ran:
    """Run `gemini mcp ARGUMENTS` on the settings texts; `connected` names the servers that answer."""
    name, *rest = arguments or ["--help"]
    try:
        if name == "add":
            return _add(read_add(rest, rules), texts, rules)
        if name == "remove":
            return _remove(read_remove(rest), texts, rules)
    except Misused as misuse:
        return _misused(name, str(misuse), rules)
    if name == "list":
        return Ran(said=listing(_merged(texts), connected, rules))
    if name in ("--help", "-h"):
        return _help("group", rules)
    return _misused("group", f"Unknown argument: {name}", rules)


def _help(command: str, rules: Rules) -> Ran:
    return Ran(said="\n".join(rules.usage[command]), is_help=True)


def _misused(command: str, complaint: str, rules: Rules) -> Ran:
    said = rules.usage_error.format(usage=_help(command, rules).said, complaint=complaint)
    return Ran(EXIT_USAGE, said, is_complaint=True)


def server_config(words: Words, rules: Rules) -> JsonObject:
    """The server that the words of `add` describe."""
    transport = words.last("transport") or "stdio"
    target, args = words.words[1], [*words.words[2:], *words.after]
    if transport == "stdio":
        return {**without_none(command=target, args=args, env=_pairs(words, "env", rules)), **_common(words)}
    kind = {"type": transport} if rules.adds_type else {}
    headers = without_none(headers=_pairs(words, "header", rules))
    return {rules.add_keys[transport]: target, **kind, **headers, **_common(words)}


def listing(servers: Mapping[str, JsonObject], connected: frozenset[str], rules: Rules) -> str:
    """What `list` prints."""
    if not servers:
        return "No MCP servers configured.\n"
    lines = (line(name, config, name in connected, rules) for name, config in servers.items())
    return "Configured MCP servers:\n\n" + "".join(f"{text}\n" for text in lines)


def line(name: str, config: JsonObject, is_connected: bool, rules: Rules) -> str:
    """One server's line."""
    mark, word = ("✓", "Connected") if is_connected else ("✗", "Disconnected")
    return f"{mark} {name}: {_described(config, rules)} - {word}"


def _described(config: JsonObject, rules: Rules) -> str:
    if truthy(config.get("httpUrl")):
        return f"{config['httpUrl']} (http)"
    if truthy(config.get("url")):
        return f"{config['url']} ({url_transports(config, rules)[0]})"
    if not truthy(config.get("command")):
        return ""
    words = [str(word) for word in (config["command"], *(list_of(config.get("args")) or []))]
    return rules.stdio_line.format(words=" ".join(words), command=words[0], arguments=" ".join(words[1:]))


def _add(words: Words, texts: Mapping[str, str], rules: Rules) -> Ran:
    if "help" in words.flags:
        return _help("add", rules)
    name, scope = words.words[0], words.last("scope") or "project"
    text = texts.get(scope, "")
    is_known = truthy(_servers(text).get(name))
    changed = with_value(text, ("mcpServers", name), server_config(words, rules))
    if is_known:
        said = f'MCP server "{name}" is already configured within {scope} settings.\n'
        said += f'MCP server "{name}" updated in {scope} settings.\n'
    else:
        said = f'MCP server "{name}" added to {scope} settings. ({words.last("transport") or "stdio"})\n'
    return Ran(said=said, texts={scope: changed})


def _remove(words: Words, texts: Mapping[str, str], rules: Rules) -> Ran:
    if "help" in words.flags:
        return _help("remove", rules)
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


def _pairs(words: Words, flag: str, rules: Rules) -> dict[str, str] | None:
    """The names and values of `-e A=b` or `-H 'A: b'`; those without either are left out."""
    if flag not in words.flags:
        return None
    separator = "=" if flag == "env" else ":"
    pairs = [word.partition(separator) for word in words.flags[flag]]
    if flag == "env" and rules.cuts_variables:
        pairs = [(name, mark, value.partition("=")[0]) for name, mark, value in pairs]
    if flag == "header":
        pairs = [(name.strip(), mark, value.strip()) for name, mark, value in pairs]
    return {name: value for name, _, value in pairs if name and value}


def _common(words: Words) -> JsonObject:
    timeout, trust = words.last("timeout"), words.last("trust")
    return {
        **({} if timeout is None else {"timeout": number(timeout)}),
        **({} if trust is None else {"trust": trust == "true"}),
        **without_none(
            description=words.last("description"),
            includeTools=_list(words, "include-tools"),
            excludeTools=_list(words, "exclude-tools"),
        ),
    }


def _list(words: Words, flag: str) -> list[str] | None:
    return list(words.flags[flag]) if flag in words.flags else None
