"""Requirements compared: ids, levels and sentences, and the frozen sets of released versions. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from gemini_mcp_conformance.gate.change import Change, Verdict, breaking, harmless, notice
from gemini_mcp_conformance.gate.positions import Json
from gemini_mcp_conformance.gate.rules.requirements import FILE, requirements
from gemini_mcp_conformance.gate.spec_files import SpecFiles
from gemini_mcp_conformance.gate.versions import Bump

_RANK = {"MAY": 0, "SHOULD": 1, "MUST": 2}
_CLAIM = re.compile(
    r"`[^`]*`|[\d][\d.,]*|\b(?:all|and|any|at least|at most|before|after|both|each|either|every|except|first|last|"
    r"least|most|neither|never|no|none|nor|not|only|or|same|until|unless|when|while|with|without)\b"
)


def requirement_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Requirements that came, went, bind more or less, or say something else."""
    before = {entry["id"]: (path, entry) for path, entry in requirements(old)}
    after = {entry["id"]: (path, entry) for path, entry in requirements(new)}
    for name in sorted({*before, *after}):
        if name not in before:
            path, entry = after[name]
            yield _named(_added(entry, path), name)
        elif name not in after:
            path, entry = before[name]
            message = f"The requirement {name!r} is gone."
            yield _named(breaking(Verdict.CALLERS, "requirement-removed", FILE, path, message, entry), name)
        else:
            path, entry = after[name]
            for change in _changed(before[name][1], entry, path):
                yield _named(change, name)


def released_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """The list of a released version stays as it was."""
    before, after = old.folder("released"), new.folder("released")
    for file in sorted({*before, *after}):
        if file not in before:
            yield harmless(Bump.NONE, "released-added", file, (), f"The list `{file}` is new.")
        elif before[file] != after.get(file):
            message = f"`{file}` was released and is {'another now' if file in after else 'gone'}."
            yield breaking(Verdict.PORTS, "released-changed", file, (), message, before[file], after.get(file))


def _named(change: Change, name: str) -> Change:
    return replace(change, requirements=(name,))


def _added(entry: Mapping[str, Json], path: tuple[str | int, ...]) -> Change:
    level, message = str(entry.get("level")), f"The requirement {entry['id']!r} is new: {entry.get('sentence')}"
    if level not in ("SHOULD", "MAY"):
        return breaking(Verdict.PORTS, "requirement-added", FILE, path, message, None, entry)
    return harmless(Bump.MINOR, "requirement-added", FILE, path, message, None, entry)


def _changed(old: Mapping[str, Json], new: Mapping[str, Json], path: tuple[str | int, ...]) -> Iterator[Change]:
    name = new["id"]
    if old.get("level") != new.get("level"):
        rises = _RANK.get(str(new.get("level")), 3) > _RANK.get(str(old.get("level")), 3)
        message = f"{name!r} was {old.get('level')} and is {new.get('level')}."
        place, levels = (*path, "level"), (old.get("level"), new.get("level"))
        if rises and new.get("level") not in ("SHOULD", "MAY"):
            yield breaking(Verdict.PORTS, "requirement-raised", FILE, place, message, *levels)
        else:
            yield notice(
                Bump.MINOR, "requirement-raised" if rises else "requirement-lowered", FILE, place, message, *levels
            )
    if old.get("profile") != new.get("profile"):
        message = f"{name!r} binds another profile: {new.get('profile')}."
        values = old.get("profile"), new.get("profile")
        yield breaking(Verdict.PORTS, "requirement-profile", FILE, (*path, "profile"), message, *values)
    if _said(old) != _said(new):
        yield _reworded(old, new, path)
    for key in sorted({*old, *new} - {"id", "level", "profile", "sentence"}):
        if old.get(key) != new.get(key):
            message = f"`{key}` of {name!r} is another."
            yield notice(Bump.PATCH, f"requirement-{key}", FILE, (*path, key), message, old.get(key), new.get(key))


def _said(entry: Mapping[str, Json]) -> str:
    """The sentence without its keyword, which the level repeats."""
    return re.sub(r"\b(MUST|SHOULD|MAY)\b", "", str(entry.get("sentence")))


def _reworded(old: Mapping[str, Json], new: Mapping[str, Json], path: tuple[str | int, ...]) -> Change:
    """A sentence that claims the same names, numbers and conditions is taken for a rewording."""
    place, sentences = (*path, "sentence"), (old.get("sentence"), new.get("sentence"))
    claims = [Counter(_CLAIM.findall(_said(entry).lower())) for entry in (old, new)]
    if claims[0] == claims[1]:
        message = f"{new['id']!r} is reworded. If it means something else, give it another id."
        return notice(Bump.PATCH, "requirement-reworded", FILE, place, message, *sentences)
    message = f"{new['id']!r} says something else: {new.get('sentence')} Its meaning should get another id."
    if new.get("level") in ("SHOULD", "MAY"):
        return notice(Bump.MINOR, "requirement-sentence", FILE, place, message, *sentences)
    return breaking(Verdict.PORTS, "requirement-sentence", FILE, place, message, *sentences)
