"""Compares what a server offered with what it offers now: its introduction and its lists. Pure.

How two schemas differ, and which value shows it, is decided in `gemini_mcp.schema`.
"""

from collections.abc import Iterator, Mapping

from gemini_mcp.host.locks.change import Change, change, of_schema
from gemini_mcp.host.locks.rules import ARGUMENTS, RESULTS
from gemini_mcp.host.rules.profiles import profiles
from gemini_mcp.host.tools import hidden
from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import shown
from gemini_mcp.report.witness import Witness
from gemini_mcp.schema.inline import canonical
from gemini_mcp.schema.judgement import Direction, judge
from gemini_mcp.spec.values import Json, is_object, items, table

_TOLD = ("description", "title")
_SCHEMAS = ("inputSchema", "outputSchema")


def offer_changes(old: Mapping[str, Json], new: Mapping[str, Json], path: Path) -> Iterator[Change]:
    """Every difference of two offers."""
    yield from _introduction_changes(old, new, path)
    for kind, compare in (("tools", _tool_changes), ("prompts", _prompt_changes), ("resources", _resource_changes)):
        before, after = table(old.get(kind)), table(new.get(kind))
        for name in sorted(before.keys() | after.keys()):
            place, one = (*path, kind, name), kind.removesuffix("s")
            if name not in after:
                yield change(f"{one}-removed", place, {"name": shown(name)}, before[name])
            elif name not in before:
                yield change(f"{one}-added", place, {"name": shown(name)}, None, after[name])
                # A tool that is new may bring hidden text in its name as well.
                yield from _text_changes(name, {}, {"name": name, **table(after[name])}, place)
            elif not (is_object(before[name]) and is_object(after[name])):
                if before[name] != after[name]:
                    words = {"name": shown(name), "key": "entry"}
                    yield change(f"{one}-changed", place, words, before[name], after[name])
            else:
                yield from compare(name, before[name], after[name], place)
                yield from _text_changes(name, before[name], after[name], place)


