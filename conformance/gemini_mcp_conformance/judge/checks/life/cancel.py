"""What a cancellation ends, and what it leaves alone."""

from __future__ import annotations

from gemini_mcp_conformance.judge.check import NotApplicable
from gemini_mcp_conformance.judge.expectation import answer
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.judge.selectors import refused
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.see.timeline import cancellations, cancelled, is_open, sent_after, strays
from gemini_mcp_conformance.tell.witness import shown


def starts_others(exchange: Exchange) -> bool:
    """Whether its gemini starts processes."""
    return any("child" in play for script in exchange.scripts for play in script.play)


def ignores_term(exchange: Exchange) -> bool:
    """Whether its gemini itself ignores SIGTERM."""
    return any("TERM" in play.get("ignore", ()) for script in exchange.scripts for play in script.play)


def is_stubborn(exchange: Exchange) -> bool:
    """Whether SIGTERM alone does not end all of its gemini."""
    children = [play["child"] for script in exchange.scripts for play in script.play if "child" in play]
    return ignores_term(exchange) or any("TERM" in child.get("ignore", ()) for child in children)


def has_survivors(exchange: Exchange) -> bool:
    return any(run.survivors for run in (*exchange.runs, *exchange.listings))


def ran_and_was_cancelled(exchange: Exchange) -> bool:
    return exchange.silence == "cancelled" and bool(exchange.runs)


def cancels(observation: Observation) -> bool:
    return bool(cancellations(observation))


@check("cancel:child", judges=lambda each: ran_and_was_cancelled(each) and not ignores_term(each), anyway=True)
def gemini_itself_has_ended(exchange: Exchange) -> list[str]:
    if not any(run.call.pid in run.survivors for run in (*exchange.runs, *exchange.listings)):
        return []
    return [f"The port let gemini run on after {_named(exchange)} was cancelled, and should end it."]


@check("cancel:group", judges=lambda each: ran_and_was_cancelled(each) and starts_others(each), anyway=True)
def what_gemini_started_has_ended(exchange: Exchange) -> list[str]:
    if not has_survivors(exchange):
        return []
    return [
        f"The port let a process of gemini live on after {_named(exchange)} was cancelled, and should end them all."
    ]


@check("cancel:ignored-term", judges=lambda each: ran_and_was_cancelled(each) and ignores_term(each), anyway=True)
def gemini_that_ignores_term_has_ended(exchange: Exchange) -> list[str]:
    if not has_survivors(exchange):
        return []
    return [f"The port let a gemini that ignores SIGTERM live on after {_named(exchange)} was cancelled."]


@check("cancel:unanswered", judges=lambda each: each.silence == "cancelled" and not refused(each), anyway=True)
def cancelled_call_is_not_answered(exchange: Exchange) -> list[str]:
    if not exchange.answers:
        return []
    if exchange.transport == "http":
        raise NotApplicable("Over HTTP something has to end the request that was cancelled.")
    return [f"The port answered {_named(exchange)} with {shown(exchange.answer)} though it was cancelled."]


@check_all("cancel:others", judges=lambda seen: cancels(seen) and bool(_settled(seen)), about="text")
def other_calls_are_served(observation: Observation) -> list[str]:
    complaints = [
        f"The port answered {_named(each)} with {shown(each.answer)} where another call was cancelled, "
        f"and should answer {shown(found.text)}."
        for each in _settled(observation)
        if (found := answer(each)) and not (each.is_success and each.text == found.text)
    ]
    return complaints[:1]


@check_all("cancel:unknown", judges=lambda seen: any(cancelled(seen, notice) is None for notice in cancellations(seen)))
def unknown_cancellation_is_ignored(observation: Observation) -> list[str]:
    unknown = [notice for notice in cancellations(observation) if cancelled(observation, notice) is None]
    replies = [line for line in strays(observation) if line.order > unknown[0].order]
    return [f"The port answered the cancellation of an unknown call with {shown(line.table)}." for line in replies[:1]]


@check_all("cancel:late", judges=lambda seen: _first_late(seen) is not None)
def late_cancellation_changes_nothing(observation: Observation) -> list[str]:
    """After a cancellation that comes too late, requests are answered as before."""
    order = _first_late(observation)
    unanswered = [each for each in observation.exchanges if each.sent.order > (order or 0) and not each.answers]
    wrong = [each for each in unanswered if each.silence in ("timeout", "died")]
    return [f"The port did not answer {_named(each)} after a call was cancelled that had its answer." for each in wrong]


def _first_late(observation: Observation) -> int | None:
    """Where a call was cancelled that had been answered, if something was asked after that."""
    for notice in cancellations(observation):
        exchange = cancelled(observation, notice)
        if exchange and not is_open(exchange, notice.order) and sent_after(observation, notice):
            return notice.order
    return None


def _settled(observation: Observation) -> list[Exchange]:
    """The calls that must succeed although another was cancelled."""
    return [each for each in observation.calls if answer(each) is not None]


def _named(exchange: Exchange) -> str:
    return f"{exchange.method} {shown(exchange.request['id'])}"
