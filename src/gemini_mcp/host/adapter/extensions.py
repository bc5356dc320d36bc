"""Vectors about extensions: what `mcp list` says of those installed, and one server that an extension shares. Pure."""

import json
import posixpath
from collections.abc import Mapping
from dataclasses import replace

from gemini_mcp.host.command.mcp_listing import listing
from gemini_mcp.host.command.mcp_values import Failed
from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.host.settings.extensions import Installed, Shelf, installed
from gemini_mcp.host.settings.loading import Layer, load
from gemini_mcp.host.settings.merging import merged, with_extensions
from gemini_mcp.host.settings.standing import Circumstances, Standing, placed
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, table

MARK, ROOT = "<ROOT>", "/root-of-vectors"
"""What a vector writes for the folder of both, and a folder in its place, since places are judged."""

HOME, WORKSPACE = f"{ROOT}/home", f"{ROOT}/proj"
SETTINGS_FILE = f"{WORKSPACE}/.gemini/settings.json"
CRITICAL = "An unexpected critical error occurred:Error: Extension with name {name} already was loaded."


def extensions(value: JsonObject, rules: Rules) -> Json:
    """`{extension, settings}` to the server that both configure; `{files, ...}` to what `mcp list` says."""
    if rules.extensions is not None and "extension" in value:
        return {"merged": merged(value["extension"], value["settings"], rules.extensions)}
    return json.loads(stringify(_listed(json.loads(stringify(value).replace(MARK, ROOT)), rules)).replace(ROOT, MARK))


def _listed(value: JsonObject, rules: Rules) -> JsonObject:
    """What `mcp list` says, and its exit code."""
    environment = {**value.get("environment", {}), "HOME": HOME}
    found = _installed(value, environment, rules)
    warned = "".join(f"{warning}\n" for warning in found.warnings)
    if found.twice is not None:
        return {"exit": 1, "said": (warned + CRITICAL.format(name=found.twice)).partition("\n")[0]}
    own = load([Layer("project", SETTINGS_FILE, stringify(value.get("settings", {})))], environment, rules)
    settings = with_extensions(own, found, rules)
    servers = placed(replace(settings, servers=settings.listed), Circumstances(), rules)
    states = {one.server.name: one.standing.value for one in servers if one.standing is not Standing.STARTED}
    try:
        return {"exit": 0, "said": warned + listing([one.server for one in servers], states, rules)}
    except Failed as failure:
        return {"exit": 1, "said": (warned + failure.said).partition("\n")[0]}


def _installed(value: JsonObject, environment: Mapping[str, str], rules: Rules) -> Installed:
    """What is installed; `files` has texts and values of files by their place in the folder of extensions."""
    if rules.extensions is None:
        return Installed()
    directory = posixpath.join(HOME, rules.extensions.folder)
    files = {posixpath.join(directory, place): _text(content) for place, content in table(value["files"]).items()}
    if "variables" in value:
        files[posixpath.join(WORKSPACE, rules.extensions.variables)] = value["variables"]
    folders = {place.partition("/")[0] for place in value["files"] if "/" in place}
    shelf = Shelf(directory, tuple(sorted(folders, key=str.encode)), files.get, WORKSPACE)
    return installed(shelf, environment, rules)


def _text(content: Json) -> str:
    return content if isinstance(content, str) else stringify(content)
