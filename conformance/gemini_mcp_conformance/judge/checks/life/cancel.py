"""What a cancellation ends, and what it leaves alone."""

from __future__ import annotations

from gemini_mcp_conformance.judge.check import Complaints, NotApplicable
from gemini_mcp_conformance.judge.expectation import answer, fate
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.judge.selectors import answered, refused
from gemini_mcp_conformance.see.observation import Exchange, Line, Observation
from gemini_mcp_conformance.see.timeline import cancellations, is_open, refuses_notice, sent_after, strays
from gemini_mcp_conformance.see.witness import reply, shown


def starts_others(exchange: Exchange) -> bool:
    """Whether its gemini starts processes, be it the one that lists the sessions."""
    return any("child" in step for script in exchange.scripts for step in script.steps)


def ignores_term(exchange: Exchange) -> bool:
    """Whether its gemini itself ignores SIGTERM, be it the one that lists the sessions."""
    return any("TERM" in step.get("ignore", ()) for script in exchange.scripts for step in script.steps)


def has_survivors(exchange: Exchange) -> bool:
    return any(run.survivors for run in exchange.all_runs)


def has_falsy_id(exchange: Exchange) -> bool:
    """Whether its id is one that many languages take for no id."""
    return exchange.request["id"] in (0, "")


def was_stopped(exchange: Exchange) -> bool:
    """Whether it was cancelled while its gemini ran."""
    return exchange.silence == "cancelled" and bool(exchange.runs)


def was_cut(exchange: Exchange) -> bool:
    return was_stopped(exchange) and not has_falsy_id(exchange)


def was_unfinished(exchange: Exchange) -> bool:
    """Whether it was cancelled while its gemini ran, or before the gemini that must answer it had started."""
    is_due = was_stopped(exchange) or (exchange.silence == "cancelled" and fate(exchange) == "served")
    return is_due and not has_falsy_id(exchange)


@check("cancel:falsy-id", judges=lambda each: was_stopped(each) and has_falsy_id(each), any_outcome=True, about="left")
@check("cancel:child", judges=lambda each: was_cut(each) and not ignores_term(each), any_outcome=True, about="left")
def gemini_itself_has_ended(exchange: Exchange) -> Complaints:
    if any(run.call.pid in run.survivors for run in exchange.all_runs):
        yield f"The port let gemini run on after {_named(exchange)} was cancelled, and should end it."


def is_over(observation: Observation) -> bool:
    """Whether calls were cancelled, and all others answered."""
    is_unanswered = any(each.is_unanswered for each in observation.exchanges)
    return observation.exit is None and not is_unanswered and any(map(was_cut, observation.calls))


@check_all("cancel:child", judges=is_over, about="left")
def no_list_is_left(observation: Observation) -> Complaints:
    if any(run.call.kind == "list" and run.survivors for run in observation.unclaimed):
        yield "The port asked for a list of sessions that no call waits for, and should end it with the cancelled call."


@check("cancel:group", judges=lambda each: was_cut(each) and starts_others(each), any_outcome=True, about="left")
def what_gemini_started_has_ended(exchange: Exchange) -> Complaints:
    if has_survivors(exchange):
        yield f"The port let processes of gemini run on after {_named(exchange)} was cancelled, and should end all."


# The first of the two processes of Gemini CLI ignores SIGTERM, SIGINT and SIGHUP, and outlives a port that asks once.
@check("cancel:ignored-term", judges=lambda each: was_cut(each) and ignores_term(each), any_outcome=True, about="left")
def gemini_that_ignores_term_has_ended(exchange: Exchange) -> Complaints:
    if has_survivors(exchange):
        yield (
            f"The port let a gemini that ignores SIGTERM run on after {_named(exchange)} was cancelled, "
            "and should kill it."
        )


@check("cancel:unanswered", judges=lambda each: was_unfinished(each) and not refused(each), any_outcome=True)
def cancelled_call_is_not_answered(exchange: Exchange) -> Complaints:
    if exchange.answers and exchange.transport == "http":
        raise NotApplicable("Over HTTP something has to end the request that was cancelled.")
    if exchange.answers:
        yield f"The port answered {_named(exchange)} with {shown(exchange.answer)}, and should not: it was cancelled."


@check_all(
    "cancel:others", judges=lambda seen: bool(cancellations(seen)) and any(map(answered, seen.calls)), about="text"
)
def other_calls_are_served(observation: Observation) -> Complaints:
    for each in observation.calls:
        wanted = answer(each)
        if wanted is not None and not (each.is_success and each.text == wanted.text):
            yield (
                f"{reply(each, f'{_named(each)}, beside a call that was cancelled,')}, "
                f"and should answer {shown(wanted.text)}."
            )


def _first_unknown(observation: Observation) -> Line | None:
    """The first cancellation of a request that was never sent."""
    return next((notice for notice, exchange in cancellations(observation) if exchange is None), None)


@check_all("cancel:unknown", judges=lambda seen: _first_unknown(seen) is not None)
def unknown_cancellation_is_ignored(observation: Observation) -> Complaints:
    unknown = _first_unknown(observation)
    for line in strays(observation):
        if unknown is not None and line.order > unknown.order and not refuses_notice(observation, line):
            yield f"The port answered the cancellation of an unknown call with {shown(line.table)}, and should not."


@check_all("cancel:late", judges=lambda seen: _first_late(seen) is not None)
def late_cancellation_changes_nothing(observation: Observation) -> Complaints:
    """After a cancellation that comes too late, requests are answered as before."""
    for each in observation.exchanges:
        is_lost = not each.answers and each.is_unanswered
        if is_lost and each.sent.order > (_first_late(observation) or 0):
            yield f"The port did not answer {_named(each)} after the cancellation of a call that had its answer."


def _first_late(observation: Observation) -> int | None:
    """The place of the first cancellation of a call that had been answered, if something was asked after that."""
    for notice, exchange in cancellations(observation):
        if exchange and not is_open(exchange, notice.order) and sent_after(observation, notice):
            return notice.order
    return None


def _named(exchange: Exchange) -> str:
    return f"{exchange.method} with the id {shown(exchange.request['id'])}"
