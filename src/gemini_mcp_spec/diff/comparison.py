"""Runs `diff`: all changes of all areas, and the version that they need. Pure.

An area of the specification joins by being in `AREAS`. What cannot be proven safe breaks somebody.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from gemini_mcp.spec.values import ABSENT, table
from gemini_mcp_spec.diff.change import Change, change
from gemini_mcp_spec.diff.examples import example_changes
from gemini_mcp_spec.diff.host import profile_changes
from gemini_mcp_spec.diff.invocation import invocation_changes
from gemini_mcp_spec.diff.manifest import (
    file_changes,
    live_changes,
    locale_changes,
    manifest_changes,
    released_changes,
)
from gemini_mcp_spec.diff.outcome import outcome_changes
from gemini_mcp_spec.diff.policy import excepted, judged, policy_changes
from gemini_mcp_spec.diff.requirements import requirement_changes
from gemini_mcp_spec.diff.rules import Severity
from gemini_mcp_spec.diff.schemas import schema_changes
from gemini_mcp_spec.diff.tools import tool_changes
from gemini_mcp_spec.files.spec_files import MALFORMED, SpecFiles
from gemini_mcp_spec.files.version import Bump, Version

Area: TypeAlias = Callable[[SpecFiles, SpecFiles], Iterator[Change]]

AREAS: tuple[Area, ...] = (
    manifest_changes,
    tool_changes,
    schema_changes,
    invocation_changes,
    outcome_changes,
    live_changes,
    requirement_changes,
    released_changes,
    example_changes,
    locale_changes,
    profile_changes,
    file_changes,
    policy_changes,
)

_FOREVER = ("released-changed", "released-removed")
"""Breaks that no version allows."""

_ORDER = list(Severity)
_APPROVALS, _MANIFEST = "approved-breaks.json", "manifest.json"


@dataclass(frozen=True)
class Comparison:
    """What changed from one specification to another, and what its version has to be."""

    old: SpecFiles
    new: SpecFiles
    changes: tuple[Change, ...]
    approved: Mapping[str, str]

    @property
    def breaks(self) -> tuple[Change, ...]:
        """The breaks that nobody has approved."""
        return tuple(
            change for change in self.changes if change.severity.breaks and change.fingerprint not in self.approved
        )

    @property
    def stale(self) -> tuple[str, ...]:
        """Approved fingerprints that no change has."""
        return tuple(sorted(set(_approvals(self.new)) - {change.fingerprint for change in self.changes}))

    @property
    def bump(self) -> Bump:
        """The part of the version that the changes raise; an approved break raises it as a wording does."""
        bumps = (Bump.PATCH if change.fingerprint in self.approved else change.bump for change in self.changes)
        return max(bumps, default=Bump.NONE)

    @property
    def needed(self) -> Version:
        """The smallest version that the new manifest may name."""
        return Version.parse(self.old.version).raised(self.bump)

    @property
    def is_reached(self) -> bool:
        """Whether the new manifest names that version, a later one, or a candidate of it."""
        version = Version.parse(self.new.version)
        # `2.0.0-rc.1` is before 2.0.0, and may already hold what 2.0.0 allows.
        candidate = Version(version.major, version.minor, version.patch)
        return version >= Version.parse(self.old.version) and candidate >= self.needed

    @property
    def is_refused(self) -> bool:
        """Whether there is an unapproved break that the version does not allow, or the version fell."""
        fell = Version.parse(self.new.version) < Version.parse(self.old.version)
        return fell or self.is_rewritten or (bool(self.breaks) and not self.is_reached)

    @property
    def is_rewritten(self) -> bool:
        """Whether a released list is another, which no version allows."""
        return any(change.rule in _FOREVER for change in self.breaks)


def diff(old: SpecFiles, new: SpecFiles, today: str = "") -> Comparison:
    """Every change from `old` to `new`, the gravest first; `today` tells which deprecations are due."""
    found = (change for area in AREAS for change in _of_area(area, old, new))
    changes = {change.fingerprint: change for change in judged(found, old, new, today)}
    # Last: a hint about the version needs all changes.
    changes |= {hint.fingerprint: hint for hint in _hints(old, new, changes.values())}
    order = sorted(changes.values(), key=lambda one: (_ORDER.index(one.severity), one.file, one.fingerprint))
    return Comparison(old, new, tuple(order), {**excepted(order, new), **_approvals(new)})


def _hints(old: SpecFiles, new: SpecFiles, changes: Collection[Change]) -> Iterator[Change]:
    """A hint where the new version is higher than all changes together need."""
    needed = Version.parse(old.version).raised(max((change.bump for change in changes), default=Bump.NONE))
    version = Version.parse(new.version)
    if Version(version.major, version.minor, version.patch) > needed:
        yield change("version-higher", _MANIFEST, ("version",), str(needed), new.version)


def _of_area(area: Area, old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """The changes of one area; where a file is so malformed that it cannot be compared, that is one of them."""
    try:
        yield from area(old, new)
    except MALFORMED as error:
        name = area.__name__.removesuffix("_changes")
        yield change("area-malformed", _MANIFEST, (), ABSENT, type(error).__name__, name=name)


def _approvals(spec: SpecFiles) -> Mapping[str, str]:
    """The reason of every approved break, by its fingerprint; without a reason nothing is approved."""
    entries = [table(entry) for entry in spec.entries(_APPROVALS, "approved")]
    return {
        entry["fingerprint"]: entry["reason"]
        for entry in entries
        if str(entry.get("reason", "")).strip() and isinstance(entry.get("fingerprint"), str)
    }
