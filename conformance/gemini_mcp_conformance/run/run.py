"""Run: plays and judges the conversations for some options, and makes the Report. Effect.

The steps of a run are here in order; each is a module of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from gemini_mcp.spec import Requirement
from gemini_mcp.spec.values import inside
from gemini_mcp_conformance.judge import checks
from gemini_mcp_conformance.judge.explanation import explained
from gemini_mcp_conformance.judge.finding import Finding
from gemini_mcp_conformance.judge.judgement import Judgement
from gemini_mcp_conformance.judge.judging import judge_death
from gemini_mcp_conformance.judge.verdict import Circumstances, decide
from gemini_mcp_conformance.play.bench import Bench
from gemini_mcp_conformance.play.http_bench import HttpBench
from gemini_mcp_conformance.run.ending import FIRST_FAILURE, Ending, Interrupted, fatal, to_report
from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.plan import Plan, absent, planned
from gemini_mcp_conformance.run.plugin import pytest_run
from gemini_mcp_conformance.run.state import RunState
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.spec import specification
from gemini_mcp_conformance.talk import sources as conversations
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.messages import SERVER_INFO
from gemini_mcp_conformance.talk.sources.combinations import coverage
from gemini_mcp_conformance.tell import replays
from gemini_mcp_conformance.tell.report import Identity, Report

ORDINARY = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)


def run(options: Options, chosen: Sequence[Conversation] | None = None) -> Report:
    """Play the chosen conversations, or those of all sources, and judge them."""
    checks.load()
    plan = planned(options, chosen)
    bench_for = HttpBench if options.target.url else Bench
    patience = options.patience.until_failure() if options.fail_fast else options.patience
    with bench_for(options.target, specification.load(options.selection.spec), patience) as bench:
        bench.prove_fake()
        is_fatal = fatal(options, plan.selected)
        state = RunState(options, bench, plan.playable, plan.explorations, plan.checks, is_fatal)
        code = pytest_run(state)
    is_interrupted = _conclude(state, code)
    state.findings += [finding for finding in deaths(bench, plan.every) if finding.requirement in plan.ids]
    found = _report(options, plan, state, FIRST_FAILURE if options.fail_fast and code != 0 else None)
    if is_interrupted:
        raise Interrupted(found)
    return found


def _conclude(state: RunState, code: int) -> bool:
    """Add what was found before an early end. Says whether it was the operator who ended the run."""
    # `pytest.exit`, by which a run ends early, gives the same code as an interrupt.
    is_interrupted = code == pytest.ExitCode.INTERRUPTED and state.unreachable is None and state.cut is None
    if is_interrupted:
        state.interrupt()
    if state.cut is not None:
        state.findings += state.finished()
    if code not in ORDINARY:
        state.faults.append(f"pytest, which ended with {code}.")
    return is_interrupted


def _report(options: Options, plan: Plan, state: RunState, early: str | None) -> Report:
    """The report, after the conversations that fail have been kept."""
    is_whole = not plan.is_chosen and options.selection.is_whole and state.is_whole
    lost = replays.keep(options.target, state.failing.values(), is_whole)
    ending = Ending(state.unreachable, state.cut or state.given_up, state.faults, state.advice)
    judgements = _judgements(options, plan, state, ending.reason or early, is_whole)
    greeting = state.greeting
    found = to_report(options, "server", judgements, ending, _identity(greeting), _protocol(greeting))
    found = replace(found, notes=(*found.notes, lost)) if lost else found
    if not is_whole:
        return found
    sources = conversations.read(options.selection.spec, options.examples, options.seed, options.thorough)
    return replace(found, coverage=coverage(sources))


def _judgements(
    options: Options, plan: Plan, state: RunState, cut: str | None, is_whole: bool
) -> tuple[Judgement, ...]:
    target = options.target
    selected = shown(plan.selected, state.findings) if plan.is_chosen else plan.selected
    return decide(
        selected,
        explained(state.findings, selected),
        Circumstances(
            checked=plan.decided,
            replay=lambda finding: replays.replay_command(finding.conversation, finding.requirement, target),
            absent=absent(target, plan.every),
            cut=cut,
            is_whole=is_whole and target.url is None,
            seconds=state.seconds,
        ),
    )


def shown(selected: Sequence[Requirement], findings: Sequence[Finding]) -> tuple[Requirement, ...]:
    """The requirements that have findings, or all of them when there are no findings."""
    found = {finding.requirement for finding in findings}
    return tuple(each for each in selected if each.id in found or not found)


def deaths(bench: Bench, every: Sequence[Conversation]) -> Iterator[Finding]:
    """The findings about ports that ended unasked, in the order of the conversations; generated ones come last."""
    order = {conversation.id: number for number, conversation in enumerate(every)}
    for death in sorted(bench.deaths, key=lambda death: order.get(death.conversation.id, len(order))):
        yield from judge_death(death.conversation, death.how, death.told)


def _identity(greeting: Exchange | None) -> Identity | None:
    result = greeting.result if greeting else None
    info = inside(result, "serverInfo") or inside(result, "_meta", SERVER_INFO)
    name, number = inside(info, "name"), inside(info, "version")
    return Identity(name, number) if isinstance(name, str) and isinstance(number, str) else None


def _protocol(greeting: Exchange | None) -> str | None:
    spoken = inside(greeting.result if greeting else None, "protocolVersion")
    return spoken if isinstance(spoken, str) else greeting.revision if greeting else None
