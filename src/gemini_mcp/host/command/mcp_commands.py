"""The subcommands of `gemini mcp`: the changed texts of the settings files, and the lines to print. Pure.

The words are read in `mcp_line`; the caller reads and writes the files.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gemini_mcp.host.command.mcp_line import GROUP, Misused, read_line
from gemini_mcp.host.command.mcp_listing import listing, servers_of
from gemini_mcp.host.command.mcp_lists import ENABLEMENT, SCOPES, kept_back, refuse, settings_of
from gemini_mcp.host.command.mcp_values import Failed, Given, given_by
from gemini_mcp.host.rules.javascript import INHERITED, PROTOTYPE, as_parsed, in_key_order, stringify, truthy
from gemini_mcp.host.settings.expansion import expand_everywhere
from gemini_mcp.host.settings.jsonc import read, with_value, without_value
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.host.settings.standing import identifier
from gemini_mcp.host.settings.warnings import BROKEN_EXIT, MEND, said_of, warning
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, inside, list_of, object_of, table

EXIT_USAGE = 1
EXIT_NO_INPUT = 42
NO_INPUT = (
    "No input provided via stdin. Input can be provided by piping data into gemini or using the --prompt option.\n"
)
"""What Gemini CLI says where it goes on as without `mcp`."""

_SEEN = ("mcpservers", "blockedservernames")
"""The members of what 0.61.0 lists its servers in. It searches their names, in lower case, and not the servers'."""

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


@dataclass(frozen=True)
class Around:
    """What a list depends on besides the files: the states of servers that are not disconnected, and variables."""

    states: Mapping[str, str] = field(default_factory=dict[str, str])
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


