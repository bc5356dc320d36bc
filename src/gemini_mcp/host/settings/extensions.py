"""Installed extensions to the servers that they configure, by the rules of the profile. Pure.

Files are read through a function. How their servers meet those of the settings is in `merging`.
"""

import json
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from gemini_mcp.host.rules.javascript import template, truthy
from gemini_mcp.host.rules.v8_json import complaint
from gemini_mcp.host.settings import dotenv, extension_faults
from gemini_mcp.host.settings.expansion import expand_everywhere
from gemini_mcp.spec import ExtensionRules, Rules
from gemini_mcp.spec.values import Json, JsonObject, inside, items, list_of, object_of, table, texts_of, type_of

_NO_TEXT = (
    'The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView. '
    "Received type {type} ({value})"
)
"""What Node says when Gemini CLI hashes a name that is a number or a boolean; such a name passes all checks before."""

_PLACEHOLDER = re.compile(r"\$\{([^\n\r\u2028\u2029]*?)\}")


_HOOKS = "hooks/hooks.json"


class _Stage(IntEnum):
    """When something is said of an extension: Gemini CLI reads all of them side by side, one file after the other."""

    FOUND, MANIFEST, HOOKS, PLAN = range(4)


_Said = list[tuple[_Stage, str]]


class _Unusable(Exception):
    """Why an extension is skipped."""


class _Missing(_Unusable):
    """It has no manifest."""


@dataclass(frozen=True)
class Shelf:
    """Where extensions are installed: the folders in their order, and what their files are read with.

    `read` gives the text of a file, or nothing where there is none.
    """

    directory: str
    folders: tuple[str, ...]
    read: Callable[[str], str | None]
    workspace: str
    is_trusted: bool = True


