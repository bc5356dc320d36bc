"""Command lines compared: what may not be sent any more, and what ports have to run instead. Pure.

What callers meet is judged key by key; everything else in `invocation.json` binds ports, so a change of it breaks them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from gemini_mcp.spec.values import Json, is_array, is_object, items, table
from gemini_mcp_spec.diff.change import Change, Severity, Witness, breaking, differing, harmless, leaves, notice
from gemini_mcp_spec.diff.reference import planner
from gemini_mcp_spec.files.positions import Path
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import INVOCATION, tools
from gemini_mcp_spec.files.version import Bump

_UNREADABLE = (AttributeError, KeyError, TypeError, ValueError, re.error)
_TEXTS = ("", " ", "-x", "--help", "help", "mcp", "12", "0x1f", "a\nb", "a\u0000b", "\x1b", "@file", "/help")
_VALUES: Mapping[str, Sequence[Json]] = {
    "boolean": (True, False),
    "integer": (1, 0),
    "number": (1.5, 0),
    "array": (["a", "b"], []),
}


def invocation_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Everything that `invocation.json` says differently, with a call that shows it where one does."""
    before, after = old.documents.get(INVOCATION, {}), new.documents.get(INVOCATION, {})
    calls = _Calls(old, new)
    yield from _refusals(before.get("refusals", {}), after.get("refusals", {}), calls)
    yield from _arguments(before, after, calls)
    yield from _templates(before.get("tools", {}), after.get("tools", {}), calls)
    for key in sorted({*before, *after} - {"arguments", "refusals", "tools"}):
        for path, was, becomes in leaves(before.get(key), after.get(key), (key,)):
            message = f"`{'.'.join(map(str, path))}` is another."
            change = breaking(Severity.PORTS, f"invocation-{key}", INVOCATION, path, message, was, becomes)
            yield replace(change, witness=calls.different())


@dataclass(frozen=True)
class _Calls:
    """The calls that both sides know, and what each side makes of them."""

    old: SpecFiles
    new: SpecFiles

    @cached_property
    def judged(self) -> Sequence[tuple[str, Mapping[str, Json], Json, Json]]:
        """Every valid call of which the two sides make something else, with what that is."""
        try:
            return [call for call in self._all() if call[2] and call[3] and call[2] != call[3]]
        except _UNREADABLE:
            return []

    def different(self, tool: str | None = None) -> Witness | None:
        """A call that runs something else now."""
        for name, arguments, old, new in self.judged:
            if tool in (None, name) and "refused" not in {**old, **new}:
                return Witness({"name": name, "arguments": arguments}, old, new)
        return None

    def refused_now(self, argument: str | None = None) -> Witness | None:
        """A call that is refused now, and was not."""
        for name, arguments, old, new in self.judged:
            if "refused" in new and "refused" not in old and (argument is None or argument in arguments):
                return Witness({"name": name, "arguments": arguments}, "started", f"refused: {new['refused']}")
        return None

    def known(self, tool: str) -> Mapping[str, Json]:
        """The arguments that a tool had before."""
        held = tools(self.old).get(tool)
        return table(held[1].get("properties")) if held else {}

    def _all(self) -> Iterator[tuple[str, Mapping[str, Json], Json, Json]]:
        sides = [spec.documents[INVOCATION] for spec in (self.old, self.new)]
        (old, new), before, after = map(planner, sides), tools(self.old), tools(self.new)
        differ = any(sides[0][key] != sides[1][key] for key in ("forms", "refusals", "arguments"))
        lengths = sorted({limit for side in sides for limit in _limits(side)}) if differ else []
        for name in [name for name in before if name in after]:
            schemas = before[name][1], after[name][1]
            for arguments in _samples(*schemas, lengths):
                yield name, arguments, old(name, schemas[0], arguments), new(name, schemas[1], arguments)


def _limits(invocation: Json) -> Iterator[int]:
    """Every length from which on a text is handed over otherwise or refused."""
    entries = [case for cases in invocation["forms"].values() for case in cases] + [*invocation["refusals"].values()]
    yield from (entry[key] for entry in entries for key in ("longerThan", "maxBytes") if key in entry)


def _samples(old: Json, new: Json, lengths: Sequence[int]) -> Iterator[Mapping[str, Json]]:
    """Calls that tell templates apart: each shared argument there and not there, and values that need care."""
    shared = [name for name in table(old.get("properties")) if name in table(new.get("properties"))]
    values = {name: _values(name, old["properties"][name], lengths) for name in shared}
    full = {name: held[0] for name, held in values.items()}
    least = {name: value for name, value in full.items() if name in old.get("required", ())}
    yield full
    for name, held in values.items():
        yield {other: value for other, value in full.items() if other != name}
        yield {**least, name: full[name]}
        yield from ({**full, name: value} for value in held[1:])


def _values(name: str, schema: Json, lengths: Sequence[int]) -> Sequence[Json]:
    kinds = schema.get("type", "string")
    texts = (f"some {name}", *_TEXTS, *("a" * (length + 1) for length in lengths))
    return schema.get("enum") or _VALUES.get(kinds[0] if is_array(kinds) else kinds, texts)


