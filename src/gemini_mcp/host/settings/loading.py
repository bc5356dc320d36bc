"""Settings files to configurations of servers: read, expanded, merged, chosen. Pure.

How a file may be written is in `jsonc`; which values are wrong is in `validation` and `warnings`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gemini_mcp.host.rules.javascript import entries, template, truthy
from gemini_mcp.host.rules.profiles import setting_default
from gemini_mcp.host.settings import server_command
from gemini_mcp.host.settings.expansion import expand_everywhere
from gemini_mcp.host.settings.jsonc import BrokenJson, read
from gemini_mcp.host.settings.validation import Problem, problems
from gemini_mcp.host.settings.warnings import as_read, warning
from gemini_mcp.host.tools.filters import Selection, ServerLists, is_enabled, names_of, select_servers
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, inside, items, number_of, object_of, table


@dataclass(frozen=True)
class Layer:
    """One settings file: whose it is, where it is, and its text."""

    scope: str
    file: str
    text: str


@dataclass(frozen=True)
class Origin:
    """The extension that a server is of: the variables set for it, and whether it is enabled here.

    A server is shared when the settings configure it too, with a command or an address of their own.
    """

    extension: str
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    is_active: bool = True
    is_shared: bool = False


@dataclass(frozen=True)
class ServerConfig:
    """One server as it is configured, its variables expanded; the origin is that of an extension."""

    name: str
    values: JsonObject = field(default_factory=dict[str, object])
    file: str = ""
    origin: Origin | None = None

    @property
    def timeout_ms(self) -> float:
        timeout = number_of(self.values.get("timeout"))
        return setting_default("server", "timeout") if timeout is None else timeout

    @property
    def is_trusted(self) -> bool:
        return truthy(self.values.get("trust"))

    @property
    def has_transport(self) -> bool:
        return bool(self.values.get("command") or self.address)

    def uses(self, tool: str) -> bool:
        """Whether the server's lists let the tool pass."""
        return is_enabled(tool, self.values.get("includeTools"), self.values.get("excludeTools"))

    @property
    def env(self) -> Mapping[str, Json]:
        return entries(self.values.get("env"))

    @property
    def variables(self) -> Mapping[str, str]:
        """What is set for the extension that the server is of."""
        return {} if self.origin is None else self.origin.variables

    @property
    def oauth(self) -> JsonObject:
        return object_of(self.values.get("oauth")) or {}

    @property
    def address(self) -> str | None:
        """The URL of a remote server."""
        address = self.values.get("httpUrl") or self.values.get("url")
        return str(address) if address else None


@dataclass(frozen=True)
class Settings:
    """All settings files, merged.

    `listed` are the servers that `mcp list` names, and `choices` what else decides about calls, by its path.
    """

    servers: tuple[ServerConfig, ...] = ()
    listed: tuple[ServerConfig, ...] = ()
    lists: ServerLists = field(default_factory=ServerLists)
    choices: JsonObject = field(default_factory=dict[str, object])
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def is_faulty(self) -> bool:
        """Whether something of the files had to be refused."""
        return any(problem.is_fatal for problem in self.problems)

    def selection(self, rules: Rules) -> Selection:
        """Which servers are used."""
        return select_servers([server.name for server in self.servers], self.lists, rules)

    def find(self, name: str) -> ServerConfig | None:
        """The server of that name."""
        return next((server for server in self.servers if server.name == name), None)


def load(
    layers: Iterable[Layer],
    environment: Mapping[str, str],
    rules: Rules,
    named: Sequence[str] | None = None,
) -> Settings:
    """The settings of the layers, later ones winning server by server; what is wrong is in `problems`."""
    merged = Settings(lists=ServerLists(named=tuple(named) if named is not None else None))
    command: tuple[Json, str] = (None, "")
    for layer in layers:
        values, found = _read_layer(layer, environment, rules)
        said = warning(values, rules.settings_schema, layer.file) if rules.faulty_settings == "warn" else ""
        if rules.faulty_settings == "warn" and not said:
            # One fault in the file, and Gemini CLI drops what Zod has converted: `"false"` stays a text, which is true.
            values = as_read(values, rules.settings_schema)
        merged = _merge(merged, layer, values, found, rules)
        merged = replace(merged, warnings=(*merged.warnings, *([said] if said else ())))
        mcp = table(values.get("mcp"))
        command = (mcp["serverCommand"], layer.file) if "serverCommand" in mcp else command
    # `mcp list` reads `mcpServers` alone, so it does not name the server of `mcp.serverCommand`.
    merged = replace(merged, listed=merged.servers)
    return _with_command(merged, template(command[0]), command[1], environment) if truthy(command[0]) else merged


