"""What checks found, gathered by requirement: the worst outcome wins, with its message and its witness; pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gemini_mcp_conformance.host.values import Json

PASS, FAIL, NOT_APPLICABLE, COULD_NOT_RUN, HARNESS_ERROR = (
    "pass",
    "fail",
    "not-applicable",
    "could-not-run",
    "harness-error",
)
_WORST = (FAIL, HARNESS_ERROR, COULD_NOT_RUN, PASS)


@dataclass(frozen=True)
class Finding:
    """One check's outcome, for all the requirements it speaks of; `check` names the vector, property or scenario."""

    check: str
    requirements: tuple[str, ...]
    outcome: str
    message: str = ""
    witness: Json = None


@dataclass(frozen=True)
class Verdict:
    """One requirement's outcome."""

    requirement: str
    outcome: str
    message: str = ""
    witness: Json = None
    checks: int = 0


def gather(requirements: Sequence[Json], findings: Iterable[Finding], elsewhere: frozenset[str]) -> list[Verdict]:
    """A verdict for every host requirement that can be checked; `elsewhere` has checks in the other profile."""
    by_requirement: dict[str, list[Finding]] = {}
    for finding in findings:
        for requirement in finding.requirements:
            by_requirement.setdefault(requirement, []).append(finding)
    wanted = [entry["id"] for entry in requirements if entry.get("profile") == "host" and not entry.get("excluded")]
    return [_verdict(requirement, by_requirement, elsewhere) for requirement in wanted]


def _verdict(requirement: str, findings: Mapping[str, list[Finding]], elsewhere: frozenset[str]) -> Verdict:
    found = findings.get(requirement, [])
    if not found:
        outcome = NOT_APPLICABLE if requirement in elsewhere else COULD_NOT_RUN
        return Verdict(requirement, outcome, "" if outcome == NOT_APPLICABLE else "nothing checks it")
    worst = min(found, key=lambda finding: _WORST.index(finding.outcome))
    message = f"{worst.check}: {worst.message}" if worst.message else ""
    return Verdict(requirement, worst.outcome, message, worst.witness, len(found))
