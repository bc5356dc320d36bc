"""What Gemini CLI says of an extension that it loads all the same: names of context files, hooks, the plan. Pure.

It repeats Gemini CLI 0.61; what makes it skip an extension is in `extensions`.
"""

import json
import re
from collections.abc import Iterator, Mapping

from gemini_mcp.host.rules.javascript import template, trim, truthy
from gemini_mcp.host.rules.v8_json import complaint
from gemini_mcp.spec.values import Json, inside, list_of, object_of

_CONTEXT = '[ExtensionManager] Invalid contextFileName: "{name}" in extension "{extension}". {fault}'
_PLAN = (
    '[ExtensionManager] Invalid plan.directory in extension "{extension}": "{directory}". '
    "Relative parent navigation and absolute paths are not allowed."
)
_HOOKS = 'Invalid hooks configuration in {file}: "hooks" property must be an object'
_NO_HOOKS = "Failed to load extension hooks from {file}: {fault}"

_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")
"""How a path begins that is absolute here or on Windows."""

_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def of_context_files(manifest: Mapping[str, Json]) -> Iterator[str]:
    """What is said of names that are no files of the extension."""
    named = manifest.get("contextFileName")
    listed = list_of(named)
    for name in listed if listed is not None else [named] if truthy(named) else []:
        fault = _fault_of_name(name)
        if fault is not None:
            yield _CONTEXT.format(name=template(name), extension=manifest["name"], fault=fault)


def of_hooks(text: str | None, file: str) -> Iterator[str]:
    """What is said of the file of hooks; nothing where there is none."""
    if text is None:
        return
    fault = complaint(text)
    if fault is not None:
        yield _NO_HOOKS.format(file=file, fault=fault)
    elif object_of(inside(json.loads(text), "hooks")) is None:
        yield _HOOKS.format(file=file)


def of_plan(manifest: Mapping[str, Json]) -> Iterator[str]:
    """What is said of a directory that a plan must not have."""
    directory = inside(manifest, "plan", "directory")
    if truthy(directory) and (not isinstance(directory, str) or _ABSOLUTE.match(directory) or ".." in directory):
        yield _PLAN.format(extension=manifest["name"], directory=template(directory))


def _fault_of_name(name: Json) -> str | None:
    if not isinstance(name, str) or not trim(name):
        return "expected a non-empty string."
    if "\0" in name:
        return "null bytes are not allowed."
    if _ABSOLUTE.match(name):
        return "Absolute paths are not allowed."
    if ".." in name or ".." in _decoded(name):
        return 'Relative parent directory references ("..") are not allowed.'
    return None


def _decoded(text: str) -> str:
    """`decodeURIComponent(text)`, or the text where that throws."""
    if "%" in _ENCODED.sub("", text):
        return text
    try:
        return _ENCODED.sub(lambda match: bytes.fromhex(match[0].replace("%", "")).decode(), text)
    except UnicodeDecodeError:
        return text
