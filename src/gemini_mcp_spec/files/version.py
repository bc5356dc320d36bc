"""Versions of the specification, by semantic versioning: their order, and the next one. Pure."""

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import total_ordering

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?")


class Bump(IntEnum):
    """The part of the version that a change raises."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3


@total_ordering
@dataclass(frozen=True)
class Version:
    """A version, ordered as semantic versioning says."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Version":
        """The version that `text` names; 0.0.0 where it names none."""
        match = _VERSION.fullmatch(text)
        if match is None:
            return cls(0, 0, 0)
        tag = match[4]
        return cls(int(match[1]), int(match[2]), int(match[3]), tuple(tag.split(".")) if tag else ())

    @staticmethod
    def is_one(text: str) -> bool:
        """Whether `text` names a version."""
        return _VERSION.fullmatch(text) is not None

    def raised(self, bump: Bump) -> "Version":
        """The smallest release that `bump` after this one allows; before 1.0.0 each part means the one above it."""
        if self.major == 0 and bump > Bump.PATCH:
            bump = Bump(bump - 1)
        match bump:
            case Bump.NONE:
                return self
            case Bump.PATCH:
                return Version(self.major, self.minor, self.patch + (not self.prerelease))
            case Bump.MINOR:
                return Version(self.major, self.minor + 1, 0)
            case Bump.MAJOR:
                return Version(self.major + 1, 0, 0)

    def __lt__(self, other: "Version") -> bool:
        return self._order() < other._order()

    def __str__(self) -> str:
        tag = f"-{'.'.join(self.prerelease)}" if self.prerelease else ""
        return f"{self.major}.{self.minor}.{self.patch}{tag}"

    def _order(self) -> tuple[object, ...]:
        # Semantic versioning, 11: numbers come before words, and by size; a pre-release comes before its release.
        tag = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in self.prerelease)
        return (self.major, self.minor, self.patch, not self.prerelease, tag)
