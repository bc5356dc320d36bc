"""What calls do to each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from gemini_mcp_conformance.judge.checks.answer.result import session_in
from gemini_mcp_conformance.judge.expectation import answer, ending, fate, is_call, prompt_of, resumes, session_of
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.judge.selectors import answered, is_played, refused
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.see.timeline import opens, ran_before_end, waits_for, while_held
from gemini_mcp_conformance.tell.witness import shown

Relation = Literal["calls", "other-session", "same-session", "latest", "open"]
"""What binds two calls that are open at the same time; nothing binds every port where it is open."""

FEW, MANY = 4, 16
"""A port may limit how many gemini run at once, though not below this; and so many calls must not be too many."""


def relation(one: Exchange, other: Exchange) -> Relation:
    """A session that is named as the latest one is may be the same as one without a name, or be kept apart."""
    first, second = _session(one), _session(other)
    here = _directory(one) == _directory(other)
    latest = {"", *(each.spec.latest(each.tool or "") for each in (one, other) if resumes(each))}
    if first is None or second is None:
        return "open" if here and latest & {first, second} else "calls"
    if first == second == "":
        return "latest" if here else "other-session"
    if latest & {first, second} or (first == second and not here):
        return "open"
    return "same-session" if first == second else "other-session"


def pairs(observation: Observation, kind: Relation) -> list[tuple[Exchange, Exchange]]:
    """A call whose gemini is held, and another that was sent meanwhile."""
    return [pair for pair in _pairs(observation) if relation(*pair) == kind]


def has(kind: Relation) -> Callable[[Observation], bool]:
    return lambda observation: bool(pairs(observation, kind))


@check_all("concurrency:calls", judges=has("calls"))
def calls_run_at_once(observation: Observation) -> list[str]:
    late = [other for held, other in pairs(observation, "calls") if not ran_before_end(held, other)]
    return [f"The port ran {_named(each)} after another call and not beside it." for each in late[:1]]


@check_all("concurrency:other-session", judges=has("other-session"))
def other_sessions_run_at_once(observation: Observation) -> list[str]:
    late = [other for held, other in pairs(observation, "other-session") if not ran_before_end(held, other)]
    return [f"The port ran {_named(each)} after a reply in another session and not beside it." for each in late[:1]]


@check_all("concurrency:same-session", judges=has("same-session"))
def replies_in_a_session_wait(observation: Observation) -> list[str]:
    return _did_not_wait(pairs(observation, "same-session"), "another reply in its session")


@check_all("concurrency:latest", judges=has("latest"))
def replies_to_the_latest_wait(observation: Observation) -> list[str]:
    return _did_not_wait(pairs(observation, "latest"), "another reply to the latest session of its directory")


@check_all("concurrency:ping", judges=lambda seen: bool(_meanwhile(seen, "ping")))
def ping_is_answered_meanwhile(observation: Observation) -> list[str]:
    return _not_meanwhile(observation, "ping")


@check_all("concurrency:list", judges=lambda seen: bool(_meanwhile(seen, "tools/list")))
def tools_are_listed_meanwhile(observation: Observation) -> list[str]:
    return _not_meanwhile(observation, "tools/list")


@check("concurrency:crossed", judges=lambda each: not each.alone and answered(each) and each.is_success, about="text")
def answer_is_that_of_the_call(exchange: Exchange) -> list[str]:
    expected = answer(exchange)
    assert expected is not None
    if exchange.text != expected.text:
        return [f"The port answered {_named(exchange)} with {shown(exchange.text)}, and not {shown(expected.text)}."]
    session = session_in(exchange)
    if None in (expected.session, session) or session == expected.session:
        return []
    return [f"The port gave {_named(exchange)} the session {shown(session)}, and not {shown(expected.session)}."]


@check_all("concurrency:lost", judges=lambda seen: len(_crowd(seen)) >= MANY, about="text")
def none_of_many_is_lost(observation: Observation) -> list[str]:
    lost = [each for each in _crowd(observation) if answer(each) is not None and not each.is_success]
    return [
        f"Of {len(_crowd(observation))} calls at once the port answered {_named(each)} with {shown(each.answer)}."
        for each in lost[:1]
    ]


@check_all("concurrency:after-failure", judges=lambda seen: bool(list(_after_failure(seen))), about="text")
def failure_is_over(observation: Observation) -> list[str]:
    wrong = [each for each, text in _after_failure(observation) if not (each.is_success and each.text == text)]
    return [f"After a call had failed, the port answered {_named(each)} with {shown(each.answer)}." for each in wrong]


def _did_not_wait(found: list[tuple[Exchange, Exchange]], what: str) -> list[str]:
    early = [other for held, other in found if ran_before_end(held, other)]
    lost = [other for _, other in found if not other.runs and answer(other) is not None]
    complaints = [f"The port ran {_named(each)} beside {what}, and should run it afterwards." for each in early]
    return [*complaints, *(f"The port never ran {_named(each)}, which had to wait for {what}." for each in lost)][:1]


def _pairs(observation: Observation) -> Iterator[tuple[Exchange, Exchange]]:
    for held, other in while_held(observation):
        fits = other.method == "tools/call" and is_played(other) and fate(other) == fate(held) == "served"
        if fits and other.silence != "cancelled" and len(opens(observation, other.sent.order)) < FEW:
            yield held, other


def _meanwhile(observation: Observation, method: str) -> list[tuple[Exchange, Exchange]]:
    return [(held, each) for held, each in while_held(observation) if each.method == method]


def _not_meanwhile(observation: Observation, method: str) -> list[str]:
    late = [each for held, each in _meanwhile(observation, method) if not _is_answered_before(each, held)]
    return [f"The port did not answer {method} while a call ran, and should." for _ in late[:1]]


def _is_answered_before(exchange: Exchange, held: Exchange) -> bool:
    ends = [line.order for line in held.answers]
    return bool(exchange.answers) and (not ends or exchange.answers[0].order < ends[0])


def _crowd(observation: Observation) -> list[Exchange]:
    """The most calls that wait for one release, and so are open together unless the port has lost some."""
    names = [name for each in observation.calls if (name := waits_for(each))]
    most = max(names, key=names.count, default=None)
    return [each for each in observation.calls if most is not None and waits_for(each) == most]


def _after_failure(observation: Observation) -> Iterator[tuple[Exchange, str]]:
    """The calls that must succeed and were sent after another had failed, each with its text."""
    failed = [each.sent.order for each in observation.calls if _must_fail(each)]
    for each in observation.calls:
        expected = answer(each)
        if expected is not None and failed and each.sent.order > min(failed):
            yield each, expected.text


def _must_fail(exchange: Exchange) -> bool:
    ends = [ending(script) for script in exchange.scripts]
    return refused(exchange) or any(end.signal or end.exit for end in ends)


def _session(exchange: Exchange) -> str | None:
    """The session that a call names, empty for the latest; None for one that begins a session."""
    return (session_of(exchange) or "") if resumes(exchange) else None


def _directory(exchange: Exchange) -> str:
    """The working directory of a call, as far as its arguments tell."""
    cwd = exchange.arguments.get(exchange.spec.directory(exchange.tool or "") or "") if is_call(exchange) else None
    return cwd if isinstance(cwd, str) and cwd not in ("", ".") else exchange.place.work


def _named(exchange: Exchange) -> str:
    return f"the {exchange.tool} {shown(prompt_of(exchange))}"
