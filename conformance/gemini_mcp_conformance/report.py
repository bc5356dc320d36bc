"""Report: the verdicts of a run as the JSON of `spec/meta/report.schema.json`; pure. Other formats derive from it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gemini_mcp_conformance.conversation import Json
from gemini_mcp_conformance.target import Target
from gemini_mcp_conformance.verdict import OUTCOMES, Verdict

SCHEMA = "1.0.0"
LEVELS = ("MUST", "SHOULD", "MAY")


@dataclass(frozen=True)
class Head:
    """What a report says beside its verdicts."""

    spec: str
    suite: str
    target: Target
    port: Mapping[str, str] | None
    protocol: str | None
    seed: int | None
    strict: bool
    exit: int


def to_report(head: Head, verdicts: Sequence[Verdict]) -> Mapping[str, Json]:
    """The whole report."""
    return {
        "schema": SCHEMA,
        "spec": {"version": head.spec},
        "suite": {"version": head.suite},
        "target": {"url": head.target.url} if head.target.url else {"command": list(head.target.command)},
        "port": head.port,
        "profile": "server",
        "protocol": head.protocol,
        "seed": head.seed,
        "strict": head.strict,
        "exit": head.exit,
        "counts": {level: _counts(level, verdicts) for level in LEVELS},
        "score": {"must": _score("MUST", verdicts), "should": _score("SHOULD", verdicts)},
        "requirements": [_requirement(verdict, head.target) for verdict in verdicts],
    }


def replay_command(conversation: str, target: Target) -> str:
    """The command that shows one conversation again."""
    end = f"--url {shlex.quote(target.url)}" if target.url else f"-- {shlex.join(target.command)}"
    return f"gemini-mcp-conformance replay {shlex.quote(conversation)} {end}"


def _counts(level: str, verdicts: Sequence[Verdict]) -> Mapping[str, int]:
    own = [verdict.outcome for verdict in verdicts if verdict.requirement.level == level]
    return {outcome: own.count(outcome) for outcome in OUTCOMES}


def _score(level: str, verdicts: Sequence[Verdict]) -> Mapping[str, int]:
    counts = _counts(level, verdicts)
    return {"passed": counts["pass"], "applicable": sum(counts.values()) - counts["not-applicable"]}


def _requirement(verdict: Verdict, target: Target) -> Mapping[str, Json]:
    fails = verdict.outcome == "fail" and verdict.conversation is not None
    return {
        "id": verdict.requirement.id,
        "level": verdict.requirement.level,
        "sentence": verdict.requirement.sentence,
        "verdict": verdict.outcome,
        "message": verdict.message or None,
        "witness": verdict.witness or None,
        "replay": replay_command(verdict.conversation or "", target) if fails else None,
    }
