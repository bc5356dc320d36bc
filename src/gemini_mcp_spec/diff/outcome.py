"""Results and errors compared: what callers read in them, and what ports read in gemini's output. Pure.

What a change of one section of `outcome.json` means is one branch of `outcome_changes`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import combinations

from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import shown
from gemini_mcp.report.witness import Witness
from gemini_mcp.schema.patterns import Unreadable, candidates, examples, same_texts
from gemini_mcp.spec.values import ABSENT, Json, differing, items, table
from gemini_mcp_spec.diff.change import Change, change, leaves, listed, one_sided
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import OUTCOME
from gemini_mcp_spec.reference.answers import masked, sentences_by_exit

_MASKS = ("stderr", "masks")
_LARGEST = ("stdout", "maxBytes")
_FIELD = re.compile(r"\{[a-z]+\}")
_RECOMMENDED = {("answer", "warnings"), ("meta", "warnings"), ("meta", "notice"), ("asked",), ("noSession",)}
"""What only requirements that are SHOULD rest on, as all of the section `stderr`."""
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
                    if ABSENT in values:
                        yield one_sided("notice", OUTCOME, path, *values, name=name)
                    else:
                        yield change("sentence-reworded", OUTCOME, path, *values, name=name)
            case "said":
                yield change("sentence-reworded", OUTCOME, (key,), before, after, name=key)
            case _:
                yield from _section(key, before, after)


def _section(section: str, old: Json, new: Json) -> Iterator[Change]:
    for path, *values in leaves(old, new, (section,)):
        if path == _MASKS:
            yield from _masks(*map(items, values))
        elif same_texts(*values):
            yield change("outcome-unproven", OUTCOME, path, *values)
        else:
            yield change(f"outcome-{_weight(path, *values)}", OUTCOME, path, *values)


def _weight(path: Path, old: Json, new: Json) -> str:
    """Whether only a SHOULD rests on a value, or more is let through, or else the section of the value."""
    if path[0] == "stderr" or path in _RECOMMENDED:
        return "recommended"
    is_larger = path == _LARGEST and isinstance(old, int) and isinstance(new, int) and new > old
    return "larger" if is_larger else str(path[0])


def _masks(old: Sequence[Json], new: Sequence[Json]) -> Iterator[Change]:
    """Masks that came and went, and those that were rewritten, to mask the same, more or less, or moved."""
    rewritten: dict[Json, Json] = {}
    for mask in (each for each in old if each not in new):
        # A mask that hides as much may have been there already; one that hides less has to be new.
        found = next(((other, rule) for other in new if (rule := _rewritten(mask, other, other in old))), None)
        if found is not None:
            rewritten[mask] = found[0]
            witness = partial(_shown_now, mask, found[0])
            yield change(found[1], OUTCOME, (*_MASKS, new.index(found[0])), mask, found[0], witness=witness)
    # Otherwise a rewritten mask would count as one that went and one that came.
    before = list(dict.fromkeys(rewritten.get(mask, mask) for mask in old))
    # Masks run one after another, so their order can matter where none came or went.
    if changes := listed("mask", OUTCOME, _MASKS, before, new):
        yield from changes
    elif before != list(new):
        texts = [text for mask in new for text in examples(str(mask))]
        is_same = all(masked(before, text) == masked(new, text) for text in texts)
        yield change("mask-unordered" if is_same else "mask-order", OUTCOME, _MASKS, old, new)


def _rewritten(mask: Json, other: Json, is_old: bool) -> str | None:
    """What it means that a mask has become another one; None where neither hides all that the other does."""
    shown = [sides[1:] for sides in _shown(mask, other)]
    is_wider, is_narrower = (bool(shown) and all(_is_part(*sides[::way]) for sides in shown) for way in (-1, 1))
    if is_wider:
        return "outcome-unproven" if is_narrower else "mask-wider"
    return "mask-narrower" if is_narrower and not is_old else None


def _shown(mask: Json, other: Json) -> Sequence[tuple[str, str, str]]:
    """Texts, and what each of two masks leaves of them; none where a mask cannot be read."""
    try:
        texts = candidates([str(mask), str(other)])
        return [(text, masked([mask], text, ""), masked([other], text, "")) for text in texts]
    except (Unreadable, re.error):
        return ()


def _shown_now(mask: Json, other: Json) -> Witness | None:
    """A text of which the other mask shows more."""
    return next((Witness(text, *(f"shows {shown(side)}" for side in sides)) for text, *sides in _shown(mask, other)
                 if sides[0] != sides[1]), None)  # fmt: skip


def _is_part(text: str, whole: str) -> bool:
    """Whether a text is another one without some of its characters."""
    left = iter(whole)
    return all(sign in left for sign in text)


def _told_otherwise(old: Json, new: Json) -> Witness | None:
    """An exit code and a stderr of which the two sides say something else, where there are any."""
    try:
        patterns = {str(one["stderr"]): None for side in (old, new) for one in side["sentences"] if "stderr" in one}
        for stderr in ("", *(text for pattern in patterns for text in examples(pattern)[:1])):
            before, after = sentences_by_exit(old, stderr), sentences_by_exit(new, stderr)
            for code in before:
                if before[code] != after[code]:
                    return Witness(
                        {"exit": code, "stderr": stderr}, *(f"says {shown(side[code])}" for side in (before, after))
                    )
    except (*_UNREADABLE, Unreadable):
        pass
    return None


def _sentences(old: Sequence[Json], new: Sequence[Json], witness: Callable[[], Witness | None]) -> Iterator[Change]:
    before = {str(entry.get("id")): entry for entry in old}
    after = {str(entry.get("id")): entry for entry in new}
    places = {name: ("sentences", index) for index, name in enumerate(after)}
    renamed = {
        name: other for name, other in zip(before, after, strict=False) if _is_renamed(name, other, before, after)
    }
    for index, name in enumerate(before):
        if name in renamed:
            yield change("sentence-renamed", OUTCOME, (*places[renamed[name]], "id"), name, renamed[name])
        elif name not in after:
            gone = change("sentence-removed", OUTCOME, ("sentences",), before[name], witness=witness, name=name)
            yield replace(gone, index=min(index, len(new) - 1))
    for name, entry in after.items():
        if name not in before:
            if name not in renamed.values():
                yield change("sentence-added", OUTCOME, places[name], ABSENT, entry, name=name)
            continue
        for key, *values in differing(before[name], entry):
            rule = _rule(key, before[name], entry)
            yield change(rule, OUTCOME, (*places[name], key), *values, witness=witness, name=name)
    kept = [[name for name in names if name in before and name in after] for names in (before, after)]
    if kept[0] != kept[1]:
        rule = "sentence-order" if _are_both_fit(kept[0], kept[1], after) else "sentence-unordered"
        yield change(rule, OUTCOME, ("sentences",), *kept, witness=witness)


def _is_renamed(old: str, new: str, before: Mapping[str, Json], after: Mapping[str, Json]) -> bool:
    """Whether a sentence got another id, and is the same beside that."""
    return old not in after and new not in before and {**before[old], "id": new} == after[new]


def _are_both_fit(old: Sequence[str], new: Sequence[str], entries: Mapping[str, Json]) -> bool:
    """Whether of two sentences that may both fit, another comes first now."""
    # Only the first sentence that fits is said, so an order matters between those that can both fit.
    moved = [(one, other) for one, other in combinations(new, 2) if old.index(one) > old.index(other)]
    return any(_overlap(entries[one], entries[other]) for one, other in moved)


def _overlap(one: Mapping[str, Json], other: Mapping[str, Json]) -> bool:
    exits = [set(entry["exit"]) for entry in (one, other) if "exit" in entry]
    return one.get("when") == other.get("when") and (len(exits) < 2 or bool(exits[0] & exits[1]))


def _rule(key: str, old: Mapping[str, Json], new: Mapping[str, Json]) -> str:
    """What it means that a key of a sentence has another value."""
    match key:
        case "sentence":
            fields = [set(_FIELD.findall(str(entry.get(key)))) for entry in (old, new)]
            return "sentence-reworded" if fields[0] == fields[1] else "sentence-fields"
        case "exit" if key not in new or (key in old and set(old[key]) <= set(new[key])):
            return "sentence-extended"
        case "names" | "stderr" if same_texts(old.get(key), new.get(key)):
            return "sentence-unproven"
        case "stderr" if key in old and key in new:
            return "sentence-stderr"
        case "cause" | "names":
            return f"sentence-{key}"
        case _:
            return "sentence-condition"
