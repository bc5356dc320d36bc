"""The host direction of the suite: an adapter command and a profile in, a judgement on every requirement out. Effect.

A further kind of check is a module that makes `Check`s, and one line in `checks`.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gemini_mcp_conformance.host import properties, scenarios, vectors
from gemini_mcp_conformance.host.asking import NeverAnswered, adapter
from gemini_mcp_conformance.host.checking import Check, Finding, checked
from gemini_mcp_conformance.host.judging import Target
from gemini_mcp_conformance.host.judging import judge as judged
from gemini_mcp_conformance.host.specification import HostSpec, load
from gemini_mcp_conformance.tell.report import Judgement

PROFILES = ("documented", "current")
REFERENCE = (sys.executable, "-m", "gemini_mcp.host.adapter")
"""The adapter of the host that belongs to this suite."""


def every(_requirement: str) -> bool:
    """Any requirement."""
    return True


@dataclass(frozen=True)
class Options:
    """How thoroughly to look, and at which requirements."""

    max_examples: int = 50
    seed: int = 0
    wanted: Callable[[str], bool] = every


def judge(
    command: Sequence[str], profile: str = "documented", options: Options | None = None, spec: HostSpec | None = None
) -> tuple[Judgement, ...]:
    """Judge the host behind an adapter command; raises NeverAnswered."""
    chosen, specification = options or Options(), spec or load()
    requirements = [entry for entry in specification.requirements if chosen.wanted(entry.id)]
    [other] = set(PROFILES) - {profile}
    elsewhere = frozenset(name for check in checks(specification, other, chosen) for name in check.requirements)
    found = findings(command, profile, checks(specification, profile, chosen))
    return tuple(judged(requirements, found, Target(tuple(command), profile, elsewhere)))


def findings(command: Sequence[str], profile: str, made: Iterator[Check]) -> list[Finding]:
    """What each check found on the adapter command; raises NeverAnswered."""
    with adapter(command) as asked:
        return [checked(check, asked, profile) for check in made]


def checks(spec: HostSpec, profile: str, options: Options) -> Iterator[Check]:
    """Every check of the profile that decides on a wanted requirement."""
    for check in (
        *vectors.checks(spec.vectors, profile),
        *properties.checks(profile, options.max_examples, options.seed),
        *scenarios.checks(spec.scenarios, profile),
    ):
        if any(options.wanted(name) for name in check.requirements):
            yield check


__all__ = [
    "PROFILES",
    "REFERENCE",
    "Check",
    "Finding",
    "HostSpec",
    "NeverAnswered",
    "Options",
    "findings",
    "judge",
    "load",
]
