"""Tools compared: their names, arguments and what is said of them, in every language. Pure."""

from collections.abc import Iterator, Mapping

from gemini_mcp_conformance.gate.areas.schemas import Direction, compare
from gemini_mcp_conformance.gate.change import Change, Verdict, breaking, harmless, notice
from gemini_mcp_conformance.gate.positions import Json
from gemini_mcp_conformance.gate.spec_files import SpecFiles
from gemini_mcp_conformance.gate.versions import Bump

_PROMISES = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
"""The values that promise a client to be careful; taking such a promise back breaks who relied on it."""


def tool_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Tools that came, went or take other arguments."""
    before, after = _tools(old), _tools(new)
    for name in sorted({*before, *after}):
        if name not in before:
            yield harmless(Bump.MINOR, "tool-added", after[name][0], (), f"The tool `{name}` is new.", None, name)
        elif name not in after:
            yield breaking(Verdict.CALLERS, "tool-removed", before[name][0], (), f"The tool `{name}` is gone.", name)
        else:
            (_, tool), (file, other) = before[name], after[name]
            yield from _described(name, file, tool, other)
            schemas = tool.get("inputSchema", True), other.get("inputSchema", True)
            yield from compare(*schemas, Direction.REQUEST, file, ("inputSchema",), f"`{name}`")


def locale_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Languages that came, went or say something else."""
    before, after = old.folder("server/locales"), new.folder("server/locales")
    for file in sorted({*before, *after}):
        if file not in before:
            yield harmless(Bump.MINOR, "locale-added", file, (), f"The locale `{file}` is new.")
        elif file not in after:
            yield breaking(Verdict.CALLERS, "locale-removed", file, (), f"The locale `{file}` is gone.")
        elif before[file] != after[file]:
            yield notice(
                Bump.PATCH, "locale-reworded", file, (), f"`{file}` says something else.", before[file], after[file]
            )


def _tools(spec: SpecFiles) -> Mapping[str, tuple[str, Json]]:
    return {str(tool.get("name", file)): (file, tool) for file, tool in spec.folder("server/tools").items()}


def _described(name: str, file: str, old: Json, new: Json) -> Iterator[Change]:
    for key in sorted({*old, *new} - {"name", "inputSchema", "annotations"}):
        if old.get(key) != new.get(key):
            known = key in ("title", "description")
            verdict, bump = (Verdict.NOTICE, Bump.PATCH) if known else (Verdict.CALLERS, Bump.MAJOR)
            message = f"`{key}` of `{name}` is another."
            yield Change(f"tool-{key}", verdict, bump, file, (key,), message, old.get(key), new.get(key))
    hints, others = old.get("annotations", {}), new.get("annotations", {})
    for key in sorted({*hints, *others}):
        if hints.get(key) != others.get(key):
            withdrawn = key in _PROMISES and hints.get(key) == _PROMISES[key]
            verdict, bump = (Verdict.CALLERS, Bump.MAJOR) if withdrawn else (Verdict.NOTICE, Bump.PATCH)
            message = f"The hint `{key}` of `{name}` was {hints.get(key)!r} and is {others.get(key)!r}."
            path = ("annotations", key)
            yield Change("tool-hint", verdict, bump, file, path, message, hints.get(key), others.get(key))