def run(
    arguments: Sequence[str],
    texts: Mapping[str, str],
    rules: Rules,
    states: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Ran:
    """Run `gemini mcp ARGUMENTS` on the settings texts.

    `states` has those of servers that are not disconnected, and `files` the places of the texts, when what the program
    says of the files is to be said too. The variables of the environment are put into what is listed.
    """
    exit_code, warned = _said_of(texts, files or {}, rules)
    if exit_code:
        return Ran(exit_code, warned=warned)
    try:
        ran = _ran(arguments, texts, rules, Around(states or {}, environment or {}))
    except Failed as failure:
        ran = _ended(failure)
    return replace(ran, warned=warned + ran.warned)


def _ran(arguments: Sequence[str], texts: Mapping[str, str], rules: Rules, around: Around) -> Ran:
    try:
        line = read_line(arguments, rules)
        shown = _help(line.command, rules) if line.is_help else Ran()
        goes_on = line.goes_on and rules.command_options[GROUP]["goesOn"]
        if rules.faulty_settings == "warn" and (goes_on or not (line.is_help or line.is_silent)):
            try:
                refuse(texts, _configured(texts, rules))
            except Failed as failure:
                return replace(shown, exit=EXIT_USAGE, warned=failure.said) if line.is_help else _ended(failure)
        if goes_on:
            return replace(shown, exit=EXIT_NO_INPUT, warned=NO_INPUT)
        if line.is_help or line.goes_on or line.is_silent:
            return shown
        return _RUNS[line.command](line.command, given_by(line, rules), texts, rules, around)
    except Misused as misuse:
        return _misused(misuse.command, str(misuse), rules)


def _ended(failure: Failed) -> Ran:
    return Ran(EXIT_USAGE, failure.said, is_complaint=True)


def _said_of(texts: Mapping[str, str], files: Mapping[str, str], rules: Rules) -> tuple[int, str]:
    """What a profile that only warns says of its settings files, and the exit code when it goes no further."""
    if rules.faulty_settings != "warn":
        return 0, ""
    found = [said_of(texts[scope], file, rules) for scope, file in files.items() if scope in texts]
    broken = [said for code, said in found if code]
    if broken:
        return BROKEN_EXIT, "".join(broken) + MEND
    return 0, "".join(said for _, said in found)


def _list(command: str, given: Given, texts: Mapping[str, str], rules: Rules, around: Around) -> Ran:
    configured = _configured(texts, rules)
    servers = {name: object_of(configured[name]) or {} for name in in_key_order(configured)}
    expanded = {name: expand_everywhere(config, around.environment, rules) for name, config in servers.items()}
    shown = [ServerConfig(name, config) for name, config in expanded.items()]
    return Ran(said=listing(shown, around.states, rules, kept=kept_back(list(servers), texts, rules)))


def _configured(texts: Mapping[str, str], rules: Rules) -> JsonObject:
    """The servers of all files; in a profile that reads faulty ones, `null` in a later file leaves none."""
    found: JsonObject = {}
    for scope in SCOPES:
        text = texts.get(scope, "")
        is_kept = rules.faulty_settings != "warn" or truthy(table(settings_of(text)).get("mcpServers", True))
        found = {**(found if is_kept else {}), **_read(text, rules)}
    return found


def _read(text: str, rules: Rules) -> JsonObject:
    """The servers of a settings file, without one that its reader loses."""
    servers = servers_of(text)
    if rules.faulty_settings == "warn" and not warning(settings_of(text), rules.settings_schema, ""):
        servers.pop(PROTOTYPE, None)
    return servers


def _switch(command: str, given: Given, texts: Mapping[str, str], rules: Rules, around: Around) -> Ran:
    """Enable or disable as Gemini CLI 0.61 does, which looks for the server among the members of another object."""
    name, enablement = identifier(given.name), dict(table(read(texts.get(ENABLEMENT) or "{}")))
    if name not in _SEEN:
        said = f"{_RED}Error:{_RESET} Server '{given.name}' not found. Use 'gemini mcp' to see available servers.\n"
        return Ran(said=said)
    texts = {} if given.is_session else kept(command, name, enablement)
    return Ran(said=switched(command, name, given.is_session), texts=texts)


def switched(command: str, name: str, is_session: bool) -> str:
    """What is said when a server was enabled or disabled."""
    said = session_switched(command, name) if is_session else f"MCP server '{name}' {command}d."
    return f"{_GREEN}✓{_RESET} {said}\n"


def session_switched(command: str, name: str) -> str:
    """The same for a session, without its mark."""
    if command == "enable":
        return f"Session disable cleared for '{name}'."
    return f"MCP server '{name}' disabled for this session."


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


def _edit(command: str, given: Given, texts: Mapping[str, str], rules: Rules, around: Around) -> Ran:
    """Add or remove the server that the line names."""
    name, said = given.name, given.scope
    # A repeated `--scope` is a list, printed as one; anything but `user` means the project.
    scope = "user" if said == "user" else "project"
    text = texts.get(scope, "")
    servers = servers_of(text)
    # Gemini CLI asks `mcpServers[name]`, which finds members of `Object.prototype` too.
    is_inherited = name in INHERITED
    is_known = is_inherited or truthy(servers.get(name))
    if command == "remove" and not is_known:
        return Ran(said=f'Server "{name}" not found in {said} settings.\n')
    if command == "remove":
        told, is_untouched = f'Server "{name}" removed from {said} settings.\n', name not in servers
    else:
        told, is_untouched = _added(given, is_known), is_inherited and name == PROTOTYPE
    if list_of(inside(settings_of(text), "mcpServers")) is not None:
        changed = text  # The server becomes a property of an array, which JSON does not show.
    # It writes `mcpServers` all the same, so that a file without it gets an empty one.
    elif is_untouched:
        changed = with_value(text, ("mcpServers",), servers)
    elif command == "remove":
        changed = without_value(text, ("mcpServers", name))
    else:
        config = _in_order_of(servers.get(name), given.config) if rules.lays_out_settings else given.config
        changed = with_value(text, ("mcpServers", name), config)
    return Ran(said=told, texts={scope: _laid_out(changed) if rules.lays_out_settings else changed})


def _in_order_of(before: Json, after: Json) -> Json:
    """The value with the members that were there before in their order, and the new ones behind them."""
    old, new = object_of(before), object_of(after)
    if old is None or new is None:
        return after
    names = [*(name for name in old if name in new), *(name for name in new if name not in old)]
    return {name: _in_order_of(old.get(name), new[name]) for name in names}


def _laid_out(text: str) -> str:
    """The settings laid out anew; a text with comments stays as it is."""
    try:
        return stringify(as_parsed(json.loads(text)), 2)
    except ValueError:
        return text


def _added(given: Given, is_known: bool) -> str:
    if not is_known:
        return f'MCP server "{given.name}" added to {given.scope} settings. ({given.transport})\n'
    told = f'MCP server "{given.name}" is already configured within {given.scope} settings.\n'
    return told + f'MCP server "{given.name}" updated in {given.scope} settings.\n'


_RUNS = {"add": _edit, "remove": _edit, "list": _list, "enable": _switch, "disable": _switch}
