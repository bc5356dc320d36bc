"""Changes: what differs between two specifications, whom it breaks, and the value that proves it. Pure.

An area of the specification yields changes; nothing but their record belongs here.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gemini_mcp.spec.values import Json, is_object
from gemini_mcp_spec.files.positions import Path
from gemini_mcp_spec.files.version import Bump
from gemini_mcp_spec.schema.inline import canonical


class Severity(StrEnum):
    """Whom a change breaks."""

    CALLERS = "breaking for callers"
    PORTS = "breaking for ports"
    NOTICE = "notice"
    COMPATIBLE = "compatible"

    @property
    def breaks(self) -> bool:
        return self in (Severity.CALLERS, Severity.PORTS)


@dataclass(frozen=True)
class Witness:
    """A value that the two sides treat differently: what each makes of it."""

    value: Json
    old: Json
    new: Json


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


def breaking(
    severity: Severity, rule: str, file: str, path: Path, message: str, old: Json = None, new: Json = None
) -> Change:
    """A change that breaks somebody who is right today."""
    return Change(rule, severity, Bump.MAJOR, file, path, message, old, new)


def harmless(bump: Bump, rule: str, file: str, path: Path, message: str, old: Json = None, new: Json = None) -> Change:
    """A change that leaves right what was right."""
    return Change(rule, Severity.COMPATIBLE, bump, file, path, message, old, new)


def notice(bump: Bump, rule: str, file: str, path: Path, message: str, old: Json = None, new: Json = None) -> Change:
    """A change that breaks nobody by itself, but that somebody should know of."""
    return Change(rule, Severity.NOTICE, bump, file, path, message, old, new)


def differing(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[tuple[str, Json, Json]]:
    """Every key whose values differ, with both; None stands for a value that is not there."""
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            yield key, old.get(key), new.get(key)


def leaves(old: Json, new: Json, path: Path) -> Iterator[tuple[Path, Json, Json]]:
    """Every place where the values differ, as deep as both sides are objects."""
    if is_object(old) and is_object(new):
        for key, before, after in differing(old, new):
            yield from leaves(before, after, (*path, key))
    elif old != new:
        yield path, old, new
