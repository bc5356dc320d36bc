"""Command lines compared: what may not be sent any more, and what ports have to run instead. Pure.

What callers meet is judged key by key; everything else in `invocation.json` binds ports, so a change of it breaks them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from gemini_mcp_conformance.gate.change import Change, Verdict, Witness, breaking, harmless, notice
from gemini_mcp_conformance.gate.positions import Json, Path, is_array, is_object
from gemini_mcp_conformance.gate.rendering import rendered, samples, sizes
from gemini_mcp_conformance.gate.rules.server import INVOCATION, tools
from gemini_mcp_conformance.gate.spec_files import SpecFiles
from gemini_mcp_conformance.gate.versions import Bump

_UNREADABLE = (AttributeError, KeyError, TypeError, ValueError, re.error)


def invocation_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Everything that `invocation.json` says differently, with a call that shows it where one does."""
    before, after = old.documents.get(INVOCATION, {}), new.documents.get(INVOCATION, {})
    calls = _Calls(before, after, _shared(old, new))
    yield from _refusals(before.get("refusals", {}), after.get("refusals", {}), calls)
    yield from _arguments(before, after, _arguments_of(old), calls)
    yield from _templates(before.get("tools", {}), after.get("tools", {}), calls)
    for key in sorted({*before, *after} - {"arguments", "refusals", "tools"}):
        if before.get(key) != after.get(key):
            yield from _leaves(("invocation", key), (key,), before.get(key), after.get(key), calls)


class _Calls:
    """The calls that both sides know, and what each side makes of them."""

    def __init__(self, before: Json, after: Json, names: Mapping[str, Iterable[str]]) -> None:
        self.before, self.after, self.names = before, after, names

    @cached_property
    def judged(self) -> list[tuple[str, dict[str, str], Json, Json]]:
        """Every call of which the two sides make something else, with what that is."""
        try:
            return [call for call in self._all() if call[2] != call[3]]
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

    def _all(self) -> Iterator[tuple[str, dict[str, str], Json, Json]]:
        lengths = sorted(sizes(self.before) | sizes(self.after)) if self._limits_differ() else []
        for name, properties in self.names.items():
            for arguments in samples(properties, lengths):
                yield name, arguments, rendered(self.before, name, arguments), rendered(self.after, name, arguments)

    def _limits_differ(self) -> bool:
        keys = ("forms", "refusals", "arguments")
        return any(self.before.get(key) != self.after.get(key) for key in keys)


def _shared(old: SpecFiles, new: SpecFiles) -> Mapping[str, Iterable[str]]:
    before, after = tools(old), tools(new)
    return {
        name: [
            key
            for key, value in schema.get("properties", {}).items()
            if _texts(value) and key in _properties(after[name])
        ]
        for name, (_, schema) in before.items()
        if name in after
    }


def _texts(schema: Json) -> bool:
    return is_object(schema) and schema.get("type", "string") == "string"


def _properties(tool: tuple[str, Json]) -> Mapping[str, Json]:
    return tool[1].get("properties", {})


def _arguments_of(spec: SpecFiles) -> set[str]:
    return {name for tool in tools(spec).values() for name in _properties(tool)}


def _refusals(before: Json, after: Json, calls: _Calls) -> Iterator[Change]:
    for name in sorted({*before, *after}):
        path, old, new = ("refusals", name), before.get(name), after.get(name)
        if old == new:
            continue
        if old is None:
            yield _added(name, path, new, calls)
        elif new is None:
            message = f"The refusal {name!r} is gone, so ports have to take what it refused."
            yield notice(Bump.MINOR, "refusal-removed", INVOCATION, path, message, old)
        else:
            yield from _refusal(name, path, old, new, calls)


def _added(name: str, path: Path, new: Json, calls: _Calls) -> Change:
    if not new.get("everywhere"):
        return harmless(Bump.PATCH, "refusal-defined", INVOCATION, path, f"The refusal {name!r} is defined.", None, new)
    message = f"The refusal {name!r} is new and holds for every argument."
    change = breaking(Verdict.CALLERS, "refusal-added", INVOCATION, path, message, None, new)
    return replace(change, witness=calls.refused_now())


def _refusal(name: str, path: Path, old: Json, new: Json, calls: _Calls) -> Iterator[Change]:
    for key in sorted({*old, *new}):
        values = old.get(key), new.get(key)
        if values[0] == values[1]:
            continue
        place = (*path, key)
        if key == "sentence":
            yield notice(Bump.PATCH, "sentence-reworded", INVOCATION, place, f"{name!r} is said otherwise.", *values)
        elif _frees(key, values):
            message = f"The refusal {name!r} refuses less, so ports have to take more."
            yield notice(Bump.MINOR, "refusal-wider", INVOCATION, place, message, *values)
        else:
            message = f"The refusal {name!r} refuses what it did not."
            change = breaking(Verdict.CALLERS, "refusal-narrower", INVOCATION, place, message, *values)
            yield replace(change, witness=calls.refused_now())


