"""`gemini mcp add`, `remove` and `list`: the changed texts of the settings files, and the lines to print. Pure.

The words are read in `mcp_arguments`; the caller reads and writes the files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gemini_mcp.host.command.mcp_arguments import SCOPES, Misused, Words, number, read_add, read_remove
from gemini_mcp.host.rules.javascript import truthy
from gemini_mcp.host.servers.transport import url_transports
from gemini_mcp.host.settings.jsonc import read, with_value, without_value
from gemini_mcp.host.settings.loading import servers_of
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import JsonObject, inside, list_of, table, without_none

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
    arguments: Sequence[str], texts: Mapping[str, str], rules: Rules, states: Mapping[str, str] | None = None
) -> Ran:
    """Run `gemini mcp ARGUMENTS` on the settings texts; `states` has those of servers that are not disconnected."""
    name, *rest = arguments or ["--help"]
    if name in ("add", "remove"):
        try:
            words = read_add(rest, rules) if name == "add" else read_remove(rest)
        except Misused as misuse:
            return _misused(name, str(misuse), rules)
        return _help(name, rules) if "help" in words.flags else _edit(name, words, texts, rules)
    if name == "list":
        user, project = (servers_of(_servers(texts.get(scope, ""))) for scope in SCOPES)
        return Ran(said=listing({**user, **project}, states or {}, rules))
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


_MARKS = {"connected": "✓", "disconnected": "✗", "blocked": "⛔", "disabled": "○"}


def listing(servers: Mapping[str, JsonObject], states: Mapping[str, str], rules: Rules) -> str:
    """What `list` prints; a server without a state is disconnected."""
    if not servers:
        return "No MCP servers configured.\n"
    text = "Configured MCP servers:\n\n"
    for name, config in servers.items():
        state = states.get(name, "disconnected")
        text += f"{_MARKS[state]} {name}: {_described(config, rules)} - {state.capitalize()}\n"
    return text


def _described(config: JsonObject, rules: Rules) -> str:
    if truthy(config.get("httpUrl")):
        return f"{config['httpUrl']} (http)"
    if truthy(config.get("url")):
        return f"{config['url']} ({url_transports(config, rules)[0]})"
    if not truthy(config.get("command")):
        return ""
    words = [str(word) for word in (config["command"], *(list_of(config.get("args")) or []))]
    return rules.stdio_line.format(words=" ".join(words), command=words[0], arguments=" ".join(words[1:]))


def _edit(command: str, words: Words, texts: Mapping[str, str], rules: Rules) -> Ran:
    """Add or remove the server that the first word names."""
    name, scope = words.words[0], words.last("scope") or "project"
    text = texts.get(scope, "")
    is_known = truthy(_servers(text).get(name))
    if command == "remove":
        if not is_known:
            return Ran(said=f'Server "{name}" not found in {scope} settings.\n')
        said = f'Server "{name}" removed from {scope} settings.\n'
        return Ran(said=said, texts={scope: without_value(text, ("mcpServers", name))})
    said = f'MCP server "{name}" added to {scope} settings. ({words.last("transport") or "stdio"})\n'
    if is_known:
        said = f'MCP server "{name}" is already configured within {scope} settings.\n'
        said += f'MCP server "{name}" updated in {scope} settings.\n'
    changed = with_value(text, ("mcpServers", name), server_config(words, rules))
    return Ran(said=said, texts={scope: changed})


def _servers(text: str) -> JsonObject:
    return dict(table(inside(read(text) if text.strip() else {}, "mcpServers")))


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
        **without_none(
            trust=None if trust is None else trust == "true",
            description=words.last("description"),
            includeTools=words.flags.get("include-tools"),
            excludeTools=words.flags.get("exclude-tools"),
        ),
    }
