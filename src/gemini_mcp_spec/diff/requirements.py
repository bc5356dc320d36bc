"""Requirements compared: ids, levels and sentences, and the frozen sets of released versions. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from gemini_mcp.spec.values import Json
from gemini_mcp_spec.diff.change import Change, Severity, breaking, differing, harmless, notice
from gemini_mcp_spec.files.requirements import Entry, Placed, requirements, written
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.version import Bump
from gemini_mcp_spec.schema.inline import canonical

_RANK = {"MAY": 0, "SHOULD": 1, "MUST": 2}
_CLAIM = re.compile(
    r"`[^`]*`|[\d][\d.,]*|\b(?:all|and|any|at least|at most|before|after|both|each|either|every|except|first|last|"
    r"least|most|neither|never|no|none|nor|not|only|or|same|until|unless|when|while|with|without)\b"
)


def requirement_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Requirements that came, went, bind more or less, or say something else.

    Where the entry is as it was, another file has changed what its family is about, and is judged itself.
    """
    before, after = _by_id(old), _by_id(new)
    same = {canonical(entry) for _, _, entry in written(old)} & {canonical(entry) for _, _, entry in written(new)}
    for name in sorted({*before, *after}):
        sides = before.get(name), after.get(name)
        if (sides[1] or sides[0] or (None, ""))[1] not in same:
            changes = _changes(name, *(side and side[0] for side in sides))
            yield from (replace(change, requirements=(name,)) for change in changes)


def _by_id(spec: SpecFiles) -> Mapping[str, tuple[Placed, str]]:
    """Every requirement with the text of the entry that it comes from."""
    texts = {(file, path): canonical(entry) for file, path, entry in written(spec)}
    return {placed[2]["id"]: (placed, texts[placed[:2]]) for placed in requirements(spec)}


def _changes(name: str, old: Placed | None, new: Placed | None) -> Iterator[Change]:
    if new is None:
        file, path, entry = old or ("", (), {})
        yield breaking(Severity.CALLERS, "requirement-removed", file, path, f"The requirement {name!r} is gone.", entry)
    elif old is None:
        file, path, entry = new
        message = f"The requirement {name!r} is new: {entry.get('sentence')}"
        values = "requirement-added", file, path, message, None, entry
        yield harmless(Bump.MINOR, *values) if _is_mild(entry) else breaking(Severity.PORTS, *values)
    else:
        for key, *_ in differing(old[2], new[2]):
            yield from _changed(name, key, old[2], new)


def released_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """The list of a released version stays as it was."""
    for file, before, after in differing(old.folder("released"), new.folder("released")):
        if before is None:
            yield harmless(Bump.NONE, "released-added", file, (), f"The list `{file}` is new.")
        else:
            message = f"`{file}` was released and is {'gone' if after is None else 'another now'}."
            yield breaking(Severity.PORTS, "released-changed", file, (), message, before, after)


def _is_mild(entry: Entry) -> bool:
    """Whether a port that does not obey the requirement still conforms."""
    return entry.get("level") in ("SHOULD", "MAY")


def _changed(name: str, key: str, old: Entry, placed: Placed) -> Iterator[Change]:
    file, path, new = placed
    place = (*path, key)
    values = old.get(key), new.get(key)
    match key:
        case "level":
            rises = _RANK.get(str(values[1]), 3) > _RANK.get(str(values[0]), 3)
            rule = f"requirement-{'raised' if rises else 'lowered'}"
            message = f"{name!r} was {values[0]} and is {values[1]}."
            if rises and not _is_mild(new):
                yield breaking(Severity.PORTS, rule, file, place, message, *values)
            else:
                yield notice(Bump.MINOR, rule, file, place, message, *values)
        case "profile":
            message = f"{name!r} binds another profile: {values[1]}."
            yield breaking(Severity.PORTS, "requirement-profile", file, place, message, *values)
        case "sentence":
            if _said(old) != _said(new):
                yield _reworded(name, placed, *values)
        case _:
            yield notice(Bump.PATCH, f"requirement-{key}", file, place, f"`{key}` of {name!r} is another.", *values)


def _said(entry: Entry) -> str:
    """The sentence without its keyword, which the level repeats."""
    return re.sub(r"\b(MUST|SHOULD|MAY)\b", "", str(entry.get("sentence")))


def _reworded(name: str, placed: Placed, before: Json, after: Json) -> Change:
    """A sentence that claims the same names, numbers and conditions is taken for a rewording."""
    file, place, new = placed[0], (*placed[1], "sentence"), placed[2]
    claims = [Counter(_CLAIM.findall(_said({"sentence": text}).lower())) for text in (before, after)]
    if claims[0] == claims[1]:
        message = f"{name!r} is reworded. If it means something else, give it another id."
        return notice(Bump.PATCH, "requirement-reworded", file, place, message, before, after)
    message = f"{name!r} says something else: {after} Its meaning should get another id."
    values = "requirement-sentence", file, place, message, before, after
    return notice(Bump.MINOR, *values) if _is_mild(new) else breaking(Severity.PORTS, *values)
