"""Where the session's id comes from when gemini's JSON does not name it."""

from __future__ import annotations

from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.judge.checks.answer.result import (
    carries_session,
    differing_session,
    expected,
    has_read,
    names_session,
    says,
    session_in,
)
from gemini_mcp_conformance.judge.expectation import Ending, ending, resumes, session_of
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import gives
from gemini_mcp_conformance.play.fake.watched import spellings
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.see.witness import argv_shown, shown
from gemini_mcp_conformance.spec.reading import newest
from gemini_mcp_conformance.spec.script import Script


def resumes_by_id(exchange: Exchange) -> bool:
    """Calls without a session in gemini's JSON that name one themselves. Ports may differ in what an index is."""
    return _lacks_session(exchange) and _names_session(exchange) and not str(session_of(exchange)).isdigit()


def needs_list(exchange: Exchange) -> bool:
    """Calls whose session only the list of sessions can name."""
    return _lacks_session(exchange) and not _names_session(exchange)


def _names_session(exchange: Exchange) -> bool:
    name, session = exchange.spec.session(exchange.tool), session_of(exchange)
    is_given = name is not None and session is not None and gives(exchange, name)
    return is_given and session != exchange.spec.latest(exchange.tool)


def _lacks_session(exchange: Exchange) -> bool:
    return has_read(exchange) and expected(exchange).session is None


@remembered
def listing(exchange: Exchange) -> Ending | None:
    """How the list of sessions would end, for a call that needs it. What it leaves behind is for another check."""
    printed = _printed(exchange)
    return None if printed is None or printed.leaves else printed


def _printed(exchange: Exchange) -> Ending | None:
    script = exchange.scripts[0] if needs_list(exchange) else None
    return ending(Script(script.id, script.list_sessions)) if script and script.list_sessions is not None else None


def fails(printed: Ending) -> bool:
    return printed.exit != 0 or printed.hangs


@remembered
def listed(exchange: Exchange) -> str | None:
    """The id that the list gives; None when there is none."""
    printed = listing(exchange)
    return None if printed is None or fails(printed) else newest(_text(printed), _entry(exchange))


def of_beginning(exchange: Exchange) -> bool:
    return not resumes(exchange) and listed(exchange) is not None


def of_latest(exchange: Exchange) -> bool:
    return resumes(exchange) and listed(exchange) is not None


def _text(printed: Ending) -> str:
    # Gemini CLI before 0.24 prints the list to stderr.
    return (printed.stdout + b"\n" + printed.stderr).decode("utf-8", "replace")


def _entry(exchange: Exchange) -> str:
    """The pattern of a line of the list."""
    return exchange.spec.invocation.listing.entry


@remembered
def _lines(exchange: Exchange) -> list[tuple[str, str]]:
    """The lines of the list, each with the id that it gives, for a call that begins a session."""
    printed = listing(exchange) if of_beginning(exchange) else None
    lines = _text(printed).split("\n") if printed else []
    return [(line, id) for line in lines if (id := newest(line, _entry(exchange))) is not None]


def has_several_entries(exchange: Exchange) -> bool:
    return len({id for _, id in _lines(exchange)}) > 1


def has_brackets_in_title(exchange: Exchange) -> bool:
    # A title is made of the first prompt, so it may hold brackets of its own.
    return any(line.count("[") > 1 for line, id in _lines(exchange) if id == listed(exchange))


def is_on_stderr(exchange: Exchange) -> bool:
    printed = listing(exchange) if of_beginning(exchange) else None
    return printed is not None and newest(printed.stdout.decode("utf-8", "replace"), _entry(exchange)) is None


@check("fallback:list-sessions", judges=of_beginning, about="session")
@check("fallback:last", judges=has_several_entries, about="session")
@check("fallback:brackets", judges=has_brackets_in_title, about="session")
@check("fallback:stderr", judges=is_on_stderr, about="session")
@check("fallback:latest", judges=of_latest, about="session")
def session_is_the_newest(exchange: Exchange) -> Complaints:
    return differing_session(exchange, listed(exchange))


@check("fallback:list-sessions", judges=lambda exchange: of_beginning(exchange) and bool(exchange.listings))
def list_is_asked_for_as_specified(exchange: Exchange) -> Complaints:
    wanted = exchange.spec.invocation.listing.argv
    for run in exchange.listings:
        given = {element.decode("utf-8", "replace") for element in run.call.argv}
        if not all(given.intersection(spellings(flag)) for flag in wanted):
            yield f"The port lists the sessions with {argv_shown(run)}, and should do so with {shown(wanted)}."


@check("fallback:cwd", judges=lambda exchange: needs_list(exchange) and bool(exchange.listings and exchange.runs))
def list_is_asked_in_the_same_directory(exchange: Exchange) -> Complaints:
    wanted = exchange.runs[0].call.cwd
    for run in exchange.listings:
        if run.call.cwd != wanted:
            yield f"The port listed the sessions of {run.call.cwd!r}, and should list those of {wanted!r}."


def _list_fails(exchange: Exchange) -> bool:
    printed = listing(exchange)
    return printed is not None and fails(printed)


@check("fallback:failure", judges=_list_fails)
def call_succeeds_without_a_list(exchange: Exchange) -> Complaints:
    if not exchange.is_success:
        yield f"The port answered {says(exchange)}, and should answer with a success: only the list has failed."


@check(
    "fallback:none",
    judges=lambda exchange: listing(exchange) is not None and listed(exchange) is None,
    about="session",
)
def no_session_is_reported(exchange: Exchange) -> Complaints:
    if carries_session(exchange):
        yield f"The port reports the session {shown(session_in(exchange))}, and should report none."


def reads_session(exchange: Exchange) -> bool:
    """Whether the port found the session that gemini's JSON names."""
    return names_session(exchange) and session_in(exchange) == expected(exchange).session


@check("fallback:unneeded", judges=lambda exchange: reads_session(exchange) and bool(exchange.runs), about="list")
def no_list_is_asked_for(exchange: Exchange) -> Complaints:
    if exchange.listings:
        # In newer versions of Gemini CLI the list costs a request to the API.
        yield "The port asked gemini for its sessions, and should not: gemini's JSON names the session."


@check("fallback:by-id", judges=resumes_by_id, about="session")
def resumed_session_is_reported(exchange: Exchange) -> Complaints:
    yield from differing_session(exchange, session_of(exchange))
    if exchange.listings:
        yield "The port asked gemini for its sessions, and should not: the call names the session."


def holds_list(exchange: Exchange) -> bool:
    """Whether the list of sessions leaves a process behind that holds its output open."""
    printed = _printed(exchange)
    return printed is not None and printed.leaves


@check("process:held-output", judges=holds_list, any_outcome=True, about="session")
def held_list_is_read(exchange: Exchange) -> Complaints:
    printed = _printed(exchange)
    if exchange.is_success and printed is not None:
        yield from differing_session(exchange, newest(_text(printed), _entry(exchange)))
    else:
        yield "The port did not answer while a process that a list had left behind held its output, and should."