def servers_of(value: Json) -> dict[str, JsonObject]:
    """The servers of an `mcpServers` value that are objects."""
    pairs = ((name, object_of(config)) for name, config in table(value).items())
    return {name: config for name, config in pairs if config is not None}


def _read_layer(layer: Layer, environment: Mapping[str, str], rules: Rules) -> tuple[JsonObject, tuple[Problem, ...]]:
    try:
        raw: Json = read(layer.text, rules.allows_trailing_commas) if layer.text.strip() else {}
    except BrokenJson as error:
        fix = "Correct the file; nothing of it is used until then."
        return {}, (Problem((), None, str(error), fix, layer.file),)
    expanded = expand_everywhere(raw, environment, rules)
    found = problems(expanded, rules.settings_schema, layer.file) if rules.faulty_settings == "refuse" else ()
    return object_of(expanded) or {}, found


def _merge(settings: Settings, layer: Layer, values: JsonObject, found: tuple[Problem, ...], rules: Rules) -> Settings:
    # `"mcpServers": null` of a later file leaves no server in a profile that reads faulty files.
    is_kept = rules.faulty_settings != "warn" or truthy(values.get("mcpServers", True))
    servers = {server.name: server for server in settings.servers if is_kept}
    refused = {problem.server for problem in found if problem.is_fatal and problem.server}
    for name, config in servers_of(values.get("mcpServers")).items():
        if name not in refused:
            servers[name] = ServerConfig(name, config, layer.file)
        else:
            # The file's own server was meant to replace that of the file before.
            servers.pop(name, None)
    lists = _lists(settings.lists, object_of(values.get("mcp")) or {}, rules)
    choices = _choices(settings.choices, values, lists, rules)
    problems = (*settings.problems, *found)
    return replace(settings, servers=tuple(servers.values()), lists=lists, choices=choices, problems=problems)


def _choices(before: JsonObject, values: JsonObject, lists: ServerLists, rules: Rules) -> JsonObject:
    """What decides about calls, with one more file; a setting replaces that of the file before, or adds to it."""
    found: JsonObject = dict(before)
    for entry in rules.policy.settings if rules.policy is not None else ():
        section, key = entry["setting"]
        value, known = inside(values, section, key), inside(found, section, key)
        if value is not None:
            united = [*items(known), *items(value)] if entry.get("united") else value
            found[section] = {**table(found.get(section)), key: united}
    named = lists.allowed if lists.named is None else lists.named
    servers: JsonObject = {"allowed": None if named is None else list(named), "excluded": list(lists.excluded or ())}
    return {**found, "mcp": {**table(found.get("mcp")), **servers}}


def _lists(before: ServerLists, mcp: JsonObject, rules: Rules) -> ServerLists:
    """The lists with those of one more file."""
    allowed = names_of(mcp.get("allowed")) if "allowed" in mcp else before.allowed
    excluded = names_of(mcp.get("excluded")) if "excluded" in mcp else before.excluded
    if rules.unites_lists and before.allowed is not None and allowed is not None:
        allowed = tuple(name for name in before.allowed if name in allowed)
    if rules.unites_lists and before.excluded is not None and excluded is not None:
        excluded = (*before.excluded, *(name for name in excluded if name not in before.excluded))
    return replace(before, allowed=allowed, excluded=excluded)


def _with_command(settings: Settings, line: str, file: str, environment: Mapping[str, str]) -> Settings:
    try:
        config = server_command.server_config(line, environment)
    except server_command.UnusableCommand as error:
        fix = "Give one program and its arguments, without operators, globs or comments."
        problem = Problem(("mcp", "serverCommand"), line, str(error), fix, file)
        return replace(settings, problems=(*settings.problems, problem))
    # Gemini CLI gives the command's server a fixed name, and overwrites one configured under it.
    servers = {server.name: server for server in settings.servers}
    servers[server_command.SERVER_NAME] = ServerConfig(server_command.SERVER_NAME, config, file)
    return replace(settings, servers=tuple(servers.values()))
