"""What a port tells of the progress of a call."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import inf

from gemini_mcp.spec.values import Json, inside
from gemini_mcp_conformance.judge.check import Complaints, NotApplicable
from gemini_mcp_conformance.judge.expectation import fate
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.see.attribution import same_id
from gemini_mcp_conformance.see.observation import Exchange, Line, Observation
from gemini_mcp_conformance.see.timeline import cancellations, is_open, open_calls, token
from gemini_mcp_conformance.see.witness import shown

METHOD = "notifications/progress"
INTERVAL = 10.0
LENIENCY = 0.5
"""Seconds that a machine may add to an interval."""
GRACE = 6.0
"""Seconds that a port may take to end the gemini of a cancelled call."""
DELAYS = 3
"""How many times as late as the suite a port may be: when it tells, when it is heard, and when it told before."""

SILENT = "The port tells no progress."


def notifications(observation: Observation) -> list[Line]:
    return [line for line in observation.received if line.table.get("method") == METHOD]


def asks(exchange: Exchange) -> bool:
    """Calls that asked for progress and must reach gemini."""
    return token(exchange) is not None and bool(exchange.scripts) and fate(exchange) == "served"


@check_all("progress:token", judges=lambda seen: any(map(asks, seen.calls)), about="progress")
def token_is_that_of_a_running_call(observation: Observation) -> Complaints:
    if not notifications(observation):
        raise NotApplicable(SILENT)
    ended = _ends_of_cancelled(observation)
    for line in notifications(observation):
        if not _fits(observation, line, ended):
            told = shown(_token(line))
            yield f"The port told progress with the token {told}, and should use that of a running request."


@check("progress:increase", judges=asks, any_outcome=True, about="told")
def progress_grows(exchange: Exchange) -> Complaints:
    values = [inside(line.message, "params", "progress") for line in exchange.progress]
    if not values:
        raise NotApplicable(SILENT)
    for value in values:
        if not isinstance(value, int | float) or isinstance(value, bool):
            yield f"The port told the progress {shown(value)}, and should tell a number."
    for old, new in pairwise(values):
        if new <= old:
            yield f"The port told the progress {shown(new)} after {shown(old)}, and should tell more each time."


@check(
    "progress:end",
    judges=lambda exchange: token(exchange) is not None and bool(exchange.answers),
    any_outcome=True,
    about="told",
)
def progress_ends_with_the_answer(exchange: Exchange) -> Complaints:
    if not exchange.progress:
        raise NotApplicable(SILENT)
    if any(line.order > exchange.answers[0].order for line in exchange.progress):
        told = f"progress with the token {shown(token(exchange))}"
        yield f"The port told {told} after the answer to its call, and should tell it before."


@check_all("progress:unasked", judges=lambda seen: any(token(each) is None for each in seen.calls), about="progress")
def nobody_is_told_unasked(observation: Observation) -> Complaints:
    """While no call runs that asked for progress, none is told."""
    for line in notifications(observation):
        # Beside a call that asked, progress may be its own; whether the token is right is for `progress:token`.
        running = open_calls(observation, line.order)
        if running and all(token(each) is None for each in running):
            told = shown(_token(line))
            yield f"The port told progress with the token {told} while a call without one ran, and should tell none."


def is_over(exchange: Exchange) -> bool:
    """Whether a call that asked ran to its answer; a cancelled call may end before its first progress."""
    is_asked = token(exchange) is not None and bool(exchange.scripts) and fate(exchange) != "refused"
    return is_asked and bool(exchange.runs) and bool(exchange.answers)


@check("progress:start", judges=is_over, any_outcome=True, about="told")
def start_is_told(exchange: Exchange) -> Complaints:
    if not any(line.order < exchange.answers[0].order for line in exchange.progress):
        asked = f"a call with the token {shown(token(exchange))}"
        yield f"The port told no progress of {asked}, and should tell it when the call starts."


@check(
    "progress:interval",
    judges=lambda exchange: asks(exchange) and _seconds(exchange) > INTERVAL + LENIENCY,
    about="told",
)
def long_call_is_told_of_regularly(exchange: Exchange) -> Complaints:
    moments = [exchange.sent.at, *(line.at for line in exchange.progress), exchange.answers[0].at]
    gap = max(later - earlier for earlier, later in pairwise(sorted(moments)))
    if gap > INTERVAL + LENIENCY + DELAYS * exchange.delay:
        wanted = f"at least every {INTERVAL:g}"
        yield f"The port told no progress of a running call for {gap:.0f} seconds, and should tell it {wanted}."


def _fits(observation: Observation, line: Line, ended: Mapping[int, float]) -> bool:
    """Whether the token is that of a running call, or of one that has ended while no other runs: see `progress:end`."""
    own = [each for each in observation.exchanges if token(each) is not None and same_id(token(each), _token(line))]
    running = [each for each in open_calls(observation, line.order) if token(each) is not None]
    of_running = any(is_open(each, line.order) and line.at < ended.get(each.step, inf) for each in own)
    return of_running or bool(own and not running)


def _ends_of_cancelled(observation: Observation) -> Mapping[int, float]:
    """When no progress of the cancelled calls can come any more, by their steps."""
    late = GRACE + DELAYS * observation.delay
    return {each.step: line.at + late for line, each in cancellations(observation) if each is not None}


def _token(line: Line) -> Json:
    return inside(line.message, "params", "progressToken")


def _seconds(exchange: Exchange) -> float:
    return exchange.answers[0].at - exchange.sent.at if exchange.answers else 0.0
