"""The subcommands of `gemini mcp`: the changed texts of the settings files, and the lines to print. Pure.

The words are read in `mcp_arguments`; the caller reads and writes the files.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gemini_mcp.host.command.mcp_arguments import (
    SCOPES,
    Misused,
    Words,
    number,
    read_add,
    read_list,
    read_remove,
    read_switch,
    unknown_names,
    unknown_said,
)
from gemini_mcp.host.rules.javascript import stringify, truthy
from gemini_mcp.host.servers.transport import url_transports
from gemini_mcp.host.settings.jsonc import read, with_value, without_value
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.host.settings.standing import disabled_in, identifier
from gemini_mcp.host.settings.warnings import said_of
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, inside, list_of, object_of, table, texts_of, without_none

EXIT_USAGE = 1
ENABLEMENT = "enablement"
"""The scope of the file that names the disabled servers."""

NO_COMMAND = "You need at least one command before continuing."

_SEEN = ("mcpservers", "blockedservernames")
_RED, _GREEN, _RESET = "\x1b[31m", "\x1b[32m", "\x1b[0m"


@dataclass(frozen=True)
class Ran:
    """What a command printed, how it ended, and the texts of the files it changed, by scope.

    `warned` goes to stderr, before the rest.
    """

    exit: int = 0
    said: str = ""
    warned: str = ""
    is_complaint: bool = False
    is_help: bool = False
    texts: Mapping[str, str] = field(default_factory=dict[str, str])


def run(
    arguments: Sequence[str],
    texts: Mapping[str, str],
    rules: Rules,
    states: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
) -> Ran:
    """Run `gemini mcp ARGUMENTS` on the settings texts.

    `states` has those of servers that are not disconnected, and `files` the places of the texts, when what the program
    says of the files is to be said too.
    """
    exit_code, warned = _said_of(texts, files or {}, rules)
    if exit_code:
        return Ran(exit_code, warned=warned)
    return replace(_ran(arguments, texts, rules, states or {}), warned=warned)


def _ran(arguments: Sequence[str], texts: Mapping[str, str], rules: Rules, states: Mapping[str, str]) -> Ran:
    name, *rest = arguments or [""]
    if name in _READERS and (name in rules.usage or name == "list"):
        try:
            words = _READERS[name](rest, rules)
        except Misused as misuse:
            return _misused(name, str(misuse), rules)
        return _help(name, rules) if "help" in words.flags else _RUNS[name](name, words, texts, rules, states)
    if name in ("--help", "-h"):
        return _help("group", rules)
    unknown = unknown_names(arguments, tuple(_READERS))
    return _misused("group", unknown_said(unknown) if unknown else NO_COMMAND, rules)


def _said_of(texts: Mapping[str, str], files: Mapping[str, str], rules: Rules) -> tuple[int, str]:
    """What a profile that only warns says of its settings files, and the exit code when it goes no further."""
    if rules.faulty_settings != "warn":
        return 0, ""
    found = [said_of(texts[scope], file, rules) for scope, file in files.items() if scope in texts]
    return max((code for code, _ in found), default=0), "".join(said for _, said in found)


def _list(command: str, words: Words, texts: Mapping[str, str], rules: Rules, states: Mapping[str, str]) -> Ran:
    configured = {name: config for scope in SCOPES for name, config in _servers(texts.get(scope, "")).items()}
    servers = {name: object_of(config) or {} for name, config in configured.items()}
    shown = [ServerConfig(name, config) for name, config in servers.items()]
    return Ran(said=listing(shown, {**states, **_kept_back(servers, texts, rules)}, rules))


def _kept_back(servers: Mapping[str, JsonObject], texts: Mapping[str, str], rules: Rules) -> dict[str, str]:
    """The state of each server that a profile which lists them so does not try, by the lists of the settings files."""
    if not rules.unites_lists:
        return {}
    lists = [table(inside(_settings(texts.get(scope, "")), "mcp")) for scope in SCOPES]
    allowed = [set(map(identifier, names)) for mcp in lists if (names := texts_of(mcp.get("allowed"))) is not None]
    excluded = {identifier(name) for mcp in lists for name in texts_of(mcp.get("excluded")) or ()}
    disabled = disabled_in(_settings(texts.get(ENABLEMENT, "")))
    found: dict[str, str] = {}
    for name in servers:
        wanted = identifier(name)
        if wanted in excluded or any(wanted not in names for names in allowed):
            found[name] = "blocked"
        elif wanted in disabled:
            found[name] = "disabled"
    return found


def _switch(command: str, words: Words, texts: Mapping[str, str], rules: Rules, states: Mapping[str, str]) -> Ran:
    """Enable or disable as Gemini CLI 0.61 does, which looks for the server among the members of another object."""
    name, enablement = identifier(words.words[0]), dict(table(read(texts.get(ENABLEMENT) or "{}")))
    if name not in _SEEN:
        said = f"{_RED}Error:{_RESET} Server '{words.words[0]}' not found. Use 'gemini mcp' to see available servers.\n"
        return Ran(said=said)
    is_session = words.last("session") == "true"
    return Ran(said=switched(command, name, is_session), texts={} if is_session else kept(command, name, enablement))


def switched(command: str, name: str, is_session: bool) -> str:
    """What is said when a server was enabled or disabled."""
    session = {
        "enable": f"Session disable cleared for '{name}'",
        "disable": f"MCP server '{name}' disabled for this session",
    }
    said = session[command] if is_session else f"MCP server '{name}' {command}d"
    return f"{_GREEN}✓{_RESET} {said}.\n"


def kept(command: str, name: str, enablement: JsonObject) -> dict[str, str]:
    """The file of disabled servers, when it changes."""
    if command == "disable":
        return {ENABLEMENT: stringify({**enablement, name: {"enabled": False}}, 2)}
    left = {other: state for other, state in enablement.items() if other != name}
    return {ENABLEMENT: stringify(left, 2)} if name in enablement else {}


def _help(command: str, rules: Rules) -> Ran:
    return Ran(said="\n".join(rules.usage.get(command, rules.usage["group"])), is_help=True)


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


def listing(servers: Sequence[ServerConfig], states: Mapping[str, str], rules: Rules) -> str:
    """What `list` prints; a server without a state is disconnected."""
    if not servers:
        return "No MCP servers configured.\n"
    text = "Configured MCP servers:\n\n"
    for server in servers:
        state = states.get(server.name, "disconnected")
        source = "" if server.origin is None else f" (from {server.origin.extension})"
        text += f"{_MARKS[state]} {server.name}{source}: {_described(server.values, rules)} - {state.capitalize()}\n"
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


def _edit(command: str, words: Words, texts: Mapping[str, str], rules: Rules, states: Mapping[str, str]) -> Ran:
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


_READERS: Mapping[str, Callable[[Sequence[str], Rules], Words]] = {
    "add": read_add,
    "remove": read_remove,
    "list": lambda arguments, rules: read_list(arguments),
    "enable": lambda arguments, rules: read_switch(arguments),
    "disable": lambda arguments, rules: read_switch(arguments),
}
_RUNS = {"add": _edit, "remove": _edit, "list": _list, "enable": _switch, "disable": _switch}


def _settings(text: str) -> Json:
    return read(text) if text.strip() else {}


def _servers(text: str) -> JsonObject:
    return dict(table(inside(_settings(text), "mcpServers")))


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
