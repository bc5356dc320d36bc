"""Proof: what becomes of a port that is judged. Plays conversations with it; the commands are in `prove.py`.

A defective port is judged by the requirement that it names first, an odd one by every MUST.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import killers
from gemini_mcp_conformance.judge import checks
from gemini_mcp_conformance.judge.registry import checks_for
from gemini_mcp_conformance.play.bench import Bench
from gemini_mcp_conformance.play.http_bench import HttpBench
from gemini_mcp_conformance.play.patience import Patience
from gemini_mcp_conformance.play.target import Target, can_play
from gemini_mcp_conformance.play.tracks import cost
from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.plan import gather, useful
from gemini_mcp_conformance.run.plugin import pytest_run
from gemini_mcp_conformance.run.run import deaths, run
from gemini_mcp_conformance.run.selection import Selection, select
from gemini_mcp_conformance.run.state import RunState
from gemini_mcp_conformance.spec import specification
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.tell.report import Report
from killers import Kill, Killers
from trials import Trial

EXAMPLES = 60
"""Calls that are generated where every conversation is played on a defective port."""
IMPATIENT = Patience(answer=4, start=3, end=4, files=1, first=12, launch=12)
"""A defective port is waited for less: it need not be right about anything else."""
PATIENT = Patience(answer=40, start=40, end=40, files=20)
"""An odd port is waited for longer: it is right, and many runs share the machine."""
BUDGET = 300.0
"""Seconds for one port, however busy the machine is."""
LIKELY = 16
"""How many cheap conversations are tried first in the search for those that kill a port."""
ENOUGH = 12
"""How many conversations that kill a port are looked for."""
SPEED = 10_000_000
"""Characters that a port takes in a second, beside others."""
FINE = ("pass", "not-applicable", "undecided")
WRITE = "Run `python tests/ports/prove.py --write`."


@dataclass(frozen=True)
class Proof:
    """What became of a trial; no complaints is what was to be proven. `note` asks for a new table of killers."""

    trial: Trial
    complaints: tuple[str, ...] = ()
    note: str = ""
    kill: Kill | None = None


@cache
def conversations() -> Mapping[str, Conversation]:
    """Every conversation by its id, which is the same in every run."""
    return {each.id: each for each in gather(Options(Target()))[0]}


@cache
def known() -> Killers:
    """The table of killers."""
    return killers.load()


def quick(trial: Trial) -> Proof:
    """Play the conversations that are known to kill a defective port; if they do not, all that can show its fault."""
    kill = known().get(trial.name)
    if kill is not None and not kill.conversations:
        return thorough(trial)
    if kill is None or not conversations().keys() >= set(kill.conversations):
        return replace(thorough(trial), note=f"No conversation is known to kill it. {WRITE}")
    if not _survival(_judged(trial, kill.conversations)):
        return Proof(trial)
    return replace(thorough(trial), note=f"{', '.join(kill.conversations)} did not kill it. {WRITE}")


def thorough(trial: Trial) -> Proof:
    """Play everything that can show the fault of a defective port, until something does."""
    return Proof(trial, _survival(_judged(trial)))


def measured(trial: Trial) -> Proof:
    """Find out which conversations kill a defective port, and keep the first of a run that does so on its own."""
    for attempt in _attempts(_killing(trial)):
        began = time.monotonic()
        if not _survival(_judged(trial, attempt)):
            return Proof(trial, kill=Kill(attempt, round(time.monotonic() - began, 1)))
    return thorough(trial)


def _attempts(killing: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """One conversation, or more for a port that remembers what it should not."""
    first = [id for id in conversations() if id in killing]
    yield from ((each,) for each in first[:ENOUGH])
    yield from (tuple(first[:count]) for count in (2, 4, len(first)) if count > 1)


def conforming(trial: Trial, chosen: Sequence[str]) -> Proof:
    """Play some conversations with an odd port."""
    with trial.target() as target:
        # With `fail_fast` it is also looked at early.
        options = Options(target, fail_fast=True, budget=BUDGET, patience=PATIENT)
        report = run(options, [conversations()[id] for id in chosen])
    wrong = [judged for judged in report.judgements if judged.level == "MUST" and judged.verdict not in FINE]
    told = (f"{judged.id} is {judged.verdict}: {judged.message} {judged.witness or ''}".rstrip() for judged in wrong)
    return Proof(trial, tuple(told))


def price(conversation: Conversation) -> float:
    """About how many seconds it takes beside others."""
    return cost(conversation) + sum(len(str(step)) for step in conversation.steps) / SPEED


def _judged(trial: Trial, chosen: Sequence[str] | None = None) -> Report:
    """What a run says of a defective port that looks at one requirement only."""
    played = None if chosen is None else [conversations()[id] for id in chosen]
    with trial.target() as target:
        return run(_impatient(trial, target), played)


def _impatient(trial: Trial, target: Target) -> Options:
    only = Selection(only=(str(trial.killer),))
    return Options(target, only, True, fail_fast=True, examples=EXAMPLES, budget=BUDGET, jobs=2, patience=IMPATIENT)


def _survival(report: Report) -> tuple[str, ...]:
    judged = report.judgements[0]
    return () if judged.verdict == "fail" else (f"{judged.id} is {judged.verdict}: {judged.message}",)


def _killing(trial: Trial) -> frozenset[str]:
    """Conversations in which a defective port fails its requirement: cheap ones if there are any."""
    options = _impatient(trial, Target())
    every = useful(tuple(conversations().values()), options, {str(trial.killer)})
    cheap = [each for each in every if not each.alone and each.seconds < 1]
    likely = [each for each in cheap if trial.killer in each.requirements] or cheap
    return _failed(trial, likely[:LIKELY]) or _failed(trial, every)


def _failed(trial: Trial, offered: Sequence[Conversation]) -> frozenset[str]:
    """Those of the conversations in which a defective port fails its requirement, or as many as are enough."""
    checks.load()
    with trial.target() as target:
        playable = [each for each in offered if can_play(target, each)]
        options = Options(target, Selection(only=(str(trial.killer),)), budget=BUDGET, patience=IMPATIENT)
        selected = select(options.selection, "server")
        kind = HttpBench if target.url else Bench
        with kind(target, specification.load(), IMPATIENT) as bench:
            state = RunState(options, bench, playable, (), checks_for(selected), lambda finding: False)
            # The hook needs the state that it ends, so it is put in afterwards.
            state.options = replace(options, on_progress=partial(_ended_when_enough, state))
            pytest_run(state)
            found = [*state.findings, *deaths(bench, playable)]
    return frozenset(each.conversation for each in found if (each.outcome, each.requirement) == ("fail", trial.killer))


def _ended_when_enough(state: RunState, *told: object) -> None:
    if len(state.failing) >= ENOUGH:
        state.cut = "Enough is known."
