"""Changes: what differs between two specifications, whom it breaks, and the value that proves it. Pure.

An area of the specification yields changes; only their record and the ways to compare two values belong here.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gemini_mcp.spec.values import Json, is_object
from gemini_mcp_spec.diff.rules import Severity, rule_of
from gemini_mcp_spec.files.positions import Path
from gemini_mcp_spec.files.version import Bump
from gemini_mcp_spec.schema.inline import canonical


@dataclass(frozen=True)
class Witness:
    """A value that the two sides treat differently: what each makes of it."""

    value: Json
    old: Json
    new: Json


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
    old: Json = None
    new: Json = None
    witness: Witness | None = None
    requirements: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """A name for just this change, whatever else changes beside it."""
        what = [self.rule, self.file, [str(step) for step in self.path], self.old, self.new]
        return hashlib.sha256(canonical(what).encode()).hexdigest()[:12]


def change(
    kind: str,
    file: str,
    path: Path,
    /,
    old: Json = None,
    new: Json = None,
    *,
    witness: Prover | None = None,
    **words: Json,
) -> Change:
    """The change that a rule names, with a witness where it breaks somebody; `words` fill the rule's sentence."""
    rule = rule_of(kind)
    filled = {"old": old, "new": new, "file": file, "key": (*path, "")[len(path) - 1], "place": _dotted(path)}
    shown = witness() if witness and rule.severity.breaks else None
    sentence = rule.sentence.format(**{**filled, **words})
    return Change(kind, rule.severity, rule.bump, file, path, sentence, old, new, shown)


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def one_sided(
    kind: str, file: str, path: Path, old: Json, new: Json, *, witness: Prover | None = None, **words: Json
) -> Change:
    """What came where the old side has nothing, and what went where the new side has nothing."""
    return change(f"{kind}-{'added' if old is None else 'removed'}", file, path, old, new, witness=witness, **words)


def differing(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[tuple[str, Json, Json]]:
    """Every key whose values differ, with both; None stands for a value that is not there."""
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            yield key, old.get(key), new.get(key)


def is_longer(path: Path, old: Json, new: Json) -> bool:
    """Whether a time-out has grown, so that whoever was in time still is."""
    name = str((*path, "")[len(path) - 1]).lower()
    return "timeout" in name and isinstance(old, int | float) and isinstance(new, int | float) and new > old


def leaves(old: Json, new: Json, path: Path) -> Iterator[tuple[Path, Json, Json]]:
    """Every place where the values differ, as deep as both sides are objects."""
    if is_object(old) and is_object(new):
        for key, before, after in differing(old, new):
            yield from leaves(before, after, (*path, key))
    elif old != new:
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
    moved = [(value, None) for value in old if value not in new] + [(None, value) for value in new if value not in old]
    return [one_sided(kind, file, path, *sides, witness=witness, name=sides[0] or sides[1], **words) for sides in moved]
