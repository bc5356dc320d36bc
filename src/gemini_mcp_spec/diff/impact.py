"""Impact: which verdicts of a port, by its report, may flip with the changes of a specification. Pure.

A report says what a port did; what it would do under a changed expectation only another run can say.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gemini_mcp.spec.values import Json, is_object
from gemini_mcp_spec.diff.change import Change
from gemini_mcp_spec.diff.comparison import Comparison
from gemini_mcp_spec.files.examples import calls
from gemini_mcp_spec.files.requirements import requirements

_AGAIN = "unknown: run again"
_BY_TOOL = ("server/tools/", "server/invocation.json")
_BY_RESULT = ("server/results/", "server/outcome.json")


@dataclass(frozen=True)
class Flip:
    """One requirement of one port whose verdict changes, or may change."""

    port: str
    requirement: str
    old: str
    new: str
    reason: str


@dataclass(frozen=True)
class Impact:
    """What the changes mean for one port."""

    port: str
    flips: tuple[Flip, ...]


def impact(comparison: Comparison, reports: Iterable[tuple[str, Json]]) -> list[Impact]:
    """What the changes mean for each port, in the order of the reports."""
    ports = [(_port(name, report), report) for name, report in reports]
    return [Impact(port, tuple(_flips(comparison, port, report))) for port, report in ports]


def _port(name: str, report: Json) -> str:
    port = report.get("port")
    return f"{port['name']} {port['version']} ({name})" if is_object(port) else name


def _flips(comparison: Comparison, port: str, report: Json) -> Iterator[Flip]:
    verdicts = {entry["id"]: entry["verdict"] for entry in report["requirements"]}
    profile = report.get("profile", "server")
    for change in comparison.changes:
        for name in sorted(set(_concerned(change, comparison))):
            new = _after(change, verdicts.get(name), bool(report.get("strict")))
            if new is not None and _profile(comparison, name) in (profile, None):
                yield Flip(port, name, verdicts.get(name, "not checked"), new, change.message)


def _profile(comparison: Comparison, name: str) -> str | None:
    entries = [entry for _, _, entry in (*requirements(comparison.new), *requirements(comparison.old))]
    return next((str(entry.get("profile")) for entry in entries if entry["id"] == name), None)


def _after(change: Change, verdict: str | None, strict: bool) -> str | None:
    """What follows from a change for a requirement that has this verdict; None where nothing does."""
    match change.rule:
        case "requirement-added" | "recommendation-added":
            return _AGAIN
        case "requirement-removed":
            return "gone" if verdict else None
        case "requirement-raised" | "recommendation-raised":
            return "fails the run" if verdict == "fail" and (strict or change.new == "MUST") else None
        case "requirement-lowered":
            return ("warns" if change.new == "SHOULD" else "fails no run") if verdict == "fail" else None
        case _:
            return _AGAIN if change.severity.breaks and verdict else None


def _concerned(change: Change, comparison: Comparison) -> Iterable[str]:
    """The requirements that a change touches: its own, or those that are shown by calls which it touches."""
    if change.requirements or not change.file.startswith((*_BY_TOOL, *_BY_RESULT)):
        return change.requirements
    touched = {call.file for call in calls(comparison.new) if _touches(change, call.name)}
    documents = comparison.new.documents
    return [name for file in touched for name in documents[file].get("requirements", ())]


def _touches(change: Change, tool: str) -> bool:
    if change.file.startswith("server/tools/"):
        return change.file == f"server/tools/{tool}.json"
    return change.path[:1] != ("tools",) or tool in change.path
