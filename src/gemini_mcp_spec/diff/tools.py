"""Tools compared: their names, their arguments and what is said of them. Pure.

How two schemas of arguments differ is decided in `schemas`.
"""

from collections.abc import Iterator, Mapping

from gemini_mcp.spec.values import Json
from gemini_mcp_spec.diff.change import Change, change, differing
from gemini_mcp_spec.diff.schemas import Direction, compare
from gemini_mcp_spec.files.spec_files import SpecFiles

_PROMISES = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
"""The values that promise a client to be careful; taking such a promise back breaks who relied on it."""


def tool_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Tools that came, went or take other arguments."""
    for name, before, after in differing(_tools(old), _tools(new)):
        if before is None:
            yield change("tool-added", after[0], (), None, name, name=name)
        elif after is None:
            yield change("tool-removed", before[0], (), name, name=name)
        else:
            (_, tool), (file, other) = before, after
            yield from _described(name, file, tool, other)
            schemas = tool.get("inputSchema", True), other.get("inputSchema", True)
            yield from compare(*schemas, Direction.REQUEST, file, ("inputSchema",), f"`{name}`")


def _tools(spec: SpecFiles) -> Mapping[str, tuple[str, Json]]:
    return {str(tool.get("name", file)): (file, tool) for file, tool in spec.folder("server/tools").items()}


def _described(name: str, file: str, old: Json, new: Json) -> Iterator[Change]:
    for key, *values in differing(old, new):
        if key not in ("name", "inputSchema", "annotations"):
            yield change(f"tool-{key}", file, (key,), *values, name=name)
    for key, *values in differing(old.get("annotations", {}), new.get("annotations", {})):
        is_promise = key in _PROMISES and values[0] == _PROMISES[key]
        yield change("tool-promise" if is_promise else "tool-hint", file, ("annotations", key), *values, name=name)
