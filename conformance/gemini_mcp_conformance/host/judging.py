"""What checks found, as judgements: the worst finding on a requirement decides it, with witness and replay; pure."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from gemini_mcp.spec import Requirement
from gemini_mcp_conformance.host.checking import Finding
from gemini_mcp_conformance.host.values import Json
from gemini_mcp_conformance.tell.report import Judgement, Level, Verdict

_WORST: tuple[Verdict, ...] = ("fail", "harness-error", "could-not-run", "pass")
_SHOWN = 400


@dataclass(frozen=True)
class Target:
    """What is judged: an adapter command in a profile; `elsewhere` are the requirements that only the other one has."""

    command: tuple[str, ...]
    profile: str
    elsewhere: frozenset[str]


def judge(requirements: Iterable[Requirement], findings: Iterable[Finding], target: Target) -> Iterator[Judgement]:
    """A judgement on each requirement, in their order."""
    by_requirement: dict[str, list[Finding]] = {}
    for finding in findings:
        for requirement in finding.requirements:
            by_requirement.setdefault(requirement, []).append(finding)
    for requirement in requirements:
        yield _judged(requirement, by_requirement.get(requirement.id, []), target)


def _judged(requirement: Requirement, findings: Sequence[Finding], target: Target) -> Judgement:
    if not findings:
        return _unjudged(requirement, target)
    worst = min(findings, key=lambda finding: _WORST.index(finding.outcome))
    if worst.outcome == "pass":
        return _judgement(requirement, "pass", None, f"{len(findings)} checks, the first of them {findings[0].check}")
    replay = _replay(requirement, worst, target) if worst.outcome == "fail" else None
    return _judgement(requirement, worst.outcome, f"{worst.check}: {worst.message}", _witness(worst), replay)


def _unjudged(requirement: Requirement, target: Target) -> Judgement:
    if requirement.excluded is not None:
        return _judgement(requirement, "not-applicable", requirement.excluded)
    if requirement.id in target.elsewhere:
        return _judgement(requirement, "not-applicable", f"It does not bind the {target.profile} profile.")
    return _judgement(requirement, "could-not-run", "The suite has no check for it.")


def _judgement(
    requirement: Requirement,
    verdict: Verdict,
    message: str | None,
    witness: str | None = None,
    replay: str | None = None,
) -> Judgement:
    level = cast(Level, requirement.level)
    return Judgement(requirement.id, level, requirement.sentence, verdict, message, witness, replay)


def _witness(finding: Finding) -> str:
    """The requests, without the paths that a scenario's request holds."""
    if _is_staged(finding) or not finding.requests:
        return finding.check
    asked = "; ".join(_line(request) for request in finding.requests)
    return f"{finding.check}: asked {asked if len(asked) <= _SHOWN else f'{asked[:_SHOWN]}…'}"


def _replay(requirement: Requirement, finding: Finding, target: Target) -> str:
    """The command that shows it again: a scenario needs its servers, and so the suite; anything else needs a pipe."""
    if _is_staged(finding) or not finding.requests:
        chosen = ["--direction", "host", "--profile", target.profile, "--only", requirement.id]
        return shlex.join(["gemini-mcp-conformance", "run", *chosen, "--", *target.command])
    lines = shlex.join(_line(request) for request in finding.requests)
    return f"printf '%s\\n' {lines} | {shlex.join(target.command)}"


def _is_staged(finding: Finding) -> bool:
    return any(request["behaviour"] == "scenario" for request in finding.requests)


def _line(request: Mapping[str, Json]) -> str:
    return json.dumps(request)
