"""What a port tells of the progress of a call."""

from __future__ import annotations

from itertools import pairwise

from gemini_mcp.spec.values import inside
from gemini_mcp_conformance.judge.check import NotApplicable
from gemini_mcp_conformance.judge.expectation import fate
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.see.attribution import same_id
from gemini_mcp_conformance.see.observation import Exchange, Line, Observation
from gemini_mcp_conformance.see.timeline import is_open, opens, token
from gemini_mcp_conformance.talk.conversation import Json
from gemini_mcp_conformance.tell.witness import shown

METHOD = "notifications/progress"
INTERVAL = 10.0
LENIENCY = 0.5
"""Seconds that a busy machine may add to an interval."""

SILENT = "The port tells no progress."


def told(observation: Observation) -> list[Line]:
    return [line for line in observation.received if line.table.get("method") == METHOD]


def asks(exchange: Exchange) -> bool:
    """Calls that asked for progress and must reach gemini."""
    return token(exchange) is not None and bool(exchange.scripts) and fate(exchange) == "served"


def asked(observation: Observation) -> list[Exchange]:
    return [exchange for exchange in observation.calls if asks(exchange)]


@check_all("progress:token", judges=lambda seen: bool(asked(seen)))
def token_is_that_of_a_running_call(observation: Observation) -> list[str]:
    lines = told(observation)
    if not lines:
        raise NotApplicable(SILENT)
    wrong = [line for line in lines if not _fits(observation, line)]
    return [
        f"The port told progress with the token {shown(_token(line))}, and no running request has it." for line in wrong
    ]


@check("progress:increase", judges=asks, anyway=True)
def progress_grows(exchange: Exchange) -> list[str]:
    values = [inside(line.message, "params", "progress") for line in exchange.progress]
    if not values:
        raise NotApplicable(SILENT)
    wrong = [value for value in values if not isinstance(value, int | float) or isinstance(value, bool)]
    if wrong:
        return [f"The port told the progress {shown(wrong[0])}, which should be a number."]
    steps = [pair for pair in pairwise(values) if pair[1] <= pair[0]]
    return [
        f"The port told the progress {shown(new)} after {shown(old)}, and it should grow." for old, new in steps[:1]
    ]


@check("progress:end", judges=lambda exchange: asks(exchange) and bool(exchange.answers), anyway=True)
def progress_ends_with_the_answer(exchange: Exchange) -> list[str]:
    if not exchange.progress:
        raise NotApplicable(SILENT)
    late = [line for line in exchange.progress if line.order > exchange.answers[0].order]
    return [f"The port told progress with the token {shown(token(exchange))} after its answer." for _ in late[:1]]


@check_all("progress:unasked", judges=lambda seen: any(token(each) is None for each in seen.calls))
def nobody_is_told_unasked(observation: Observation) -> list[str]:
    """While no call runs that asked for progress, none is told."""
    wrong = [line for line in told(observation) if _is_unasked(observation, line)]
    return [
        f"The port told progress with the token {shown(_token(line))} of a call that had none." for line in wrong[:1]
    ]


def is_over(exchange: Exchange) -> bool:
    """Whether a call that asked ran to its answer; one that is cancelled may not get as far as to tell."""
    return asks(exchange) and bool(exchange.runs) and bool(exchange.answers)


@check("progress:start", judges=is_over, anyway=True)
def start_is_told(exchange: Exchange) -> list[str]:
    if any(line.order < exchange.answers[0].order for line in exchange.progress):
        return []
    return [f"The port told no progress of a call with the token {shown(token(exchange))}, and should when it starts."]


@check("progress:interval", judges=lambda exchange: asks(exchange) and _seconds(exchange) > INTERVAL + LENIENCY)
def long_call_is_told_of_regularly(exchange: Exchange) -> list[str]:
    moments = [exchange.sent.at, *(line.at for line in exchange.progress), exchange.answers[0].at]
    gap = max(later - earlier for earlier, later in pairwise(sorted(moments)))
    if gap <= INTERVAL + LENIENCY:
        return []
    return [f"The port told no progress of a running call for {gap:.0f} seconds, and should every {INTERVAL:g}."]


def _fits(observation: Observation, line: Line) -> bool:
    """Whether the token is that of a call that runs; one that has just ended is the affair of another check."""
    own = [each for each in observation.exchanges if token(each) is not None and same_id(token(each), _token(line))]
    running = [each for each in opens(observation, line.order) if token(each) is not None]
    return any(is_open(each, line.order) for each in own) or bool(own and not running)


def _is_unasked(observation: Observation, line: Line) -> bool:
    running = opens(observation, line.order)
    return bool(running) and all(token(each) is None for each in running)


def _token(line: Line) -> Json:
    return inside(line.message, "params", "progressToken")


def _seconds(exchange: Exchange) -> float:
    return exchange.answers[0].at - exchange.sent.at if exchange.answers else 0.0