@dataclass(frozen=True)
class Extension:
    """An extension: its servers, the variables that the user has set for it, and whether it is enabled here."""

    name: str
    folder: str
    servers: Mapping[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    is_active: bool = True


@dataclass(frozen=True)
class Installed:
    """The extensions in their order, and what is said of those that are skipped or have a fault.

    `twice` is a name that two of them have, with which Gemini CLI does not start.
    """

    extensions: tuple[Extension, ...] = ()
    warnings: tuple[str, ...] = ()
    twice: str | None = None


def installed(shelf: Shelf, environment: Mapping[str, str], rules: Rules) -> Installed:
    """What is on the shelf, where the profile knows extensions."""
    known = rules.extensions
    if known is None:
        return Installed()
    found: list[Extension] = []
    said: _Said = []
    for folder in shelf.folders:
        place = _place(posixpath.join(shelf.directory, folder), shelf, known)
        try:
            found.append(_extension(place, shelf, environment, rules, known, said))
        except _Unusable as reason:
            stage = _Stage.FOUND if isinstance(reason, _Missing) else _Stage.MANIFEST
            said.append((stage, f"Warning: Skipping extension in {place}: {reason}"))
    names = [one.name for one in found]
    twice = next((name for index, name in enumerate(names) if name in names[:index]), None)
    warnings = tuple(text for _, text in sorted(said, key=lambda one: one[0]))
    return Installed(() if twice else tuple(found), warnings, twice)


def _place(folder: str, shelf: Shelf, known: ExtensionRules) -> str:
    """Where the extension is: its folder, or the one that the folder is a link to."""
    origin = _json(shelf.read(posixpath.join(folder, known.origin)))
    return str(inside(origin, "source")) if inside(origin, "type") == "link" else folder


def _extension(
    place: str, shelf: Shelf, environment: Mapping[str, str], rules: Rules, known: ExtensionRules, said: _Said
) -> Extension:
    manifest = _manifest(place, shelf, known)
    name: str = manifest["name"]
    # Settings are read before variables are put in, so `envVar` is taken as it is written.
    settings = list(_settings(manifest))
    variables = _variables(name, shelf, known)
    filled = table(expand_everywhere(manifest, {**environment, **variables}, rules))
    asked = [str(setting.get("envVar")) for setting in settings]
    chosen = {key: variables[key] for key in asked if key in variables}
    servers = dict(_servers(filled.get("mcpServers"), known))
    said += _faults(filled, posixpath.join(place, _HOOKS), shelf)
    return Extension(name, place, servers, chosen, _is_enabled(name, shelf, known))


def _faults(manifest: Mapping[str, Json], hooks: str, shelf: Shelf) -> Iterator[tuple[_Stage, str]]:
    """What is said of an extension that is loaded all the same."""
    yield from ((_Stage.MANIFEST, text) for text in extension_faults.of_context_files(manifest))
    yield from ((_Stage.HOOKS, text) for text in extension_faults.of_hooks(shelf.read(hooks), hooks))
    yield from ((_Stage.PLAN, text) for text in extension_faults.of_plan(manifest))


def _manifest(place: str, shelf: Shelf, known: ExtensionRules) -> JsonObject:
    """The manifest with the places put in; raises _Unusable."""
    file = posixpath.join(place, known.manifest)
    text = shelf.read(file)
    if text is None:
        raise _Missing(f"Configuration file not found at {file}")
    own = {"extensionPath": place, "workspacePath": shelf.workspace, "/": "/", "pathSeparator": "/"}
    broken = complaint(text)
    manifest: Json = None if broken else _with_places(json.loads(text), own)
    fault = broken or _fault(manifest, file, known)
    if fault:
        raise _Unusable(f"Failed to load extension config from {file}: {fault}")
    if not isinstance(manifest["name"], str):
        raise _Unusable(_NO_TEXT.format(type=type_of(manifest["name"]), value=template(manifest["name"])))
    return manifest


def _fault(manifest: Json, file: str, known: ExtensionRules) -> str | None:
    if manifest is None:
        return "Cannot read properties of null (reading 'name')"
    missing = next((key for key in ("name", "version") if not truthy(table(manifest).get(key))), None)
    if missing is not None:
        return f'Invalid configuration in {file}: missing "{missing}"'
    name = template(manifest["name"])
    return None if re.fullmatch(known.name, name) else f'Invalid extension name: "{name}". {known.name_rule}'


def _with_places(value: Json, places: Mapping[str, str]) -> Json:
    members, elements = object_of(value), list_of(value)
    if members is not None:
        return {key: _with_places(member, places) for key, member in members.items()}
    if elements is not None:
        return [_with_places(element, places) for element in elements]
    if not isinstance(value, str):
        return value
    return _PLACEHOLDER.sub(lambda match: places.get(match[1], match[0]), value)


def _settings(manifest: JsonObject) -> Iterator[JsonObject]:
    """The settings that the extension asks its user for; raises _Unusable."""
    declared = manifest.get("settings")
    # The letters of a text can be walked, and ask for nothing.
    if truthy(declared) and not isinstance(declared, list | str):
        raise _Unusable("extensionConfig.settings is not iterable")
    for setting in items(declared):
        if setting is None:
            raise _Unusable("Cannot read properties of null (reading 'sensitive')")
        yield dict(table(setting))


def _variables(name: str, shelf: Shelf, known: ExtensionRules) -> dict[str, str]:
    """What is set for the extension: for the user, and over that for this folder where it is trusted."""
    folders = [posixpath.join(shelf.directory, name), *([shelf.workspace] if shelf.is_trusted else [])]
    texts = (shelf.read(posixpath.join(folder, known.variables)) for folder in folders)
    return {key: value for text in texts for key, value in dotenv.variables(text or "").items()}


def _servers(value: Json, known: ExtensionRules) -> Iterator[tuple[str, JsonObject]]:
    members = object_of(value)
    # `Object.entries` takes the items of a list, and the letters of a text, for members named 0, 1, 2.
    elements = value if isinstance(value, str) else items(value)
    pairs = members.items() if members is not None else ((str(at), one) for at, one in enumerate(elements))
    for name, config in pairs:
        if config is None:
            raise _Unusable("Cannot destructure property 'trust' of 'original' as it is null.")
        yield name, {key: member for key, member in table(config).items() if key not in known.ignored}


def _is_enabled(name: str, shelf: Shelf, known: ExtensionRules) -> bool:
    """Whether the last rule that covers this folder enables the extension; without one it is enabled."""
    states = _json(shelf.read(posixpath.join(shelf.directory, known.enablement)))
    lists = {key: texts_of(inside(state, "overrides")) for key, state in table(states).items()}
    # One malformed entry makes Gemini CLI ignore the whole file, and every extension is enabled.
    rules = () if None in lists.values() else lists.get(name) or ()
    covering = [rule for rule in rules if _covers(rule.removeprefix("!"), shelf.workspace)]
    return not (covering and covering[-1].startswith("!"))


def _covers(rule: str, folder: str) -> bool:
    escaped = re.sub(r"[.+?^${}()|[\]\\]", r"\\\g<0>", rule)
    pattern = re.sub(r"(/?)\*", r"(?:\1.*)?", escaped)
    # Gemini CLI compares with a slash at the end, so that `/a` does not cover `/ab`.
    return re.fullmatch(pattern, folder.rstrip("/") + "/") is not None


def _json(text: str | None) -> Json:
    return None if text is None or complaint(text) else json.loads(text)
