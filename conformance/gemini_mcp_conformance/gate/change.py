"""Changes: what differs between two specifications, whom it breaks, and the value that proves it. Pure.

An area of the specification yields changes; nothing but their record belongs here.
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from gemini_mcp_conformance.gate.positions import Json, Path
from gemini_mcp_conformance.gate.schema.inline import canonical
from gemini_mcp_conformance.gate.versions import Bump


class Verdict(StrEnum):
    """Whom a change breaks."""

    CALLERS = "breaking for callers"
    PORTS = "breaking for ports"
    NOTICE = "notice"
    COMPATIBLE = "compatible"

    @property
    def breaks(self) -> bool:
        return self in (Verdict.CALLERS, Verdict.PORTS)


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
    verdict: Verdict
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
    verdict: Verdict, rule: str, file: str, path: Path, message: str, old: Json = None, new: Json = None
) -> Change:
    """A change that breaks somebody who is right today."""
    return Change(rule, verdict, Bump.MAJOR, file, path, message, old, new)


def harmless(bump: Bump, rule: str, file: str, path: Path, message: str, old: Json = None, new: Json = None) -> Change:
    """A change that leaves right what was right."""
    return Change(rule, Verdict.COMPATIBLE, bump, file, path, message, old, new)


def notice(bump: Bump, rule: str, file: str, path: Path, message: str, old: Json = None, new: Json = None) -> Change:
    """A change that breaks nobody by itself, but that somebody should know of."""
    return Change(rule, Verdict.NOTICE, bump, file, path, message, old, new)
