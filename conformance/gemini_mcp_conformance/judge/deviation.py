"""Deviation: what went wrong with a call, as the kind of fault that the complaints about it have in common; pure.

The kinds are in the order in which a call can go wrong: it is not answered, not run, not understood, answered wrongly.
A new kind is for a fault about which checks of different requirements complain.
"""

from __future__ import annotations

from gemini_mcp.gemini_cli.understanding import Understood
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.judge.expectation import answer, fate, heard, is_call, is_misread, printed
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange, Observation, Run
from gemini_mcp_conformance.spec.specification import Heard

PROMPT = "prompt"
"""The name of the prompt where fields of a command line are named; other fields are named as gemini's options are."""

RESUMED = "resumed"
"""The kind of fault by which gemini resumes another session than the call asks for; replies in a session wait."""

GIVEN = ("command", "directory", "file")
"""What gemini is given: a complaint about it may be that gemini did not run."""

READ = ("session", "list", "warnings")
"""What a port reads from the same JSON as the text."""

ANSWERED = ("failed", "succeeded", "no text", "text")
"""The ways in which an answer is not what gemini's output asks for. They are one kind of fault: `answer`."""


@remembered
def deviation(exchange: Exchange) -> str:
    """What went wrong with a call as a whole, so that every complaint about it has this cause; else empty.

    An answer that comes after the suite has given up shows nothing, since another call may be open by then.
    """
    if exchange.is_unanswered:
        return "unanswered"
    if exchange.silence == "cancelled" and any(run.survivors for run in exchange.all_runs):
        return "left"
    if _is_error_unflagged(exchange):
        return "succeeded"
    if exchange.method == "tools/call" and fate(exchange) == "refused":
        return "served" if exchange.runs or (is_call(exchange) and exchange.is_success) else ""
    if exchange.answer is None or exchange.method != "tools/call":
        return ""
    if not exchange.runs:
        is_due = fate(exchange) == "served" and bool(exchange.scripts)
        # A port that refuses a call may do so before it reads that the call is cancelled.
        is_refused = exchange.silence == "cancelled" and exchange.is_error
        return "not run" if is_due and (is_refused or not exchange.silence) else ""
    if exchange.scripts and any(run.call.is_unplayed for run in exchange.runs):
        return "command"
    return _answered(exchange)


def _is_error_unflagged(exchange: Exchange) -> bool:
    """Whether a call that gemini never saw is answered with the words of an error as if it had succeeded."""
    if exchange.runs or not (is_call(exchange) and exchange.is_success):
        return False
    return (exchange.text or "").startswith(exchange.spec.outcome.prefix)


def _answered(exchange: Exchange) -> str:
    """What is wrong with the answer of a call that ran, as far as it concerns the call as a whole."""
    found = printed(exchange)
    if found is None:
        return ""
    if (found.kind == "error") != exchange.is_error:
        return "failed" if exchange.is_error else "succeeded"
    return "" if exchange.texts or exchange.result is None else "no text"


def kind(exchange: Exchange, about: str) -> str:
    """The kind of fault that a complaint about a call is due to; `about` is what the check is about."""
    found = deviation(exchange)
    if found:
        return shared(found)
    if about in GIVEN and not exchange.runs:
        return "not run"
    if about == "command":
        return misunderstood(exchange)
    return shared("text" if about in READ and is_misread(exchange) else about)


def shared(about: str) -> str:
    """The kind of fault, which some things that a check may be about have in common."""
    return "answer" if about in ANSWERED else about


def misunderstood(exchange: Exchange) -> str:
    """What of the command line gemini understands wrongly: one field, else the command line as a whole."""
    fields = (PROMPT, *sorted(exchange.spec.option_names))
    wrong = {field for run in exchange.runs for field in fields if differs(exchange, run, field)}
    if wrong & exchange.spec.session_options and wrong < set(fields):
        return RESUMED
    return f"command {min(wrong)}" if len(wrong) == 1 else "command"


def differs(exchange: Exchange, run: Run, field: str) -> bool:
    """Whether gemini understands a field of a command line otherwise than is specified."""
    expected = heard(exchange)
    return isinstance(expected, Heard) and understood(run, field) != wanted(expected, field)


def wanted(expected: Heard, field: str) -> Json:
    """What gemini must understand as a field."""
    return expected.prompt if field == PROMPT else expected.values.get(field)


def understood(run: Run, field: str) -> Json:
    """What gemini understood as a field; of a command line that it does not understand, what it makes of that."""
    if not isinstance(run.understood, Understood):
        return run.understood
    return run.prompt if field == PROMPT else run.understood.values.get(field)


def is_refusing(observation: Observation) -> bool:
    """Whether several calls had to be served, and no call was answered with a result."""
    due = [each for each in observation.calls if answer(each) is not None and each.error is not None]
    return len(due) > 1 and all(each.result is None for each in observation.calls)
