"""Requirements compared: ids, levels and sentences. Pure.

What a change of one key of a requirement means is one branch of `_changed`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from gemini_mcp.schema.inline import canonical
from gemini_mcp.spec.values import ABSENT, differing
from gemini_mcp_spec.diff.change import Change, change, listed
from gemini_mcp_spec.files.requirements import FILE, Entry, Placed, removed, requirements, written
from gemini_mcp_spec.files.spec_files import SpecFiles

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
    yield from listed("removal", FILE, ("removed",), *(sorted(removed(spec)) for spec in (old, new)))


def _by_id(spec: SpecFiles) -> Mapping[str, tuple[Placed, str]]:
    """Every requirement with the text of the entry that it comes from."""
    texts = {(file, path): canonical(entry) for file, path, entry in written(spec)}
    return {placed[2]["id"]: (placed, texts[placed[:2]]) for placed in requirements(spec)}


def _changes(name: str, old: Placed | None, new: Placed | None) -> Iterator[Change]:
    file, path, entry = new or old or ("", (), {})
    if new is None:
        yield change("requirement-removed", file, path, entry, name=name)
    elif old is None:
        yield change(f"{_kind(entry)}-added", file, path, ABSENT, entry, name=name, sentence=entry.get("sentence"))
    else:
        for key, *values in differing(old[2], entry):
            if rule := _rule(key, old[2], entry):
                yield change(rule, file, (*path, key), *values, name=name)


def _kind(entry: Entry) -> str:
    """What binds a port, and what it may leave out and still conform."""
    return "recommendation" if entry.get("level") in ("SHOULD", "MAY") else "requirement"


def _rule(key: str, old: Entry, new: Entry) -> str | None:
    """What it means that a key has another value; None where another key says it."""
    match key:
        case "level":
            ranks = [_RANK.get(str(entry.get("level")), 3) for entry in (old, new)]
            return f"{_kind(new)}-raised" if ranks[1] > ranks[0] else "requirement-lowered"
        case "excluded" if key in old and key in new:
            return "requirement-reason"
        case "excluded":
            return "requirement-excluded" if key in new else f"{_kind(new)}-included"
        case "sentence":
            before, after = _said(old), _said(new)
            if before == after:
                return None
            # The same names, numbers and conditions: a rewording.
            return "requirement-reworded" if _claims(before) == _claims(after) else f"{_kind(new)}-sentence"
        case _:
            return f"requirement-{key}"


def _said(entry: Entry) -> str:
    """The sentence without its keyword, which the level repeats."""
    return re.sub(r"\b(MUST|SHOULD|MAY)\b", "", str(entry.get("sentence")))


def _claims(sentence: str) -> Mapping[str, int]:
    """The names, numbers and conditions of a sentence."""
    return Counter(_CLAIM.findall(sentence.lower()))
