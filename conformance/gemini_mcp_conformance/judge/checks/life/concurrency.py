"""How calls that are open at the same time affect each other, and what a failed call leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.judge.checks.answer.result import expected, session_in
from gemini_mcp_conformance.judge.expectation import ending, fate, is_call, prompt_of, resumes, session_of, text_of
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.judge.selectors import answered, is_played, refused
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.see.timeline import (
    lists_without_end,
    open_calls,
    ran_before_end,
    ran_beside,
    reads_late,
    released,
    waits_for,
    while_cancelled,
    while_held,
)
from gemini_mcp_conformance.see.witness import reply, shown
from gemini_mcp_conformance.talk.steps import Await, Cancel, Request

Relation = Literal["calls", "other-session", "same-session", "latest", "unspecified"]
"""How two calls that are open at the same time relate; a port may do as it likes where that is unspecified."""

FEWEST_RUNS = 8
"""A port may limit how many gemini run at once, but not below this."""
DELAYS = 3
"""How many times as late as the suite a port may be on a busy machine."""
MANY_CALLS = 16
"""So many calls at once must all be answered."""


def relation(running: Exchange, other: Exchange) -> Relation:
    """How a call relates to one that runs."""
    first, second = _session(running), _session(other)
    is_same_directory = _directory(running) == _directory(other)
    if first is None or second is None:
        # A call that begins a session makes it the latest of its directory, so a reply to the latest may wait for it.
        return "unspecified" if is_same_directory and second == "" else "calls"
    if first != second and any(map(str.isdigit, (first, second))):
        # A number may be the place of any session in the list.
        return "unspecified"
    if first == second == "" and is_same_directory:
        return "latest"
    # By its name, a port may take the latest session for one that is the same everywhere.
    if first == second == "" and not any(map(session_of, (running, other))):
        return "other-session"
    # The latest session may be the named one. In another directory Gemini CLI does not find the same id.
    if "" in (first, second) or (first == second and not is_same_directory):
        return "unspecified"
    return "same-session" if first == second else "other-session"


def pairs(observation: Observation, kind: Relation) -> list[tuple[Exchange, Exchange]]:
    """A call whose gemini is held, and another that was sent meanwhile."""
    return [pair for pair in _pairs(observation) if relation(*pair) == kind]


def has(kind: Relation) -> Callable[[Observation], bool]:
    return lambda observation: bool(pairs(observation, kind))


@check_all(
    "concurrency:calls",
    judges=lambda seen: has("calls")(seen) or bool(_unread(seen)) or bool(_refused_meanwhile(seen)),
    about="order",
)
def calls_run_at_once(observation: Observation) -> Complaints:
    yield from _late(_unhindered(observation, "calls"), "another call")
    for held, each in _refused_meanwhile(observation):
        if _is_late(held, each):
            yield f"The port did not refuse {shown(each.arguments)} while another call ran, and should."
    for unread in _unread(observation):
        if unread.silence == "timeout":
            yield f"The port did not answer {_told(unread)} while other calls ran, and should."


@check_all("concurrency:other-session", judges=has("other-session"), about="order")
def other_sessions_run_at_once(observation: Observation) -> Complaints:
    return _late(_unhindered(observation, "other-session"), "a reply in another session")


@check_all("concurrency:same-session", judges=has("same-session"), about="order")
def replies_in_a_session_wait(observation: Observation) -> Complaints:
    found = [pair for pair in while_cancelled(observation) if relation(*pair) == "same-session"]
    return _early([*pairs(observation, "same-session"), *found], "another reply in its session")


@check_all("concurrency:latest", judges=has("latest"), about="order")
def replies_to_the_latest_wait(observation: Observation) -> Complaints:
    return _early(pairs(observation, "latest"), "another reply to the latest session of its directory")


@check_all("concurrency:ping", judges=lambda seen: bool(_meanwhile(seen, "ping")))
def ping_is_answered_meanwhile(observation: Observation) -> Complaints:
    return _not_meanwhile(observation, "ping")


@check_all("concurrency:list", judges=lambda seen: bool(_meanwhile(seen, "tools/list")))
def tools_are_listed_meanwhile(observation: Observation) -> Complaints:
    return _not_meanwhile(observation, "tools/list")


@check_all("concurrency:ping", judges=lambda seen: bool(_while_listed(seen, "ping")))
def ping_is_answered_beside_a_list(observation: Observation) -> Complaints:
    return _late_beside_list(observation, "ping")


@check_all("concurrency:list", judges=lambda seen: bool(_while_listed(seen, "tools/list")))
def tools_are_listed_beside_a_list(observation: Observation) -> Complaints:
    return _late_beside_list(observation, "tools/list")


def succeeds_beside_others(exchange: Exchange) -> bool:
    """Whether its answer could be that of another call."""
    return not exchange.alone and answered(exchange) and exchange.is_success


@check("concurrency:crossed", judges=succeeds_beside_others, about="text")
def answer_is_that_of_the_call(exchange: Exchange) -> Complaints:
    wanted = expected(exchange).text
    if exchange.text != wanted:
        said = f"The port answered {_named(exchange)} with {shown(exchange.text)}"
        yield f"{said}, and should answer with {shown(wanted)}."


@check("concurrency:crossed", judges=succeeds_beside_others, about="session")
def session_is_that_of_the_call(exchange: Exchange) -> Complaints:
    wanted, session = expected(exchange).session, session_in(exchange)
    # The fake cannot tell which of two calls asks for the list, so it may name the session of the other.
    is_listed = bool(exchange.listings)
    if not is_listed and None not in (wanted, session) and session != wanted:
        yield f"The port gave {_named(exchange)} the session {shown(session)}, and should give {shown(wanted)}."


@check_all("concurrency:lost", judges=lambda seen: len(_crowd(seen)) >= MANY_CALLS, about="text")
def none_of_many_is_lost(observation: Observation) -> Complaints:
    crowd = _crowd(observation)
    for each in crowd:
        if answered(each) and not each.is_success:
            yield (
                f"{reply(each, f'{_named(each)}, one of {len(crowd)} calls at once')}, "
                "and should answer with a success."
            )


@check_all("concurrency:after-failure", judges=lambda seen: any(True for _ in _after_failure(seen)), about="text")
def failure_is_over(observation: Observation) -> Complaints:
    for each in _after_failure(observation):
        wanted = expected(each).text
        if not (each.is_success and each.text == wanted):
            yield (
                f"{reply(each, f'{_named(each)} after a failed call')}, "
                f"and should answer with the text {shown(wanted)}."
            )


def _late(found: list[tuple[Exchange, Exchange]], what: str) -> Complaints:
    for held, other in found:
        # A port may give up a list that takes long, and so end the held call itself.
        if not held.listings and not ran_before_end(held, other):
            yield f"The port ran {_told(other)} after {what}, {_told(held)}, and should run it at the same time."
        elif other.silence == "timeout":
            yield f"The port did not answer {_told(other)} beside {what}, {_told(held)}, and should."


def _early(found: list[tuple[Exchange, Exchange]], what: str) -> Complaints:
    for held, other in found:
        if ran_beside(held, other):
            meanwhile = f"at the same time as {what}, {_told(held)}"
            yield f"The port ran {_told(other)} {meanwhile}, and should run it afterwards."
    for held, other in found:
        if not other.runs and answered(other):
            yield f"The port never ran {_told(other)}, and should run it after {what}, {_told(held)}."


@remembered
def _pairs(observation: Observation) -> tuple[tuple[Exchange, Exchange], ...]:
    def fits(held: Exchange, other: Exchange) -> bool:
        is_due = other.method == "tools/call" and is_played(other) and _is_served(other) and _is_served(held)
        return is_due and other.silence != "cancelled" and len(_placed(observation, other)) < FEWEST_RUNS

    return tuple(pair for pair in while_held(observation) if fits(*pair))


def _placed(observation: Observation, other: Exchange) -> list[Exchange]:
    """The calls for which gemini may run when another is sent; for one that was cancelled in time it never does."""
    before = open_calls(observation, other.sent.order)
    return [each for each in before if each.runs or each.silence != "cancelled"]


def _unhindered(observation: Observation, kind: Relation) -> list[tuple[Exchange, Exchange]]:
    """The pairs whose second call need not wait for a third one."""
    return [(held, other) for held, other in pairs(observation, kind) if not _waits_for_third(observation, held, other)]


def _waits_for_third(observation: Observation, held: Exchange, other: Exchange) -> bool:
    before = [each for each in open_calls(observation, other.sent.order) if each not in (held, other)]
    kin = (each for each in before if relation(each, other) not in ("calls", "other-session"))
    return any(not _is_over(observation, each, held, other) for each in kin)


def _is_over(observation: Observation, third: Exchange, held: Exchange, other: Exchange) -> bool:
    """Whether the third one's gemini could end, and the other call was waited for, while the held one ran on."""
    steps, begin, end = observation.conversation.steps, released(observation, third), released(observation, held)
    asked = steps[other.step]
    return begin is not None and isinstance(asked, Request) and Await(asked.name) in steps[begin:end]


