"""Run: plays and judges the conversations for some options, and makes the Report. Effect.

The steps of a run are here in order; each is a module of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pytest

from gemini_mcp.spec import Requirement, SpecError
from gemini_mcp.spec.values import inside
from gemini_mcp_conformance.judge import checks
from gemini_mcp_conformance.judge.explanation import explained
from gemini_mcp_conformance.judge.finding import Finding
from gemini_mcp_conformance.judge.judging import judge_death
from gemini_mcp_conformance.judge.registry import checks_for
from gemini_mcp_conformance.judge.verdict import Circumstances, decide
from gemini_mcp_conformance.play.bench import Bench
from gemini_mcp_conformance.play.http_bench import HttpBench
from gemini_mcp_conformance.play.target import Target, can_play, has_gemini
from gemini_mcp_conformance.run.ending import FIRST_FAILURE, Ending, Interrupted, fatal, to_report
from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.plugin import pytest_run
from gemini_mcp_conformance.run.selection import select
from gemini_mcp_conformance.run.state import RunState
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.spec import specification
from gemini_mcp_conformance.talk import sources as conversations
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.exploration import Exploration
from gemini_mcp_conformance.talk.messages import SERVER_INFO
from gemini_mcp_conformance.talk.sources.combinations import coverage
from gemini_mcp_conformance.talk.sources.revisions import Revisions
from gemini_mcp_conformance.tell import replays
from gemini_mcp_conformance.tell.report import Identity, Report

ORDINARY = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)

GREETED = frozenset({"identity:name", "identity:version"})
"""Requirements that every greeting shows, so that no conversation names them."""
EQUIVALENCE = "http:equivalence"
ANYWHERE = frozenset(
    {
        *("rpc:batch", "rpc:jsonrpc", "rpc:response:either", "stdio:framing", "stdio:stderr:private", "stdio:stdout"),
        EQUIVALENCE,
    }
)
"""Requirements that every conversation shows, so that none names them."""


def run(options: Options, chosen: Sequence[Conversation] | None = None) -> Report:
    """Play the chosen conversations, or those of all sources, and judge them."""
    checks.load()
    selected = select(options.selection, "server")
    ids = {requirement.id for requirement in selected}
    offered, explorable = gather(options) if chosen is None else (chosen, ())
    checking = checks_for(selected)
    decided = {check.requirement for check in checking}
    every = useful(offered, options, decided) if chosen is None else chosen
    playable = [conversation for conversation in every if can_play(options.target, conversation)]
    explorations = [each for each in explorable if _is_useful(each, ids) and has_gemini(options.target)]
    bench_for = HttpBench if options.target.url else Bench
    with bench_for(options.target, specification.load(options.selection.spec), options.patience) as bench:
        bench.prove_fake()
        state = RunState(options, bench, playable, explorations, checking, fatal(options, selected))
        code = pytest_run(state)
    is_interrupted = code == pytest.ExitCode.INTERRUPTED and state.unreachable is None and state.cut is None
    if is_interrupted:
        state.interrupt()
    if state.cut is not None:
        state.findings += state.judge_finished()
    if code not in ORDINARY:
        state.faults.append(f"pytest, which ended with {code}.")
    state.findings += [finding for finding in deaths(bench, every) if finding.requirement in ids]
    is_whole = chosen is None and options.selection.is_whole and state.is_whole
    lost = replays.keep(options.target, state.failing.values(), is_whole)
    if chosen is not None:
        selected = shown(selected, state.findings)
    early = FIRST_FAILURE if options.fail_fast and code != 0 else None
    ending = Ending(state.unreachable, state.cut or state.given_up, state.faults, state.advice)
    judgements = decide(
        selected,
        explained(state.findings, selected),
        Circumstances(
            checked=frozenset(decided),
            replay=lambda finding: replays.replay_command(finding.conversation, finding.requirement, options.target),
            absent=absent(options.target, every),
            cut=ending.reason or early,
            is_whole=is_whole and options.target.url is None,
            seconds=state.seconds,
        ),
    )
    greeting = state.greeting
    found = to_report(options, "server", judgements, ending, _identity(greeting), _protocol(greeting))
    found = replace(found, notes=(*found.notes, lost)) if lost else found
    if is_whole:
        found = replace(found, coverage=coverage(conversations.read(options.selection.spec, thorough=options.thorough)))
    if is_interrupted:
        raise Interrupted(found)
    return found


def absent(target: Target, every: Sequence[Conversation]) -> dict[str, str]:
    """Why areas or single requirements do not bind this run, such as those of another transport."""
    if target.url is None:
        return {"http": "The port was tested over stdio."}
    shown = {id for conversation in every if not conversation.needs_stdio for id in conversation.requirements}
    piped = {id for conversation in every if conversation.needs_stdio for id in conversation.requirements}
    reasons = {"stdio": "The port was tested over HTTP.", "shutdown": "The suite did not start the port."}
    reasons["stateless:cancelled"] = "It is about stdio."
    reasons |= dict.fromkeys(
        sorted(id for id in piped - shown if not id.startswith("shutdown:")),
        "Only a port that the suite starts can show it.",
    )
    return reasons if target.command else {**reasons, EQUIVALENCE: "The port was tested over HTTP alone."}


def shown(selected: Sequence[Requirement], findings: Sequence[Finding]) -> tuple[Requirement, ...]:
    """The requirements that have findings, or all of them when there are no findings."""
    found = {finding.requirement for finding in findings}
    return tuple(each for each in selected if each.id in found or not found)


def gather(options: Options) -> tuple[tuple[Conversation, ...], tuple[Exploration, ...]]:
    """The conversations of all sources; SpecError when the operator's specification does not allow to make them."""
    try:
        return conversations.offered(options.selection.spec, options.examples, options.seed, options.thorough)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        if options.selection.spec is None:
            raise
        raise SpecError(str(options.selection.spec), f"conversations cannot be made of it: {error!r}") from error


