"""The host direction of the suite: an adapter command and a profile in, a verdict for every requirement out.

The data comes from the caller, who reads the specification; nothing here opens a file of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gemini_mcp_conformance.host import properties, scenarios, vectors
from gemini_mcp_conformance.host.asking import adapter
from gemini_mcp_conformance.host.values import Json
from gemini_mcp_conformance.host.verdicts import Finding, Verdict, gather


@dataclass(frozen=True)
class HostSpec:
    """What the host part of the specification holds: entries, vectors by behaviour, scenarios."""

    requirements: Sequence[Json]
    vectors: Mapping[str, Sequence[Json]]
    scenarios: Sequence[Json]


@dataclass(frozen=True)
class Options:
    """How thoroughly to look."""

    max_examples: int = 50
    seed: int = 0
    with_scenarios: bool = True
    allow_observed: bool = False


def run(command: Sequence[str], profile: str, spec: HostSpec, options: Options | None = None) -> list[Verdict]:
    """Check the host behind the adapter command in one profile."""
    findings = findings_of(command, profile, spec, options or Options())
    return gather(spec.requirements, findings, speaks_of(spec, "current" if profile == "documented" else "documented"))


def findings_of(command: Sequence[str], profile: str, spec: HostSpec, options: Options) -> list[Finding]:
    """Every single check's outcome."""
    with adapter(command) as asked:
        found = [*vectors.check(asked, spec.vectors, profile, options.allow_observed)]
        if options.max_examples:
            found += properties.check(asked, profile, options.max_examples, options.seed)
        if options.with_scenarios:
            found += scenarios.check(asked, spec.scenarios, profile)
    return found


def speaks_of(spec: HostSpec, profile: str) -> frozenset[str]:
    """The requirements that have a check in the profile."""
    return (
        vectors.speaks_of(spec.vectors, profile)
        | properties.speaks_of(profile)
        | scenarios.speaks_of(spec.scenarios, profile)
    )


__all__ = ["Finding", "HostSpec", "Options", "Verdict", "findings_of", "run", "speaks_of"]