def _is_served(exchange: Exchange) -> bool:
    """Whether gemini must run; or it has, where a port may refuse the call."""
    return fate(exchange) == "served" or (fate(exchange) == "either" and bool(exchange.runs))


def _unread(observation: Observation) -> list[Exchange]:
    """The calls that run, and whose gemini reads its stdin late."""
    return [each for each in observation.calls if reads_late(each)]


def _meanwhile(observation: Observation, method: str) -> list[tuple[Exchange, Exchange]]:
    return [(held, each) for held, each in while_held(observation) if each.method == method]


def _not_meanwhile(observation: Observation, method: str) -> Complaints:
    for held, each in _meanwhile(observation, method):
        if _is_late(held, each):
            yield f"The port did not answer {method} while a call ran, and should."


def _is_late(held: Exchange, each: Exchange) -> bool:
    """Whether the answer to a request comes when the call is over that ran meanwhile."""
    # Over HTTP a cancelled call is answered, too, as something has to end its request.
    ends = [line.order for line in held.answers if held.silence != "cancelled"]
    return not each.answers or each.silence == "timeout" or bool(ends and each.answers[0].order > ends[0])


def _refused_meanwhile(observation: Observation) -> list[tuple[Exchange, Exchange]]:
    """The calls to refuse while another runs. A port may look at a reply only when its turn in a session has come."""
    found = [(held, each) for held, each in while_held(observation) if is_call(each) and fate(each) == "refused"]
    return [pair for pair in found if relation(*pair) in ("calls", "other-session")]


