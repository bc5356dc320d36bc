"""Changes: what differs between two specifications, whom it breaks, and the value that proves it. Pure.

An area of the specification yields changes; only their record and the ways to compare two values belong here.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import shown_beside
from gemini_mcp.report.witness import Witness
from gemini_mcp.schema.inline import canonical
from gemini_mcp.spec.values import ABSENT, Json, differing, is_object, items, same, table
from gemini_mcp_spec.diff.rules import Severity, rule_of
from gemini_mcp_spec.files.version import Bump

Prover: TypeAlias = Callable[[], Witness | None]
"""What seeks a witness when one is wanted."""


@dataclass(frozen=True)
class Change:
    """One difference. `path` is that in the new file, or in the old one for what has gone."""

    rule: str
    severity: Severity
    bump: Bump
    file: str
    path: Path
    message: str
    old: Json = ABSENT
    new: Json = ABSENT
    witness: Witness | None = None
    requirements: tuple[str, ...] = ()
    index: int | None = None
    """Where in the array at `path` something came or went; the fingerprint does not depend on it."""

    @property
    def place(self) -> Path:
        """Where the two values begin to differ."""
        if self.index is not None:
            return (*self.path, self.index)
        return pinpointed(self.path, self.old, self.new)[0]

    @property
    def is_proven(self) -> bool:
        """Whether a break is shown by a value; of what has no schema, the rule alone says it."""
        by_schema = self.rule.startswith(("request-", "result-")) and self.severity.breaks
        return not by_schema or self.witness is not None

    @property
    def fingerprint(self) -> str:
        """A name for just this change, whatever else changes beside it."""
        # Neither message nor line: an approval must outlive rewording, and changes beside it.
        sides = [None if side is ABSENT else side for side in (self.old, self.new)]
        what = [self.rule, self.file, [str(step) for step in self.path], *sides]
        return hashlib.sha256(canonical(what).encode()).hexdigest()[:12]


def change(
    kind: str,
    file: str,
    path: Path,
    /,
    old: Json = ABSENT,
    new: Json = ABSENT,
    *,
    witness: Prover | None = None,
    **words: Json,
) -> Change:
    """The change that a rule names, with a witness where it breaks somebody; `words` fill the rule's sentence."""
    rule = rule_of(kind)
    filled = {"file": file, "key": (*path, "")[len(path) - 1], "place": _dotted(path)}
    # The search takes long, and nobody asks for the witness of what breaks nothing.
    seen = witness() if witness and rule.severity.breaks else None
    sides = {"old": Said(old, new), "new": Said(new, old)}
    told = {**sides, **{name: Said(value, value) for name, value in {**filled, **words}.items()}}
    sentence = rule.sentence.format(**told) + _values(rule.sentence, path, old, new)
    return Change(kind, rule.severity, rule.bump, file, path, sentence, old, new, seen)


class Said:
    """A value in a sentence: a text is itself, or JSON where the sentence asks for its `repr`; all else is JSON.

    Of a long value, what differs from the one beside it is said. A side that is not there is absent.
    """

    def __init__(self, value: Json, beside: Json) -> None:
        self.value = value
        self.beside = beside

    def __str__(self) -> str:
        return self.value if isinstance(self.value, str) else repr(self)

    def __repr__(self) -> str:
        return shown_beside(self.value, self.beside)

    def __format__(self, spec: str) -> str:
        return str(self)


def _values(sentence: str, path: Path, old: Json, new: Json) -> str:
    """Both values, where the sentence of the rule does not hold them."""
    is_one_sided = ABSENT in (old, new) and not sentence.endswith("is another.")
    if is_one_sided or "{old" in sentence or "{new" in sentence:
        return ""
    place, before, after = pinpointed(path, old, new)
    inner = place[len(path) :]
    named = f"`{_dotted(place[len(path) - isinstance(inner[0], int) :])}`" if inner else "It"
    return f" {named} was {Said(before, after)!r} and is {Said(after, before)!r}."


def pinpointed(path: Path, old: Json, new: Json) -> tuple[Path, Json, Json]:
    """The one place inside two values where they differ, with what is there; the whole where it is not one place."""
    before, after = _members(old), _members(new)
    apart = [step for step in after if step in before and not same(before[step], after[step])]
    if before.keys() != after.keys() or not apart:
        return path, old, new
    if len(apart) > 1:
        return (*path, apart[0]) if len(apart) < len(after) else path, old, new
    return pinpointed((*path, apart[0]), before[apart[0]], after[apart[0]])


def _members(value: Json) -> Mapping[str | int, Json]:
    """What is directly inside a value, by key or index."""
    return {**table(value), **dict(enumerate(items(value)))}


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def one_sided(
    kind: str, file: str, path: Path, old: Json, new: Json, *, witness: Prover | None = None, **words: Json
) -> Change:
    """What came where the old side has nothing, and what went where the new side has nothing."""
    return change(f"{kind}-{'added' if old is ABSENT else 'removed'}", file, path, old, new, witness=witness, **words)


def is_longer(path: Path, old: Json, new: Json) -> bool:
    """Whether a time-out has grown, so that whoever was in time still is."""
    name = str((*path, "")[len(path) - 1]).lower()
    return "timeout" in name and isinstance(old, int | float) and isinstance(new, int | float) and new > old


def leaves(old: Json, new: Json, path: Path) -> Iterator[tuple[Path, Json, Json]]:
    """Every place where the values differ, as deep as both sides are objects."""
    if is_object(old) and is_object(new):
        for key, before, after in differing(old, new):
            yield from leaves(before, after, (*path, key))
    elif not same(old, new):
        yield path, old, new


def listed(
    kind: str,
    file: str,
    path: Path,
    old: Sequence[Json],
    new: Sequence[Json],
    *,
    witness: Prover | None = None,
    **words: Json,
) -> list[Change]:
    """What went from an array and what came into it, whatever the order."""
    places = [min(index, len(new) - 1) if new else None for index in range(len(old))]
    gone = [(value, ABSENT, place) for value, place in zip(old, places, strict=True) if value not in new]
    moved = [*gone, *((ABSENT, value, index) for index, value in enumerate(new) if value not in old)]
    return [
        replace(one_sided(kind, file, path, was, becomes, witness=witness, name=was or becomes, **words), index=index)
        for was, becomes, index in moved
    ]
