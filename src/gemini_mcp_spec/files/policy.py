"""Reads `gate.json`, which says how changes are judged. Pure.

Only the reading of that file belongs here; what it does to a change is decided in `diff`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from gemini_mcp.spec.values import is_object
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.version import Version

FILE = "gate.json"


@dataclass(frozen=True)
class Exempt:
    """Breaks of a kind that somebody answers for."""

    rule: str
    file: str
    reason: str

    def covers(self, rule: str, file: str) -> bool:
        return self.rule == rule and fnmatchcase(file, self.file) and bool(self.reason.strip())


@dataclass(frozen=True)
class Deprecated:
    """A tool, or an argument of it, that may be gone from a version or a date on."""

    tool: str
    argument: str | None
    until: str

    def is_due(self, version: str, today: str) -> bool:
        """Whether it may be gone in this version on this day, which is written as `2026-07-28`."""
        if "-" in self.until:
            # Dates in ISO 8601 sort as texts.
            return self.until <= today
        return Version.parse(self.until) <= Version.parse(version)


def severities(spec: SpecFiles) -> Mapping[str, str]:
    """What a rule is to be, by its name."""
    return {rule: str(severity) for rule, severity in spec.objects(FILE, "severities").items()}


def exempt(spec: SpecFiles) -> Iterator[Exempt]:
    """The exceptions that hold a rule, a file and a reason."""
    for entry in filter(is_object, spec.entries(FILE, "exceptions")):
        yield Exempt(str(entry.get("rule")), str(entry.get("file")), str(entry.get("reason", "")))


def deprecated(spec: SpecFiles) -> Iterator[Deprecated]:
    """The tools and arguments that are marked."""
    for entry in filter(is_object, spec.entries(FILE, "deprecated")):
        argument = entry.get("argument")
        yield Deprecated(str(entry.get("tool")), None if argument is None else str(argument), str(entry.get("until")))