def _frees(key: str, values: tuple[Json, Json]) -> bool:
    if key == "everywhere":
        return not values[1]
    numbers = [value for value in values if isinstance(value, int)]
    return key == "maxBytes" and len(numbers) == 2 and numbers[1] > numbers[0]


def _arguments(before: Json, after: Json, known: set[str], calls: _Calls) -> Iterator[Change]:
    rules, others = before.get("arguments", {}), after.get("arguments", {})
    for name in sorted({*rules, *others}):
        old, new = rules.get(name, {}), others.get(name, {})
        if old == new:
            continue
        if name not in known:
            yield harmless(Bump.MINOR, "argument-rule", INVOCATION, ("arguments", name), f"`{name}` is new.", None, new)
            continue
        yield from _refused(name, old.get("refuse", []), new.get("refuse", []), calls)
        for key in sorted({*old, *new} - {"refuse"}):
            if old.get(key) != new.get(key):
                path = ("arguments", name, key)
                message = f"`{key}` of the argument `{name}` is another."
                change = breaking(
                    Verdict.PORTS, f"argument-{key}", INVOCATION, path, message, old.get(key), new.get(key)
                )
                yield replace(change, witness=calls.different())


def _refused(name: str, old: list[str], new: list[str], calls: _Calls) -> Iterator[Change]:
    path = ("arguments", name, "refuse")
    for refusal in [entry for entry in new if entry not in old]:
        message = f"`{name}` is refused now when it is {refusal!r}."
        change = breaking(Verdict.CALLERS, "refusal-added", INVOCATION, path, message, None, refusal)
        yield replace(change, witness=calls.refused_now(name))
    for refusal in [entry for entry in old if entry not in new]:
        message = f"`{name}` is refused no longer when it is {refusal!r}, so ports have to take it."
        yield notice(Bump.MINOR, "refusal-removed", INVOCATION, path, message, refusal)


def _templates(before: Json, after: Json, calls: _Calls) -> Iterator[Change]:
    for name in sorted({*before, *after}):
        if name not in before:
            message = f"The tool `{name}` has a template."
            yield harmless(Bump.MINOR, "template-added", INVOCATION, ("tools", name), message, None, after[name])
        elif name not in after:
            message = f"The template of `{name}` is gone."
            yield breaking(Verdict.PORTS, "template-removed", INVOCATION, ("tools", name), message, before[name])
        else:
            for key in sorted({*before[name], *after[name]}):
                old, new = before[name].get(key), after[name].get(key)
                if old != new:
                    yield _template(name, key, old, new, calls)


def _template(name: str, key: str, old: Json, new: Json, calls: _Calls) -> Change:
    path = ("tools", name, key)
    message = f"`{key}` of `{name}` is another."
    if key == "private":
        lost = set(old or ()) - set(new or ())
        verdict = Verdict.CALLERS if lost else Verdict.PORTS
        return breaking(verdict, "template-private", INVOCATION, path, message, old, new)
    if _only_new(key, old, new, calls):
        message = f"`{key}` of `{name}` hands over a new argument."
        return harmless(Bump.MINOR, f"template-{key}", INVOCATION, path, message, old, new)
    change = breaking(Verdict.PORTS, f"template-{key}", INVOCATION, path, message, old, new)
    return replace(change, witness=calls.different(name))


def _only_new(key: str, old: Json, new: Json, calls: _Calls) -> bool:
    """Whether a command line grew only by elements for arguments that no call could carry before."""
    known = {name for properties in calls.names.values() for name in properties}
    if key != "argv" or not is_array(old) or not is_array(new):
        return False
    return old == [
        element for element in new if not (is_object(element) and element.get("with", "") not in {*known, ""})
    ]


def _leaves(rule: tuple[str, str], path: Path, old: Json, new: Json, calls: _Calls) -> Iterator[Change]:
    """One change for each value that differs, as deep as both sides are objects."""
    if is_object(old) and is_object(new):
        for key in sorted({*old, *new}):
            if old.get(key) != new.get(key):
                yield from _leaves(rule, (*path, key), old.get(key), new.get(key), calls)
        return
    message = f"`{'.'.join(map(str, path))}` is another."
    change = breaking(Verdict.PORTS, "-".join(rule), INVOCATION, path, message, old, new)
    yield replace(change, witness=calls.different())