def _while_listed(observation: Observation, method: str) -> list[Exchange]:
    """The requests of a method that were sent while the list of sessions of a call hung, which is cancelled next."""
    steps = list(enumerate(observation.conversation.steps))
    found: list[Exchange] = []
    for call in filter(lists_without_end, observation.calls):
        cancellations = (number for number, step in steps if number > call.step and isinstance(step, Cancel))
        until = next(cancellations, call.step)
        found += [each for each in observation.exchanges if each.method == method and call.step < each.step < until]
    return found


def _late_beside_list(observation: Observation, method: str) -> Complaints:
    # A port that does nothing meanwhile does so until it has given the list up.
    most = observation.spec.invocation.listing.timeout / 2
    for each in _while_listed(observation, method):
        is_late = bool(each.answers) and each.answers[0].at - each.sent.at > most + DELAYS * each.delay
        if is_late or each.is_unanswered:
            yield f"The port did not answer {method} while gemini listed sessions, and should."


def _crowd(observation: Observation) -> list[Exchange]:
    """The largest group of calls that wait for one release, and so are open at the same time."""
    names = [name for each in observation.calls if (name := waits_for(each))]
    most = max(names, key=names.count, default=None)
    return [each for each in observation.calls if most is not None and waits_for(each) == most]


def _after_failure(observation: Observation) -> Iterator[Exchange]:
    """The calls that must succeed and were sent after another had failed."""
    failed = [each.sent.order for each in observation.calls if _must_fail(each) or _may_fail(each)]
    return (each for each in observation.calls if answered(each) and failed and each.sent.order > min(failed))


def _must_fail(exchange: Exchange) -> bool:
    ends = [ending(script) for script in exchange.scripts]
    return refused(exchange) or any(end.signal or end.exit for end in ends)


def _may_fail(exchange: Exchange) -> bool:
    return fate(exchange) == "either" and exchange.is_error


def _session(exchange: Exchange) -> str | None:
    """The session that a call names, empty for the latest, by its name as well; None for one that begins a session."""
    latest = exchange.spec.latest(exchange.tool)
    named = session_of(exchange) or latest
    if not resumes(exchange) or named is None:
        return None
    return "" if named == latest else named


def _directory(exchange: Exchange) -> str:
    """The working directory of a call, without links where it was there."""
    cwd = text_of(exchange, exchange.spec.directory(exchange.tool))
    return exchange.place.work if cwd in (None, "", ".") else exchange.directory or cwd


def _told(exchange: Exchange) -> str:
    """The name of a call, with the arguments that decide what it waits for."""
    given, spec = exchange.arguments, exchange.spec
    names = filter(None, (spec.directory(exchange.tool), spec.session(exchange.tool)))
    told = ", ".join(f"{name} {shown(given[name])}" if name in given else f"no {name}" for name in names)
    return f"{_named(exchange)} ({told})" if told else _named(exchange)


def _named(exchange: Exchange) -> str:
    return f"the {exchange.tool} {shown(prompt_of(exchange))}"
