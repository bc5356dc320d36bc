"""Runs the checks of hosts on an adapter, from the options to the report. Effect."""

from __future__ import annotations

import json
import math
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gemini_mcp.spec import load_documents
from gemini_mcp.spec.values import JsonObject
from gemini_mcp_conformance.host import properties, scenarios, vectors
from gemini_mcp_conformance.host.asking import Adapter, NeverAnswered
from gemini_mcp_conformance.host.questions import HostCheck, Questions, findings, is_staged, together
from gemini_mcp_conformance.judge.finding import Finding
from gemini_mcp_conformance.judge.verdict import Circumstances, decide
from gemini_mcp_conformance.run.ending import FIRST_FAILURE, INTERRUPTED, SPENT, Ending, Interrupted, fatal, to_report
from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.selection import select
from gemini_mcp_conformance.tell.report import Report


@dataclass
class Asked:
    """The findings, the requests by the name of the check, and how the run ended."""

    findings: list[Finding] = field(default_factory=list[Finding])
    requests: dict[str, tuple[JsonObject, ...]] = field(default_factory=dict[str, tuple[JsonObject, ...]])
    ending: Ending = field(default_factory=Ending)


def run(options: Options) -> Report:
    """Ask the adapter every question, and judge."""
    selected = select(options.selection, "host")
    wanted = {requirement.id for requirement in selected}
    every = checks(options.selection.spec, options.examples, options.seed or 0)
    every = [check for check in every if check.requirement in wanted]
    adapter = Adapter(options.target.command)
    questions = Questions(adapter.ask, options.profile)
    bound = together(every, questions)
    asked = ask(options, adapter, questions, bound, fatal(options, selected))
    checked = frozenset(check.requirement for check in every)
    elsewhere = checked.difference(check.requirement for checks in bound for check in checks)
    circumstances = Circumstances(
        checked=checked,
        replay=lambda finding: replay_command(finding, asked.requests[finding.conversation], options),
        absent=dict.fromkeys(elsewhere, f"It does not bind the {options.profile} profile."),
        cut=asked.ending.reason,
    )
    report = to_report(options, "host", decide(selected, asked.findings, circumstances), asked.ending)
    if asked.ending.cut == INTERRUPTED:
        raise Interrupted(report)
    return report


def checks(spec: Path | None, examples: int = 100, seed: int = 0) -> Iterator[HostCheck]:
    """Every check of hosts, of both profiles. A new kind of check is added here."""
    yield from vectors.checks(load_documents("host/vectors", spec))
    yield from properties.checks(examples, seed)
    yield from scenarios.checks(load_documents("host/scenarios", spec).values())


def ask(
    options: Options,
    adapter: Adapter,
    questions: Questions,
    every: Sequence[Sequence[HostCheck]],
    is_fatal: Callable[[Finding], bool],
) -> Asked:
    """Ask until there is a reason to stop; nothing is found when the adapter never answers."""
    asked = Asked()
    deadline = time.monotonic() + (options.budget or math.inf)
    try:
        with adapter:
            for number, (check, *others) in enumerate(every):
                if time.monotonic() > deadline:
                    cut = f"The budget of {options.budget:g} seconds was spent before it."
                    asked.ending = Ending(cut=cut, advice=SPENT.format(budget=options.budget))
                    break
                options.on_progress(check.name, check.requirement.partition(":")[0], number, len(every))
                found = findings((check, *others), questions)
                asked.findings += found
                asked.requests[check.name] = tuple(questions.requests)
                if options.fail_fast and any(map(is_fatal, found)):
                    asked.ending = Ending(cut=FIRST_FAILURE)
                    break
    except NeverAnswered as error:
        return Asked(ending=Ending(silence=f"The adapter never answered: {error}"))
    except KeyboardInterrupt:
        asked.ending = Ending(cut=INTERRUPTED, advice="It was interrupted.")
    return asked


def replay_command(finding: Finding, requests: Sequence[JsonObject], options: Options) -> str:
    """The command that shows a failure again: a run for a scenario, which needs servers; else a pipe."""
    command = shlex.join(options.target.command)
    if is_staged(requests) or not requests:
        only = f"--profile {options.profile} --only {shlex.quote(finding.requirement)}"
        return f"gemini-mcp-conformance run --direction host {only} -- {command}"
    return f"printf '%s\\n' {shlex.join(map(json.dumps, requests))} | {command}"
