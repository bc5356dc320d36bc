"""Results and errors compared: what callers read in them, and what ports read in gemini's output. Pure.

What a change of one section of `outcome.json` means is one branch of `outcome_changes`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from gemini_mcp.spec.values import Json, items, table
from gemini_mcp_spec.diff.change import Change, Witness, change, differing, leaves, listed, one_sided
from gemini_mcp_spec.diff.reference import sentences_by_exit
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import OUTCOME

_MASKS = ("stderr", "masks")
_FIELD = re.compile(r"\{[a-z]+\}")
_UNREADABLE = (AttributeError, KeyError, TypeError, ValueError, re.error)


def outcome_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Everything that `outcome.json` says differently."""
    documents = old.documents.get(OUTCOME, {}), new.documents.get(OUTCOME, {})
    for key, before, after in differing(*documents):
        match key:
            case "sentences":
                yield from _sentences(items(before), items(after), cache(lambda: _told_otherwise(*documents)))
            case "notices":
                for name, *values in differing(table(before), table(after)):
                    path = (key, name)
                    if None in values:
                        yield one_sided("notice", OUTCOME, path, *values, name=name)
                    else:
                        yield change("sentence-reworded", OUTCOME, path, *values, name=name)
            case "said":
                yield change("sentence-reworded", OUTCOME, (key,), before, after, name=key)
            case _:
                yield from _section(key, before, after)


def _section(section: str, old: Json, new: Json) -> Iterator[Change]:
    for path, *values in leaves(old, new, (section,)):
        if path != _MASKS:
            yield change(f"outcome-{section}", OUTCOME, path, *values)
        elif changes := listed("mask", OUTCOME, _MASKS, *map(items, values)):
            yield from changes
        else:
            yield change("mask-order", OUTCOME, _MASKS, *values)


def _told_otherwise(old: Json, new: Json) -> Witness | None:
    """An exit code of which the two sides say something else, where there is one."""
    try:
        before, after = sentences_by_exit(old), sentences_by_exit(new)
    except _UNREADABLE:
        return None
    code = next((code for code in before if before[code] != after[code]), None)
    said = f"says {before.get(code)!r}", f"says {after.get(code)!r}"
    return None if code is None else Witness({"exit": code, "stderr": ""}, *said)


def _sentences(old: Sequence[Json], new: Sequence[Json], witness: Callable[[], Witness | None]) -> Iterator[Change]:
    before = {str(entry.get("id")): entry for entry in old}
    after = {str(entry.get("id")): entry for entry in new}
    places = {name: ("sentences", index) for index, name in enumerate(after)}
    for name in [name for name in before if name not in after]:
        yield change("sentence-removed", OUTCOME, ("sentences",), before[name], witness=witness, name=name)
    for name, entry in after.items():
        if name not in before:
            yield change("sentence-added", OUTCOME, places[name], None, entry, name=name)
            continue
        for key, *values in differing(before[name], entry):
            rule = _rule(key, before[name], entry)
            yield change(rule, OUTCOME, (*places[name], key), *values, witness=witness, name=name)
    kept = [[name for name in names if name in before and name in after] for names in (before, after)]
    if kept[0] != kept[1]:
        yield change("sentence-order", OUTCOME, ("sentences",), *kept, witness=witness)


def _rule(key: str, old: Mapping[str, Json], new: Mapping[str, Json]) -> str:
    """What it means that a key of a sentence has another value."""
    match key:
        case "sentence":
            fields = [set(_FIELD.findall(str(entry.get(key)))) for entry in (old, new)]
            return "sentence-reworded" if fields[0] == fields[1] else "sentence-fields"
        case "exit" if key not in new or (key in old and set(old[key]) <= set(new[key])):
            return "sentence-extended"
        case "cause" | "names":
            return f"sentence-{key}"
        case _:
            return "sentence-condition"
