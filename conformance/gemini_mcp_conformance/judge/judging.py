"""Judging: every check on everything it can judge in an observation, as findings; pure.

A call that should have succeeded and failed shows nothing of a requirement, so that a check which has nothing to
complain about could not run. A check that does complain fails as always.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from gemini_mcp.spec.families import kebab
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.judge.check import PASS, Check, CheckOfExchange, CheckOfObservation, Conclusion
from gemini_mcp_conformance.judge.deviation import deviation, is_refusing, kind, shared
from gemini_mcp_conformance.judge.evidence import evidence
from gemini_mcp_conformance.judge.expectation import is_call, prompt_of, succeeded
from gemini_mcp_conformance.judge.finding import Finding
from gemini_mcp_conformance.judge.judgement import DIED, FOREIGN, LONG_LINE, SILENT, Evidence
from gemini_mcp_conformance.judge.twins import RESULT, unlike
from gemini_mcp_conformance.see.listing import is_foreign
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange, Observation, Place
from gemini_mcp_conformance.see.witness import of_exchange, of_observation, shown, stderr_shown
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.steps import Notify, Raw, Request

LONG = 60_000
"""Bytes of a line from which on the line readers of some libraries give up."""

UNSHOWN: Conclusion = ("could-not-run", "The call that would show it should have succeeded and did not.")


def judge(observation: Observation, checks: Iterable[Check]) -> tuple[Finding, ...]:
    """The findings of one conversation."""
    return tuple(chain.from_iterable(by_check(observation, checks)))


def by_check(observation: Observation, checks: Iterable[Check]) -> Iterator[Sequence[Finding]]:
    """The findings of one conversation, those of one check after the other."""
    refuses_all = is_refusing(observation)
    if observation.declined is not None:
        wanted = observation.conversation.requirements
        yield [_finding(id, observation, "", ("not-applicable", observation.declined)) for id in wanted]
        # What is left is the port's answer to the greeting.
        checks = [check for check in checks if isinstance(check, CheckOfExchange)]
    for check in checks:
        yield _findings(observation, check, refuses_all)


def judge_death(conversation: Conversation, how: str, told: str = "") -> tuple[Finding, ...]:
    """The findings when a port ended unasked: it fails what the conversation was made to show. `told` is its stderr."""
    message = f"The port {how} during this conversation, and should go on.{told}"
    witness = f"{conversation.id}: the port {how}"
    cause = LONG_LINE if _longest(conversation) > LONG else DIED
    return tuple(
        Finding(id, conversation.id, "", "fail", message, witness, about="unanswered", cause=cause)
        for id in conversation.requirements
    )


def _findings(observation: Observation, check: Check, refuses_all: bool) -> Sequence[Finding]:
    if isinstance(check, CheckOfExchange):
        return [
            _of_exchange(observation, check, exchange, concluded, refuses_all)
            for exchange in observation.exchanges
            if (check.tool is None or check.tool == exchange.tool)
            and (concluded := check.verdict(exchange)) is not None
        ]
    if isinstance(check, CheckOfObservation) and (concluded := check.verdict(observation)) is not None:
        return [_of_observation(observation, check, concluded, refuses_all)]
    return ()


def _of_exchange(
    observation: Observation, check: CheckOfExchange, exchange: Exchange, concluded: Conclusion, refuses_all: bool
) -> Finding:
    if concluded == PASS and not check.any_outcome and not succeeded(exchange):
        concluded = UNSHOWN
    if concluded == PASS:
        return _passed(observation, check, witness_of(exchange), step=exchange.step)
    found = _finding(check.requirement, observation, check.name, concluded, witness_of(exchange), [exchange])
    about = "unserved" if refuses_all else _kind(observation, exchange, check)
    is_own = deviation(exchange) == check.about
    used = uses(exchange).union([check.rests] if check.rests else [])
    found = replace(found, about=about, step=exchange.step, uses=used, is_own=is_own)
    return _caused(found, observation, [exchange])


def _kind(observation: Observation, exchange: Exchange, check: Check) -> str:
    """The kind of fault that a complaint about a call is due to: the transport, where the same call differs by it."""
    found = kind(exchange, check.about)
    is_unlike = found in RESULT and any(here is exchange for here, _ in unlike(observation))
    return "transport" if is_unlike else found


def _of_observation(
    observation: Observation, check: CheckOfObservation, concluded: Conclusion, refuses_all: bool
) -> Finding:
    told, used = of_observation(observation), _uses(observation)
    if concluded == PASS:
        return _passed(observation, check, told, uses=used)
    found = _finding(check.requirement, observation, check.name, concluded, told, _named(observation, concluded))
    found = _caused(found, observation, observation.exchanges)
    if check.about in ("line", "transport"):
        return replace(found, about=check.about, is_own=True)
    wrong = [shared(each) for each in map(deviation, observation.exchanges) if each]
    about = "unserved" if refuses_all else wrong[0] if wrong else shared(check.about)
    return replace(found, about=about, is_own=about == check.about, uses=used)


def _named(observation: Observation, concluded: Conclusion) -> Sequence[Exchange]:
    """The calls that a complaint names by their prompts or their steps; all of them where it names none."""
    message = concluded[1]
    named = [
        each
        for each in observation.calls
        if f"{each.label}," in message or ((prompt := prompt_of(each)) and shown(prompt) in message)
    ]
    return named or observation.calls


def _passed(observation: Observation, check: Check, told: str, **more: Json) -> Finding:
    """Most findings are passes, of which little is asked."""
    id, conversation = check.requirement, observation.conversation
    is_meant = id in conversation.requirements
    return Finding(id, conversation.id, check.name, "pass", "", told, is_meant=is_meant, **more)


@remembered
def witness_of(exchange: Exchange) -> str:
    """What is told of an exchange, the same in every run."""
    return settled(of_exchange(exchange), exchange.place)


def _caused(found: Finding, observation: Observation, exchanges: Iterable[Exchange]) -> Finding:
    """The finding with its cause; one of a port that has died says what its stderr told."""
    cause = lost(observation, found, exchanges)
    is_dead = observation.died is not None and cause in (DIED, LONG_LINE)
    told = stderr_shown(observation.stderr, observation.place.root) if is_dead else ""
    return replace(found, cause=cause, message=found.message + told)


def lost(observation: Observation, found: Finding, exchanges: Iterable[Exchange]) -> str:
    """The cause of a failure that is no requirement; else empty."""
    if found.outcome != "fail":
        return ""
    if found.requirement in map(listing, observation.spec.tools) and is_foreign(observation):
        return FOREIGN
    silences = [exchange.silence for exchange in exchanges if deviation(exchange) == "unanswered"]
    is_dead = "died" in silences or (observation.died is not None and observation.died in found.message)
    if not silences and not is_dead:
        return ""
    if max((len(line.data) for line in observation.lines if line.sent), default=0) > LONG:
        return LONG_LINE
    return DIED if is_dead else SILENT


def _longest(conversation: Conversation) -> int:
    """The length of its longest message, more or less."""
    sent = [len(step.data) for step in conversation.steps if isinstance(step, Raw)]
    sent += [len(str(step.params)) for step in conversation.steps if isinstance(step, Request | Notify)]
    return max(sent, default=0)


def listing(tool: str) -> str:
    """The requirement to list a tool."""
    return f"tools:{kebab(tool)}"


@remembered
def uses(exchange: Exchange) -> frozenset[str]:
    """The requirements to list the tool of a call, its required arguments, and those that the call gives.

    A tool that lists no argument for the session is none that resumes one, whatever the call gives. A call that was not
    served may lack what the port requires and the specification does not.
    """
    if not is_call(exchange):
        return frozenset()
    tool = exchange.spec.tools[exchange.tool]
    session = exchange.spec.session(tool.name)
    given = {name for name in exchange.arguments if name in tool.properties}
    names = given.union(tool.required, [session] if session else [])
    own = listing(tool.name)
    lacks = deviation(exchange) == "not run" and not exchange.arguments.keys() >= tool.properties.keys()
    needed = {f"{own}:required"} if lacks else set[str]()
    return frozenset({own, *needed, *(f"{own}:{kebab(name)}" for name in names)})


@remembered
def _uses(observation: Observation) -> frozenset[str]:
    """What all calls of a conversation use."""
    return frozenset(id for exchange in observation.calls for id in uses(exchange))


def _finding(
    id: str, seen: Observation, check: str, concluded: Conclusion, witness: str = "", about: Iterable[Exchange] = ()
) -> Finding:
    outcome, message = concluded
    rests_on = _evidence(seen, about) if outcome == "fail" else None
    return Finding(
        requirement=id,
        conversation=seen.conversation.id,
        check=check,
        outcome=outcome,
        message=settled(message, seen.place),
        witness=settled(witness, seen.place),
        evidence=rests_on,
        is_meant=id in seen.conversation.requirements,
    )


def _evidence(seen: Observation, about: Iterable[Exchange]) -> Evidence:
    sent = [line for line in seen.lines if line.sent]
    received = [line.data for line in seen.lines if not line.sent]
    about = tuple(about)
    orders = {exchange.sent.order for exchange in about}
    asked = [at for at, line in enumerate(sent) if line.order in orders]
    # A run that belongs to no request may be the one that the verdict is about.
    calls = [run.call for exchange in about for run in exchange.all_runs] or [run.call for run in seen.runs]
    return evidence(seen.conversation.title, [line.data for line in sent], received, calls, named(seen.place), asked)


def named(place: Place) -> dict[str, str]:
    """What stands for the directories of a run in reports, which are to be the same in every run."""
    names = {place.work: "{work}", place.home: "{home}", place.tmp: "{tmp}", place.root: "{root}"}
    return {directory: name for directory, name in names.items() if directory}


def settled(text: str, place: Place) -> str:
    """The text without what differs from run to run."""
    for directory, name in named(place).items():
        text = text.replace(directory, name)
    return text
