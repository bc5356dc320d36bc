"""Tools compared: their names, their arguments and what is said of them. Pure.

How two schemas of arguments differ is decided in `schemas`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gemini_mcp.schema.judgement import Direction
from gemini_mcp.schema.patterns import candidates, is_readable
from gemini_mcp.schema.validation import is_valid
from gemini_mcp.spec.families import OTHER, kebab
from gemini_mcp.spec.values import ABSENT, Json, differing, inside, items, table
from gemini_mcp_spec.diff.change import Change, change
from gemini_mcp_spec.diff.rules import Severity
from gemini_mcp_spec.diff.schemas import compare
from gemini_mcp_spec.files.requirements import written
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import INVOCATION, is_length
from gemini_mcp_spec.reference.answers import refusal

_PROMISES = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
"""The values that promise harmlessness; a hint that is not there is the opposite. To take one back breaks clients."""
_ASKED_BY = ("readOnlyHint", "destructiveHint")
"""The hints by which clients decide whether to ask: a new promise takes a question away from their users."""

_OF_TEXTS = ("minLength", "maxLength", "pattern")
"""The keywords that forbid texts, as rules of `invocation.json` do."""


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
            found = compare(*schemas, Direction.REQUEST, file, ("inputSchema",), f"`{name}`")
            yield from (_judged(each, name, schemas, old, new) for each in found)


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


def _judged(found: Change, name: str, schemas: tuple[Json, Json], old: SpecFiles, new: SpecFiles) -> Change:
    """The change of a schema; no caller is broken by one that forbids only what a rule has refused anyway."""
    if not (
        found.severity is Severity.CALLERS and found.path[-1] in _OF_TEXTS and found.path[-3:-2] == ("properties",)
    ):
        return found
    argument, keyword = map(str, found.path[-2:])
    sides = [table(inside(side, "properties", argument)) for side in schemas]
    texts = [text for text in _texts(keyword, sides) if is_valid(text, sides[0]) and not is_valid(text, sides[1])]
    rules = {refusal(old.documents.get(INVOCATION, {}), name, argument, text) for text in texts}
    if not texts or None in rules:
        return found
    names = sorted(map(str, rules))
    is_new = _binds(new, "restricted-argument") and not all(_binds(old, "refusal", name) for name in names)
    refused = " and ".join(f"`{each}`" for each in names)
    kind, values = "argument-refused" if is_new else "argument-refusable", (found.old, found.new)
    one = change(kind, found.file, found.path, *values, name=name, argument=argument, rules=refused)
    return replace(one, witness=found.witness and replace(found.witness, old=f"refused by {refused}"))


def _binds(spec: SpecFiles, family: str, refusal: str | None = None) -> bool:
    """Whether a MUST stands for a family, or for one rule that refuses arguments: the statement that speaks of it."""
    entries = [entry for _, _, entry in written(spec)]
    about = [entry for entry in entries if entry.get("for") == family]
    if refusal is not None:
        named = [entry for entry in entries if refusal == (entry.get("refusal") or entry.get("where", {})).get(family)]
        about = named or [entry for entry in entries if entry.get("for") == f"{OTHER}{family}"]
    return any(entry.get("level") == "MUST" for entry in about)


def _texts(keyword: str, sides: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """Texts that a keyword may forbid."""
    values = [side[keyword] for side in sides if keyword in side]
    if keyword == "pattern":
        patterns = [str(value) for value in values]
        yield from candidates(patterns) if all(map(is_readable, patterns)) else ()
    else:
        lengths = {length + step for length in values if isinstance(length, int) for step in (-1, 0, 1)}
        yield from ("x" * length for length in sorted(lengths) if is_length(length))