def _differing(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[tuple[str, Json, Json]]:
    """Every member that differs, with both values."""
    for key in sorted(old.keys() | new.keys()):
        if canonical(old.get(key)) != canonical(new.get(key)):
            yield key, old.get(key), new.get(key)


def _introduction_changes(old: Mapping[str, Json], new: Mapping[str, Json], path: Path) -> Iterator[Change]:
    for key, *values in _differing(table(old.get("serverInfo")), table(new.get("serverInfo"))):
        yield change("server-info", (*path, "serverInfo", key), {"key": key}, *values)
    for key, was, becomes in _differing(table(old.get("capabilities")), table(new.get("capabilities"))):
        kind = "added" if was is None else "removed" if becomes is None else "changed"
        yield change(f"capability-{kind}", (*path, "capabilities", key), {"key": key}, was, becomes)
    for key, kind in (("protocolVersion", "protocol"), ("instructions", "instructions")):
        if old.get(key) != new.get(key):
            yield change(kind, (*path, key), {}, old.get(key), new.get(key))
    was, becomes = ({"instructions": side.get("instructions") or ""} for side in (old, new))
    yield from _text_changes("the server", was, becomes, path)


def _tool_changes(name: str, old: Mapping[str, Json], new: Mapping[str, Json], path: Path) -> Iterator[Change]:
    subject = shown(name)
    before, after = (side.get("inputSchema", True) for side in (old, new))
    yield from _schema_changes("arguments", subject, before, after, (*path, "inputSchema"))
    yield from _result_changes(subject, old, new, path)
    for key, *values in _differing(table(old.get("annotations")), table(new.get("annotations"))):
        yield change("tool-annotated", (*path, "annotations", key), {"name": subject, "key": key}, *values)
    for key, *values in _differing(old, new):
        if key not in (*_SCHEMAS, "annotations"):
            kind = "tool-described" if key in _TOLD else "tool-changed"
            yield change(kind, (*path, key), {"name": subject, "key": key}, *values)


def _schema_changes(kind: str, subject: str, old: Json, new: Json, path: Path) -> Iterator[Change]:
    """The differences of two schemas; one that asserts nothing, as in an unused definition, is a change of the tool."""
    is_result = kind == "result"
    direction, verdicts = (Direction.REPORT, RESULTS) if is_result else (Direction.REQUEST, ARGUMENTS)
    found = [*judge(old, new, direction, f"results of {subject}" if is_result else subject)]
    yield from (of_schema(kind, path, one, verdicts) for one in found)
    if not found and canonical(old) != canonical(new):
        yield change("tool-changed", path, {"name": subject, "key": str(path[-1])}, old, new)


def _result_changes(subject: str, old: Mapping[str, Json], new: Mapping[str, Json], path: Path) -> Iterator[Change]:
    place = (*path, "outputSchema")
    before, after = old.get("outputSchema"), new.get("outputSchema")
    if before is not None and after is not None:
        yield from _schema_changes("result", subject, before, after, place)
    elif before is not after:
        kind = "results-declared" if before is None else "results-undeclared"
        yield change(kind, place, {"name": subject}, before, after)


def _prompt_changes(name: str, old: Mapping[str, Json], new: Mapping[str, Json], path: Path) -> Iterator[Change]:
    for key, *values in _differing(old, new):
        if key == "arguments":
            before, after = map(_arguments, values)
            found = [*_argument_changes(name, before, after, (*path, key)), *_order_changes(name, before, after, path)]
            yield from found or [change("prompt-changed", (*path, key), {"name": shown(name), "key": key}, *values)]
        else:
            yield change("prompt-changed", (*path, key), {"name": shown(name), "key": key}, *values)


def _arguments(listed: Json) -> Mapping[str, Json]:
    return {str(table(one).get("name")): one for one in items(listed)}


def _argument_changes(name: str, old: Mapping[str, Json], new: Mapping[str, Json], path: Path) -> Iterator[Change]:
    given = {argument: "a" for argument, one in old.items() if table(one).get("required") is True}
    order = {argument: index for index, argument in enumerate(new)}
    for argument in sorted(old.keys() | new.keys()):
        before, after = table(old.get(argument)), table(new.get(argument))
        place = (*path, order[argument]) if argument in order else path
        words = {"name": shown(name), "argument": shown(argument)}
        if argument not in new:
            yield change("prompt-argument-removed", place, words, before)
        elif after.get("required") is True and before.get("required") is not True:
            called = {"prompt": name, "arguments": {one: value for one, value in given.items() if one != argument}}
            witness = Witness(called, "accepted", "rejected")
            yield change("prompt-argument-required", place, words, old.get(argument), after, witness)
        elif argument not in old:
            yield change("prompt-argument-added", place, words, None, after)
        else:
            yield from _kept_argument_changes(before, after, place, words)


def _order_changes(name: str, old: Mapping[str, Json], new: Mapping[str, Json], path: Path) -> Iterator[Change]:
    before, after = ([one for one in side if one in old and one in new] for side in (old, new))
    if before != after:
        yield change("prompt-arguments-reordered", (*path, "arguments"), {"name": shown(name)}, before, after)


def _kept_argument_changes(
    old: Mapping[str, Json], new: Mapping[str, Json], path: Path, words: Mapping[str, str]
) -> Iterator[Change]:
    for key, *values in _differing(old, new):
        is_freed = key == "required" and values[0] is True
        kind = "prompt-argument-optional" if is_freed else "prompt-argument-changed"
        # `required: false` means the same as no `required`.
        if is_freed or values != [None, False]:
            yield change(kind, (*path, key), {**words, "key": key}, *values)


def _resource_changes(name: str, old: Mapping[str, Json], new: Mapping[str, Json], path: Path) -> Iterator[Change]:
    for key, *values in _differing(old, new):
        yield change("resource-changed", (*path, key), {"name": shown(name), "key": key}, *values)


def _text_changes(name: str, old: Json, new: Json, path: Path) -> Iterator[Change]:
    """Text that came: what nobody sees, and what orders a model about."""
    # A description that speaks of Gemini CLI's own tools may be meant to direct their use.
    foreign = frozenset(tool for rules in profiles().values() for tool in rules.builtin_tools)
    before, after = list(hidden.texts(old)), list(hidden.texts(new))
    seen = {point for _, text in before for point in hidden.invisible(text)}
    ordered = {hidden.orders(text, foreign) for _, text in before}
    for place, text in after:
        words = {"name": shown(name), "place": place}
        if points := [point for point in hidden.invisible(text) if point not in seen]:
            yield change("hidden-text", path, {**words, "points": ", ".join(points)})
        order = hidden.orders(text, foreign)
        if order is not None and order not in ordered:
            yield change("order", path, {**words, "order": shown(order)})