def deaths(bench: Bench, every: Sequence[Conversation]) -> Iterator[Finding]:
    """The findings about ports that ended unasked, in the order of the conversations; generated ones come last."""
    order = {conversation.id: number for number, conversation in enumerate(every)}
    for death in sorted(bench.deaths, key=lambda death: order.get(death.conversation.id, len(order))):
        yield from judge_death(death.conversation, death.how, death.told)


def useful(every: Sequence[Conversation], options: Options, ids: set[str]) -> tuple[Conversation, ...]:
    """The conversations that can show one of these requirements; all when nobody knows which can show one of them.

    The conversations of the revisions are always played. Whatever is played shows whether transports are equivalent.
    """
    named = {id for conversation in every for id in conversation.requirements}
    if not options.selection.only or not ids <= named | GREETED | ANYWHERE:
        return tuple(every)
    sampled = (ids if ids == {EQUIVALENCE} else ids - {EQUIVALENCE}) & ANYWHERE
    samples = {each.id for each in sample(every)} if sampled else set[str]()
    return tuple(
        each
        for each in every
        if (each.phase == Revisions.phase and each.revision is not None)
        or each.id in samples
        or ids.intersection(each.requirements)
    )


def sample(every: Iterable[Conversation]) -> Iterator[Conversation]:
    """A few conversations of all kinds: each shows a kind of requirement that none before it shows."""
    seen = set[str]()
    for each in every:
        kinds = {":".join(id.split(":")[:2]) for id in each.requirements}
        if not each.alone and not kinds <= seen:
            seen |= kinds
            yield each


def _is_useful(exploration: Exploration, ids: set[str]) -> bool:
    return any(id.startswith(exploration.requirements) for id in ids)


def _identity(greeting: Exchange | None) -> Identity | None:
    result = greeting.result if greeting else None
    info = inside(result, "serverInfo") or inside(result, "_meta", SERVER_INFO)
    name, number = inside(info, "name"), inside(info, "version")
    return Identity(name, number) if isinstance(name, str) and isinstance(number, str) else None


def _protocol(greeting: Exchange | None) -> str | None:
    spoken = inside(greeting.result if greeting else None, "protocolVersion")
    return spoken if isinstance(spoken, str) else greeting.revision if greeting else None
