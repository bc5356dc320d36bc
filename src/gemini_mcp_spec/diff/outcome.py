"""Results and errors compared: what callers read in them, and what ports read in gemini's output. Pure.

What a change of one section of `outcome.json` means is one branch of `outcome_changes`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from gemini_mcp.spec.values import Json, items, table
from gemini_mcp_spec.diff.change import Change, Severity, Witness, breaking, differing, harmless, leaves, notice
from gemini_mcp_spec.diff.reference import sentences_by_exit
from gemini_mcp_spec.files.positions import Path
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import OUTCOME
from gemini_mcp_spec.files.version import Bump

_CALLERS = frozenset({"prefix", "separator", "meta"})
"""What callers read; everything else that is not named below binds ports."""

_MASKS = ("stderr", "masks")
_FIELD = re.compile(r"\{[a-z]+\}")
_UNREADABLE = (AttributeError, KeyError, TypeError, ValueError, re.error)


def outcome_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Everything that `outcome.json` says differently."""
    documents = old.documents.get(OUTCOME, {}), new.documents.get(OUTCOME, {})
    for key, before, after in differing(*documents):
        match key:
            case "sentences":
                yield from _sentences(items(before), items(after), _Told(*documents))
            case "notices":
                yield from _notices(table(before), table(after))
            case "said":
                yield notice(Bump.PATCH, "sentence-reworded", OUTCOME, (key,), "`said` is another.", before, after)
            case _:
                yield from _section(key, before, after)


def _section(section: str, old: Json, new: Json) -> Iterator[Change]:
    severity = Severity.CALLERS if section in _CALLERS else Severity.PORTS
    for path, before, after in leaves(old, new, (section,)):
        if path == _MASKS:
            yield from _masks(items(before), items(after))
        else:
            message = f"`{'.'.join(map(str, path))}` was {before!r} and is {after!r}."
            yield breaking(severity, f"outcome-{section}", OUTCOME, path, message, before, after)


def _masks(old: Sequence[Json], new: Sequence[Json]) -> Iterator[Change]:
    for mask in [mask for mask in old if mask not in new]:
        yield breaking(Severity.CALLERS, "mask-removed", OUTCOME, _MASKS, f"{mask!r} is masked no longer.", mask)
    for mask in [mask for mask in new if mask not in old]:
        yield breaking(Severity.PORTS, "mask-added", OUTCOME, _MASKS, f"Ports have to mask {mask!r}.", None, mask)
    if sorted(old) == sorted(new):
        yield breaking(Severity.PORTS, "mask-order", OUTCOME, _MASKS, "The masks have another order.", old, new)


def _notices(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[Change]:
    for name, before, after in differing(old, new):
        path = ("notices", name)
        if after is None:
            yield breaking(Severity.CALLERS, "notice-removed", OUTCOME, path, f"The notice {name!r} is gone.", before)
        elif before is None:
            yield harmless(Bump.MINOR, "notice-added", OUTCOME, path, f"The notice {name!r} is new.", None, after)
        else:
            message = f"{name!r} is said otherwise."
            yield notice(Bump.PATCH, "sentence-reworded", OUTCOME, path, message, before, after)


@dataclass(frozen=True)
class _Told:
    """What the two sides say of exit codes."""

    old: Json
    new: Json

    @cached_property
    def witness(self) -> Witness | None:
        """An exit code that is told otherwise, where there is one."""
        try:
            before, after = sentences_by_exit(self.old), sentences_by_exit(self.new)
        except _UNREADABLE:
            return None
        code = next((code for code in before if before[code] != after[code]), None)
        said = f"says {before.get(code)!r}", f"says {after.get(code)!r}"
        return None if code is None else Witness({"exit": code, "stderr": ""}, *said)


def _sentences(old: Sequence[Json], new: Sequence[Json], told: _Told) -> Iterator[Change]:
    before = {str(entry.get("id")): entry for entry in old}
    after = {str(entry.get("id")): (index, entry) for index, entry in enumerate(new)}
    for change in _sentence_changes(before, after):
        yield replace(change, witness=told.witness) if change.severity.breaks else change


def _sentence_changes(before: Mapping[str, Json], after: Mapping[str, tuple[int, Json]]) -> Iterator[Change]:
    for name in [name for name in before if name not in after]:
        message = f"{name!r} is no longer said."
        yield breaking(Severity.CALLERS, "sentence-removed", OUTCOME, ("sentences",), message, before[name])
    for name, (index, entry) in after.items():
        path = ("sentences", index)
        if name in before:
            yield from _sentence(name, path, before[name], entry)
        else:
            yield harmless(Bump.MINOR, "sentence-added", OUTCOME, path, f"The sentence {name!r} is new.", None, entry)
    kept = [[name for name in names if name in before and name in after] for names in (before, after)]
    if kept[0] != kept[1]:
        message = "The sentences have another order, and the first that fits is said."
        yield breaking(Severity.CALLERS, "sentence-order", OUTCOME, ("sentences",), message, *kept)


def _sentence(name: str, path: Path, old: Json, new: Json) -> Iterator[Change]:
    for key, *values in differing(old, new):
        place = (*path, key)
        if key == "exit":
            message = f"{name!r} is said for other exit codes: {values[0]} before, {values[1]} now."
            if "exit" in new and ("exit" not in old or set(old["exit"]) - set(new["exit"])):
                yield breaking(Severity.CALLERS, "sentence-condition", OUTCOME, place, message, *values)
            else:
                yield notice(Bump.MINOR, "sentence-condition", OUTCOME, place, message, *values)
        elif key == "sentence":
            same = set(_FIELD.findall(str(values[0]))) == set(_FIELD.findall(str(values[1])))
            message = f"{name!r} is said otherwise{'' if same else ', with other fields'}."
            bump = Bump.PATCH if same else Bump.MINOR
            yield notice(bump, "sentence-reworded", OUTCOME, place, message, *values)
        elif key in ("cause", "names"):
            message = f"`{key}` of {name!r} is another, so the words of other ports are judged otherwise."
            yield notice(Bump.MINOR, f"sentence-{key}", OUTCOME, place, message, *values)
        else:
            message = f"{name!r} is said on another condition: `{key}` was {values[0]!r} and is {values[1]!r}."
            yield breaking(Severity.CALLERS, "sentence-condition", OUTCOME, place, message, *values)
