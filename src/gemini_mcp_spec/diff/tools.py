"""Tools compared: their names, their arguments and what is said of them. Pure.

How two schemas of arguments differ is decided in `schemas`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gemini_mcp.schema.judgement import Direction
from gemini_mcp.spec.families import kebab
from gemini_mcp.spec.values import ABSENT, Json, differing, inside, items, table
from gemini_mcp_spec.diff.change import Change, change
from gemini_mcp_spec.diff.schemas import compare
from gemini_mcp_spec.files.requirements import written
from gemini_mcp_spec.files.spec_files import SpecFiles

_PROMISES = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
"""The values that promise harmlessness; a hint that is not there is the opposite. To take one back breaks clients."""
_ASKED_BY = ("readOnlyHint", "destructiveHint")
"""The hints by which clients decide whether to ask: a new promise takes a question away from their users."""


def tool_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Tools that came, went or take other arguments."""
    for name, before, after in differing(_tools(old), _tools(new)):
        if before is ABSENT:
            yield change("tool-added", after[0], ("name",), ABSENT, name, name=name)
        elif after is ABSENT:
            place = ("name",) if before[0] in new.files else ()
            yield change("tool-removed", before[0], place, name, name=name)
        else:
            (_, tool), (file, other) = before, after
            yield from _described(name, file, tool, other)
            yield from _left_out(name, file, tool, other, old)
            schemas = tool.get("inputSchema", True), other.get("inputSchema", True)
            yield from compare(*schemas, Direction.REQUEST, file, ("inputSchema",), f"`{name}`")


def _tools(spec: SpecFiles) -> Mapping[str, tuple[str, Json]]:
    return {str(tool.get("name", file)): (file, tool) for file, tool in spec.folder("server/tools").items()}


def _described(name: str, file: str, old: Json, new: Json) -> Iterator[Change]:
    for key, *values in differing(old, new):
        if key not in ("name", "inputSchema", "annotations"):
            yield change(f"tool-{key}", file, (key,), *values, name=name)
    for key, *values in differing(old.get("annotations", {}), new.get("annotations", {})):
        was, becomes = (key in _PROMISES and value == _PROMISES[key] for value in values)
        # A promise taken back is a break; so is a new one, where clients stop asking because of it.
        breaks = was is not becomes and (was or key in _ASKED_BY)
        yield change("tool-promise" if breaks else "tool-hint", file, ("annotations", key), *values, name=name)


def _left_out(name: str, file: str, old: Json, new: Json, spec: SpecFiles) -> Iterator[Change]:
    """Arguments that a call may leave out, although ports had to refuse it."""
    families = [entry for _, _, entry in written(spec) if entry.get("for") == "required-argument"]
    musts = [str(entry["id"]) for entry in families if entry.get("level") == "MUST"]
    path = ("inputSchema", "required")
    required, kept = (items(inside(side, *path)) for side in (old, new))
    for argument in [one for one in required if one not in kept] if musts else ():
        if argument in table(inside(new, "inputSchema", "properties")):
            ids = tuple(must.replace("{argument}", kebab(argument)) for must in musts)
            words: Mapping[str, Json] = {"argument": argument, "forbidden": f"`{ids[0]}`"}
            one = change("argument-optional", file, path, required, kept, witness=None, name=name, **words)
            yield replace(one, requirements=ids)
