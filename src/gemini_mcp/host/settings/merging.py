"""The servers of extensions among those of the settings: who wins, and what the lists let through. Pure.

What an extension configures is read in `extensions`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gemini_mcp.host.rules.javascript import in_key_order, truthy
from gemini_mcp.host.settings.extensions import Extension, Installed
from gemini_mcp.host.settings.loading import Origin, ServerConfig, Settings
from gemini_mcp.host.settings.validation import Problem
from gemini_mcp.spec import ExtensionRules, Rules
from gemini_mcp.spec.values import JsonObject, items, table


def with_extensions(settings: Settings, installed: Installed, rules: Rules) -> Settings:
    """The settings with the servers of the extensions, as a session has them and as `mcp list` names them."""
    known = rules.extensions
    if known is None:
        return settings
    if installed.twice is not None:
        complaint = f"two extensions have the name {installed.twice!r}, and Gemini CLI does not start"
        twice = Problem((), None, complaint, "Remove one of them.", known.folder)
        return replace(settings, servers=(), listed=(), problems=(*settings.problems, twice))
    session = _Session({server.name: server for server in settings.servers}, [])
    # Only enabled extensions are started, so a disabled one cannot take a server's name from them.
    for extension in sorted(installed.extensions, key=lambda one: not one.is_active):
        session.add(extension, known)
    warnings = (*settings.warnings, *installed.warnings, *session.warnings)
    listed = _listed(settings.listed, installed.extensions)
    return replace(settings, servers=tuple(session.servers.values()), listed=listed, warnings=warnings)


def merged(extension: JsonObject, settings: JsonObject, known: ExtensionRules) -> JsonObject:
    """One server that both configure: the settings win, but nobody widens what the other has narrowed."""
    values: JsonObject = {**extension, **settings}
    for key in known.intersected:
        sides = [side[key] for side in (extension, settings) if truthy(side.get(key))]
        # With nothing in common the list stays, empty: without it every tool would be let through.
        if sides:
            values[key] = [one for one in sides[0] if all(one in side for side in sides)]
    united = {key: list(dict.fromkeys((*items(extension.get(key)), *items(settings.get(key))))) for key in known.united}
    joined = {key: {**table(extension.get(key)), **table(settings.get(key))} for key in known.joined}
    combined = {**united, **{key: {name: one[name] for name in in_key_order(one)} for key, one in joined.items()}}
    return {key: value for key, value in {**values, **combined}.items() if value or key not in combined}


@dataclass
class _Session:
    """The servers of a session while they come together."""

    servers: dict[str, ServerConfig]
    warnings: list[str]

    def add(self, extension: Extension, known: ExtensionRules) -> None:
        for name, values in extension.servers.items():
            before = self.servers.get(name)
            if before is None:
                self.servers[name] = _of(extension, name, values)
            elif before.origin is not None:
                self._skip(extension, name)
            elif extension.is_active:
                self.servers[name] = _shared(extension, values, before, known)

    def _skip(self, extension: Extension, name: str) -> None:
        if extension.is_active:
            whose = f'server with name "{name}" from extension "{extension.name}"'
            self.warnings.append(f"Skipping MCP config for {whose} as it already exists.")


def _shared(extension: Extension, values: JsonObject, before: ServerConfig, known: ExtensionRules) -> ServerConfig:
    """A server of both; Gemini CLI starts one that the settings describe whole twice, and keeps the tools of both."""
    together = merged(values, before.values, known)
    if before.has_transport:
        # Gemini CLI 0.61.0 starts the server as the settings alone configure it too, and registers those tools.
        lists = (*known.united, *known.intersected)
        own = {key: value for key, value in before.values.items() if key in lists}
        together = {**{key: value for key, value in together.items() if key not in lists}, **own}
    origin = Origin(extension.name, extension.variables, is_shared=before.has_transport)
    return replace(before, values=together, origin=origin)


def _listed(configured: Iterable[ServerConfig], extensions: Iterable[Extension]) -> tuple[ServerConfig, ...]:
    """What `mcp list` names: the settings win whole, and nobody asks whether an extension is enabled."""
    servers = {server.name: server for server in configured}
    for extension in extensions:
        for name, values in extension.servers.items():
            servers.setdefault(name, _of(replace(extension, is_active=True), name, values))
    return tuple(servers.values())


def _of(extension: Extension, name: str, values: JsonObject) -> ServerConfig:
    origin = Origin(extension.name, extension.variables, extension.is_active)
    return ServerConfig(name, values, extension.folder, origin)
