"""Timeline: which requests were open, and which runs were held, when something else happened; pure.

Only the order of lines, steps and runs is read here; what should follow from it is for checks to say.
"""

from __future__ import annotations

from collections.abc import Iterator

from gemini_mcp.spec.values import Json, inside
from gemini_mcp_conformance.see.attribution import same_id
from gemini_mcp_conformance.see.call import PIPES
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange, Line, Observation
from gemini_mcp_conformance.talk.steps import Release

CANCELLED = "notifications/cancelled"


def cancellations(observation: Observation) -> list[tuple[Line, Exchange | None]]:
    """The cancellations that were sent, each with the earlier request that it names."""
    sent = [line for line in observation.lines if line.sent and line.table.get("method") == CANCELLED]
    return [(line, _cancelled(observation, line)) for line in sent]


def _cancelled(observation: Observation, notice: Line) -> Exchange | None:
    wanted = inside(notice.message, "params", "requestId")
    own = [each for each in observation.exchanges if same_id(each.request["id"], wanted)]
    return next((each for each in own if each.sent.order < notice.order), None)


def is_open(exchange: Exchange, order: int) -> bool:
    """Whether a request is sent and not yet answered at that place among the lines."""
    return exchange.sent.order < order and not any(line.order < order for line in exchange.answers)


def open_calls(observation: Observation, order: int) -> list[Exchange]:
    """The calls that are open at that place among the lines."""
    return [exchange for exchange in observation.calls if is_open(exchange, order)]


def sent_after(observation: Observation, line: Line) -> list[Exchange]:
    return [exchange for exchange in observation.exchanges if exchange.sent.order > line.order]


def strays(observation: Observation) -> list[Line]:
    """The responses whose id no request has."""
    asked = [line.table.get("id") for line in observation.lines if line.sent and "method" in line.table]
    known = [id for id in asked if id is not None]
    responses = [line for line in observation.received if line.is_response]
    return [line for line in responses if not any(same_id(line.table.get("id"), id) for id in known)]


def refuses_notice(observation: Observation, line: Line) -> bool:
    """Whether it says why a notification is refused, as an error without an id may do over HTTP."""
    return observation.transport == "http" and "error" in line.table and line.table.get("id") is None


def lists_without_end(exchange: Exchange) -> bool:
    """Whether its list of sessions does not end by itself."""
    return any("hang" in step for script in exchange.scripts for step in script.list_sessions or ())


def waits_for(exchange: Exchange) -> str | None:
    """The release without which its gemini or its list does not end, or gemini does not read its stdin."""
    plays = [play for script in exchange.scripts for play in script.steps]
    kinds = ("release", "unread") if reads_late(exchange) else ("release",)
    return next((str(play[kind]) for play in plays for kind in kinds if kind in play), None)


def reads_late(exchange: Exchange) -> bool:
    """Whether its gemini reads its stdin, a pipe, only after a release."""
    is_late = any(play.get("unread") for script in exchange.scripts for play in script.play)
    return is_late and any(run.call.stdin_kind in PIPES for run in exchange.runs)


def leaves_stdin(exchange: Exchange) -> bool:
    """Whether its gemini may end before it has read its stdin: it never reads it, a pipe, or the call was stopped."""
    is_deaf = any(play.get("unread") == "" for script in exchange.scripts for play in script.play)
    is_unread = is_deaf and any(run.call.stdin_kind in PIPES for run in exchange.runs)
    return is_unread or exchange.silence in ("cancelled", "ended")


def released(observation: Observation, exchange: Exchange) -> int | None:
    """The step that lets the gemini of a call end; None for one that waits for nothing."""
    if (name := waits_for(exchange)) is None:
        return None
    steps = enumerate(observation.conversation.steps)
    return next((number for number, step in steps if step == Release(name)), None)


def while_held(observation: Observation) -> Iterator[tuple[Exchange, Exchange]]:
    """Each call whose gemini runs until a later step, with each request that was sent before that step."""
    for held in observation.calls:
        until = released(observation, held)
        if until is not None and held.runs:
            yield from ((held, each) for each in observation.exchanges if held.step < each.step < until)


def while_cancelled(observation: Observation) -> Iterator[tuple[Exchange, Exchange]]:
    """Each cancelled call whose gemini has ended by itself, with each call that came before its cancellation."""
    for notice, call in cancellations(observation):
        ends = [run.call.ended for run in call.runs] if call is not None else []
        if call is not None and ends and None not in ends:
            others = (each for each in observation.calls if call.sent.order < each.sent.order < notice.order)
            yield from ((call, each) for each in others if not each.silence)


def ran_before_end(held: Exchange, other: Exchange) -> bool:
    """Whether the gemini of the other call began before that of the held one, or its list, had ended."""
    ends = [run.call.ended for run in held.all_runs if run.call.ended is not None]
    starts = [run.call.started for run in other.runs]
    return bool(starts) and (not ends or min(starts) < max(ends))


def ran_beside(held: Exchange, other: Exchange) -> bool:
    """Whether both ran at the same time. Another call may overtake the held one and end before that begins."""
    begins = [run.call.started for run in held.runs]
    ends = [run.call.ended for run in other.runs]
    is_before = all(end is not None and end <= min(begins) for end in ends)
    return ran_before_end(held, other) and not is_before


@remembered
def token(exchange: Exchange) -> Json:
    """The progress token of a request, or None."""
    return inside(exchange.request, "params", "_meta", "progressToken")