def _refusals(before: Json, after: Json, calls: _Calls) -> Iterator[Change]:
    for name, old, new in differing(before, after):
        path = ("refusals", name)
        if old is None and new.get("everywhere"):
            message = f"The refusal {name!r} is new and holds for every argument."
            change = breaking(Severity.CALLERS, "refusal-added", INVOCATION, path, message, None, new)
            yield replace(change, witness=calls.refused_now())
        elif old is None:
            message = f"The refusal {name!r} is defined."
            yield harmless(Bump.PATCH, "refusal-defined", INVOCATION, path, message, None, new)
        elif new is None:
            message = f"The refusal {name!r} is gone, so ports have to take what it refused."
            yield notice(Bump.MINOR, "refusal-removed", INVOCATION, path, message, old)
        else:
            yield from _refusal(name, path, old, new, calls)


def _refusal(name: str, path: Path, old: Json, new: Json, calls: _Calls) -> Iterator[Change]:
    for key, *values in differing(old, new):
        place = (*path, key)
        if key == "sentence":
            yield notice(Bump.PATCH, "sentence-reworded", INVOCATION, place, f"{name!r} is said otherwise.", *values)
        elif _frees(key, *values):
            message = f"The refusal {name!r} refuses less, so ports have to take more."
            yield notice(Bump.MINOR, "refusal-wider", INVOCATION, place, message, *values)
        else:
            message = f"The refusal {name!r} refuses what it did not."
            change = breaking(Severity.CALLERS, "refusal-narrower", INVOCATION, place, message, *values)
            yield replace(change, witness=calls.refused_now())


def _frees(key: str, old: Json, new: Json) -> bool:
    if key == "everywhere":
        return not new
    return key == "maxBytes" and isinstance(old, int) and isinstance(new, int) and new > old


def _arguments(before: Json, after: Json, calls: _Calls) -> Iterator[Change]:
    known = {name for tool in tools(calls.old) for name in calls.known(tool)}
    for name, was, becomes in differing(before.get("arguments", {}), after.get("arguments", {})):
        old, new = table(was), table(becomes)
        if name not in known:
            yield harmless(Bump.MINOR, "argument-rule", INVOCATION, ("arguments", name), f"`{name}` is new.", None, new)
            continue
        for key, *values in differing(old, new):
            path = ("arguments", name, key)
            if key == "refuse":
                yield from _refused(name, path, items(values[0]), items(values[1]), calls)
            else:
                message = f"`{key}` of the argument `{name}` is another."
                change = breaking(Severity.PORTS, f"argument-{key}", INVOCATION, path, message, *values)
                yield replace(change, witness=calls.different())


def _refused(name: str, path: Path, old: Sequence[Json], new: Sequence[Json], calls: _Calls) -> Iterator[Change]:
    for refusal in [entry for entry in new if entry not in old]:
        message = f"`{name}` is refused now when it is {refusal!r}."
        change = breaking(Severity.CALLERS, "refusal-added", INVOCATION, path, message, None, refusal)
        yield replace(change, witness=calls.refused_now(name))
    for refusal in [entry for entry in old if entry not in new]:
        message = f"`{name}` is refused no longer when it is {refusal!r}, so ports have to take it."
        yield notice(Bump.MINOR, "refusal-removed", INVOCATION, path, message, refusal)


def _templates(before: Json, after: Json, calls: _Calls) -> Iterator[Change]:
    for name, old, new in differing(before, after):
        path = ("tools", name)
        if old is None:
            message = f"The tool `{name}` has a template."
            yield harmless(Bump.MINOR, "template-added", INVOCATION, path, message, None, new)
        elif new is None:
            message = f"The template of `{name}` is gone."
            yield breaking(Severity.PORTS, "template-removed", INVOCATION, path, message, old)
        else:
            yield from (_template(name, *change, calls) for change in differing(old, new))


def _template(name: str, key: str, old: Json, new: Json, calls: _Calls) -> Change:
    path, message = ("tools", name, key), f"`{key}` of `{name}` is another."
    if key == "private":
        severity = Severity.CALLERS if set(old or ()) - set(new or ()) else Severity.PORTS
        return breaking(severity, "template-private", INVOCATION, path, message, old, new)
    if key == "argv" and _only_new(old, new, calls.known(name)):
        message = f"`{key}` of `{name}` hands over a new argument."
        return harmless(Bump.MINOR, f"template-{key}", INVOCATION, path, message, old, new)
    change = breaking(Severity.PORTS, f"template-{key}", INVOCATION, path, message, old, new)
    return replace(change, witness=calls.different(name))


def _only_new(old: Json, new: Json, known: Mapping[str, Json]) -> bool:
    """Whether a command line grew only by elements for arguments that no call could carry before."""
    return items(old) == [
        element for element in items(new) if not (is_object(element) and element.get("with") not in (None, *known))
    ]
