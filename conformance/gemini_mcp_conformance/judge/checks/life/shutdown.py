"""How a port ends, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Callable

from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.judge.checks.life.cancel import has_survivors, ignores_term
from gemini_mcp_conformance.judge.registry import check_all
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.see.timeline import lists_without_end

LIMIT = 2.0
"""Seconds in which a port should exit."""
DELAYS = 3
"""How many times as late as the suite a port may be on a busy machine."""

NAMES = {"stdin": "the end of its stdin", "TERM": "SIGTERM", "INT": "SIGINT", "HUP": "SIGHUP"}


def interrupted(observation: Observation) -> list[Exchange]:
    """The calls that ran when the port was to end. One whose gemini had ended by itself was only not answered yet."""
    silent = [exchange for exchange in observation.calls if exchange.silence == "ended" and exchange.runs]
    return [exchange for exchange in silent if any(run.call.ended is None for run in exchange.all_runs)]


def unfinished(observation: Observation) -> list[Exchange]:
    """The calls of which something could run when the port was to end: one that was answered may have left its list."""
    ended = interrupted(observation)
    return [each for each in observation.calls if each in ended or (each.listings and lists_without_end(each))]


def asked(*ways: str, busy: bool | None = None) -> Callable[[Observation], bool]:
    """Conversations in which the port was to end in one of these ways, with a call running or without."""

    def accepts(observation: Observation) -> bool:
        fits = observation.exit is not None and observation.exit.asked in ways
        return fits and busy in (None, bool(interrupted(observation)))

    return accepts


def ends_gemini(way: str) -> Callable[[Observation], bool]:
    """Conversations that end that way while a gemini may run that no other requirement is about."""
    fits = asked(way)
    return lambda seen: fits(seen) and any(not is_told_apart(seen, each) for each in unfinished(seen))


def is_told_apart(observation: Observation, exchange: Exchange) -> bool:
    """Whether another requirement is about its gemini: one that ignores SIGTERM itself, at the end of stdin."""
    return asked("stdin")(observation) and ignores_term(exchange)


def ends_stubborn_gemini(observation: Observation) -> bool:
    return asked("stdin", busy=True)(observation) and any(map(ignores_term, interrupted(observation)))


def way(observation: Observation) -> str:
    assert observation.exit is not None
    return NAMES.get(observation.exit.asked, observation.exit.asked)


@check_all("shutdown:stdin-end", judges=asked("stdin", busy=False), about="end")
@check_all("shutdown:stdin-end:busy", judges=asked("stdin", busy=True), about="end")
@check_all("shutdown:sigterm", judges=asked("TERM"), about="end")
def port_exits(observation: Observation) -> Complaints:
    if observation.exit is not None and observation.exit.code is None:
        running = " while a call ran" if interrupted(observation) else ""
        yield f"The port did not exit after {way(observation)}{running}, and should."


@check_all("shutdown:stdin-end:group", judges=ends_gemini("stdin"), about="end")
@check_all("shutdown:sigterm:group", judges=ends_gemini("TERM"), about="end")
@check_all("shutdown:sigint:group", judges=ends_gemini("INT"), about="end")
@check_all("shutdown:sighup:group", judges=ends_gemini("HUP"), about="end")
def every_process_of_gemini_ends(observation: Observation) -> Complaints:
    left = [each for each in unfinished(observation) if has_survivors(each) and not is_told_apart(observation, each)]
    lists = [run for run in observation.unclaimed if run.call.kind == "list" and run.survivors]
    found = [(f"for the call in {each.label}", each.all_runs) for each in left]
    found += [("for a list of sessions", (run,)) for run in lists]
    for what, runs in found:
        who = "gemini itself" if any(run.call.pid in run.survivors for run in runs) else "what gemini had started"
        yield f"The port left {who} running after {way(observation)}, {what}, and should end every process."


@check_all("shutdown:stdin-end:ignored-term", judges=ends_stubborn_gemini, about="end")
def stubborn_gemini_ends(observation: Observation) -> Complaints:
    if any(has_survivors(each) and ignores_term(each) for each in interrupted(observation)):
        yield f"The port left a gemini that ignores SIGTERM running after {way(observation)}, and should kill it."


def had_begun(observation: Observation) -> bool:
    """Whether the port had said anything, so that it no longer started when it was to end."""
    return asked("stdin", "TERM")(observation) and any(True for _ in observation.received)


def never_exits(observation: Observation) -> bool:
    return had_begun(observation) and observation.exit is not None and observation.exit.code is None


@check_all("shutdown:prompt", judges=never_exits, about="end")
def exit_comes(observation: Observation) -> Complaints:
    yield f"The port did not exit after {way(observation)}, and should within {LIMIT:g} seconds."


@check_all("shutdown:prompt", judges=lambda seen: had_begun(seen) and not never_exits(seen))
def exit_is_prompt(observation: Observation) -> Complaints:
    assert observation.exit is not None
    if observation.exit.seconds > LIMIT + DELAYS * observation.delay:
        yield f"The port took more than {LIMIT:g} seconds to exit after {way(observation)}, and should take less."
