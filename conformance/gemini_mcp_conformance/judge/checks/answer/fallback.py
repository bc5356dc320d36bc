"""Where the session's id comes from when gemini's JSON does not name it."""

from __future__ import annotations

from gemini_mcp_conformance.judge.checks.answer.result import carries_session, names_session, says, session_in
from gemini_mcp_conformance.judge.expectation import Ending, answer, ending, resumes, session_of
from gemini_mcp_conformance.judge.reading import newest
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.play.fake.script import Script
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.tell.witness import shown


def lacks_session(exchange: Exchange) -> bool:
    found = answer(exchange)
    return found is not None and found.session is None


def resumes_by_id(exchange: Exchange) -> bool:
    """Whether the call names a session; an index of the list is no id."""
    session = session_of(exchange)
    if not resumes(exchange) or session in (None, "", exchange.spec.latest(exchange.tool or "")):
        return False
    return not str(session).isdigit()


def listing(exchange: Exchange) -> Ending | None:
    """How the list of sessions would end."""
    script = exchange.scripts[0]
    return None if script.list_sessions is None else ending(Script(script.id, script.list_sessions))


def listed(exchange: Exchange) -> str | None:
    """The id that the list gives; None when there is none."""
    printed = listing(exchange)
    if printed is None or printed.exit != 0 or printed.hangs:
        return None
    return newest((printed.stdout + b"\n" + printed.stderr).decode("utf-8", "replace"), entry(exchange))


def entry(exchange: Exchange) -> str:
    """The pattern of a line of the list."""
    return exchange.spec.invocation.listing.entry


def asks_for_list(exchange: Exchange) -> bool:
    return lacks_session(exchange) and not resumes_by_id(exchange)


def of_beginning(exchange: Exchange) -> bool:
    return not resumes(exchange) and asks_for_list(exchange) and listed(exchange) is not None


def of_latest(exchange: Exchange) -> bool:
    return resumes(exchange) and asks_for_list(exchange) and listed(exchange) is not None


def _lines(exchange: Exchange) -> list[str]:
    printed = listing(exchange)
    text = (printed.stdout + b"\n" + printed.stderr).decode("utf-8", "replace") if printed else ""
    return [line for line in text.split("\n") if newest(line, entry(exchange)) is not None]


def has_several_entries(exchange: Exchange) -> bool:
    return of_beginning(exchange) and len({newest(line, entry(exchange)) for line in _lines(exchange)}) > 1


def has_brackets_in_title(exchange: Exchange) -> bool:
    if not of_beginning(exchange):
        return False
    return any(line.count("[") > 1 for line in _lines(exchange) if newest(line, entry(exchange)) == listed(exchange))


def is_on_stderr(exchange: Exchange) -> bool:
    printed = listing(exchange) if of_beginning(exchange) else None
    return printed is not None and newest(printed.stdout.decode("utf-8", "replace"), entry(exchange)) is None


@check("fallback:list-sessions", judges=of_beginning, about="session")
@check("fallback:last", judges=has_several_entries, about="session")
@check("fallback:brackets", judges=has_brackets_in_title, about="session")
@check("fallback:stderr", judges=is_on_stderr, about="session")
@check("fallback:latest", judges=of_latest, about="session")
def session_is_the_newest(exchange: Exchange) -> list[str]:
    found = session_in(exchange)
    if found == listed(exchange):
        return []
    return [f"The port reports the session {shown(found)}, and should report {shown(listed(exchange))} from the list."]


@check("fallback:cwd", judges=lambda exchange: asks_for_list(exchange) and bool(exchange.listings and exchange.runs))
def list_is_asked_in_the_same_directory(exchange: Exchange) -> list[str]:
    wanted = exchange.runs[0].call.cwd
    wrong = [run.call.cwd for run in exchange.listings if run.call.cwd != wanted]
    return [f"The port listed the sessions of {wrong[0]!r}, and should list those of {wanted!r}."] if wrong else []


def _list_fails(exchange: Exchange) -> bool:
    printed = listing(exchange) if asks_for_list(exchange) else None
    return printed is not None and (printed.exit != 0 or printed.hangs)


@check("fallback:failure", judges=_list_fails)
def call_succeeds_without_a_list(exchange: Exchange) -> list[str]:
    if exchange.is_success:
        return []
    return [f"The port answered {says(exchange)}, and should answer with a success: only the list has failed."]


def _finds_nothing(exchange: Exchange) -> bool:
    return asks_for_list(exchange) and listing(exchange) is not None and listed(exchange) is None


@check("fallback:none", judges=_finds_nothing, about="session")
def no_session_is_reported(exchange: Exchange) -> list[str]:
    if not carries_session(exchange):
        return []
    return [f"The port reports the session {shown(session_in(exchange))}, and should report none."]


@check("fallback:unneeded", judges=lambda exchange: names_session(exchange) and bool(exchange.runs), about="list")
def no_list_is_asked_for(exchange: Exchange) -> list[str]:
    if not exchange.listings:
        return []
    return ["The port asked gemini for its sessions, and should not: gemini's JSON names the session."]


@check("fallback:by-id", judges=lambda exchange: lacks_session(exchange) and resumes_by_id(exchange), about="session")
def resumed_session_is_reported(exchange: Exchange) -> list[str]:
    resumed, found = session_of(exchange), session_in(exchange)
    wrong = (
        [f"The port reports the session {shown(found)}, and should report {shown(resumed)}."]
        if found != resumed
        else []
    )
    return [*wrong, *(["The port asked for a list, and should not."] if exchange.listings else [])]
