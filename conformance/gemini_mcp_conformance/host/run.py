"""A run on a host: options in, a Report out, by way of the host's checks on its adapter. Effects."""

from __future__ import annotations

import time
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field

from gemini_mcp.spec import load_manifest
from gemini_mcp_conformance import host
from gemini_mcp_conformance.host.asking import adapter
from gemini_mcp_conformance.host.checking import Check, Finding, checked
from gemini_mcp_conformance.host.judging import Target, judge
from gemini_mcp_conformance.run.progress import Told, untold
from gemini_mcp_conformance.run.selection import Selection, select
from gemini_mcp_conformance.tell.report import INCOMPLETE, NO_ANSWER, Command, Judgement, Report, exit_code, first_of
from gemini_mcp_conformance.version import suite_version


@dataclass(frozen=True)
class Options:
    """What a run on a host is asked for."""

    command: tuple[str, ...]
    profile: str = "documented"
    selection: Selection = field(default_factory=Selection)
    strict: bool = False
    fail_fast: bool = False
    examples: int = 100
    seed: int | None = None
    budget: float | None = None
    known: frozenset[str] = frozenset()
    told: Told = untold


class Asking:
    """The checks one after another, until there is a reason to stop."""

    def __init__(self, options: Options, every: Sequence[Check], fatal: frozenset[str]) -> None:
        self._options, self._every, self._fatal = options, every, fatal
        self._deadline = None if options.budget is None else time.monotonic() + options.budget
        self.cut: str | None = None
        self.silence: str | None = None

    def findings(self) -> tuple[Finding, ...]:
        """A finding for every check; those that were not reached could not run."""
        found: list[Finding] = []
        try:
            with adapter(self._options.command) as asked:
                for number, check in enumerate(self._reached()):
                    self._options.told(check.name, _area(check), number, len(self._every))
                    found.append(checked(check, asked, self._options.profile))
                    self._look_at(found[-1])
        except host.NeverAnswered as error:
            self.silence = f"The adapter never answered: {error}."
            found = []
        why = self.silence or self.cut or ""
        return (*found, *(_unasked(check, why) for check in self._every[len(found) :]))

    def _reached(self) -> Iterator[Check]:
        for check in self._every:
            if self._deadline is not None and time.monotonic() > self._deadline:
                self.cut = f"The budget of {self._options.budget:g} seconds was spent before it."
            if self.cut is not None:
                return
            yield check

    def _look_at(self, finding: Finding) -> None:
        if self._options.fail_fast and finding.outcome == "fail" and self._fatal.intersection(finding.requirements):
            self.cut = "The run ended at the first failure."


def run(options: Options) -> Report:
    """Ask the adapter all there is to ask, and judge."""
    chosen = select(options.selection, "host")
    levels = {requirement.id: requirement.level for requirement in chosen}
    fatal = frozenset(id for id, level in levels.items() if level == "MUST" or options.strict) - options.known
    asking = Asking(options, _checks(options, options.profile, levels), fatal)
    findings = asking.findings()
    [other] = set(host.PROFILES) - {options.profile}
    elsewhere = frozenset(id for check in _checks(options, other, levels) for id in check.requirements)
    judgements = tuple(judge(chosen, findings, Target(options.command, options.profile, elsewhere)))
    codes = [exit_code(judgements, options.strict), NO_ANSWER if asking.silence else 0, INCOMPLETE if asking.cut else 0]
    return _report(options, judgements, first_of(codes), asking.silence)


def _checks(options: Options, profile: str, wanted: Container[str]) -> tuple[Check, ...]:
    thorough = host.Options(options.examples, options.seed or 0, wanted.__contains__)
    return tuple(host.checks(host.load(options.selection.spec), profile, thorough))


def _report(options: Options, judgements: tuple[Judgement, ...], code: int, silence: str | None) -> Report:
    return Report(
        spec_version=options.selection.spec_version or load_manifest(options.selection.spec).version,
        suite_version=suite_version(),
        target=Command(options.command),
        port=None,
        profile="host",
        protocol=None,
        seed=options.seed,
        strict=options.strict,
        exit=code,
        judgements=judgements,
        notes=(silence,) if silence else (),
    )


def _area(check: Check) -> str:
    return check.requirements[0].partition(":")[0] if check.requirements else check.name


def _unasked(check: Check, why: str) -> Finding:
    return Finding(check.name, check.requirements, "could-not-run", why)
