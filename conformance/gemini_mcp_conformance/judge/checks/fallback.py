"""Where the session's id comes from when gemini's JSON does not name it."""

from __future__ import annotations

from gemini_mcp_conformance.judge.checks.result import says
from gemini_mcp_conformance.judge.expectation import Ending, answer, ending
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.play.fake.script import Script
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.see.reading import newest
from gemini_mcp_conformance.tell.witness import shown

LATEST = (None, "", "latest")


def lacks_session(exchange: Exchange) -> bool:
    found = answer(exchange)
    return found is not None and found.session is None


def resumes_by_id(exchange: Exchange) -> bool:
    """Whether the call names a session; an index of the list is no id."""
    session = exchange.arguments.get("sessionId")
    return exchange.tool == "chat-reply" and session not in LATEST and not str(session).isdigit()


def listing(exchange: Exchange) -> Ending | None:
    """How `gemini --list-sessions` would end."""
    script = exchange.scripts[0]
    return None if script.list_sessions is None else ending(Script(script.id, script.list_sessions))


def listed(exchange: Exchange) -> str | None:
    """The id that the list gives; None when there is none."""
    printed = listing(exchange)
    if printed is None or printed.exit != 0 or printed.hangs:
        return None
    return newest((printed.stdout + b"\n" + printed.stderr).decode("utf-8", "replace"))


def asks_for_list(exchange: Exchange) -> bool:
    return lacks_session(exchange) and not resumes_by_id(exchange)


def of_chat(exchange: Exchange) -> bool:
    return exchange.tool == "chat" and asks_for_list(exchange) and listed(exchange) is not None


def of_latest(exchange: Exchange) -> bool:
    return exchange.tool == "chat-reply" and asks_for_list(exchange) and listed(exchange) is not None


def _lines(exchange: Exchange) -> list[str]:
    printed = listing(exchange)
    text = (printed.stdout + b"\n" + printed.stderr).decode("utf-8", "replace") if printed else ""
    return [line for line in text.split("\n") if newest(line) is not None]


def has_several_entries(exchange: Exchange) -> bool:
    return of_chat(exchange) and len({newest(line) for line in _lines(exchange)}) > 1


def has_brackets_in_title(exchange: Exchange) -> bool:
    if not of_chat(exchange):
        return False
    return any(line.count("[") > 1 for line in _lines(exchange) if newest(line) == listed(exchange))


def is_on_stderr(exchange: Exchange) -> bool:
    printed = listing(exchange) if of_chat(exchange) else None
    return printed is not None and newest(printed.stdout.decode("utf-8", "replace")) is None


@check("fallback:list-sessions", judges=of_chat)
@check("fallback:last", judges=has_several_entries)
@check("fallback:brackets", judges=has_brackets_in_title)
@check("fallback:stderr", judges=is_on_stderr)
@check("fallback:latest", judges=of_latest)
def session_is_the_newest(exchange: Exchange) -> list[str]:
    found = exchange.meta.get("sessionId")
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


@check("fallback:none", judges=_finds_nothing)
def no_session_is_reported(exchange: Exchange) -> list[str]:
    if "sessionId" not in exchange.meta:
        return []
    return [f"The port reports the session {shown(exchange.meta['sessionId'])}, and should report none."]


def names_session(exchange: Exchange) -> bool:
    found = answer(exchange)
    return found is not None and found.session is not None and bool(exchange.runs)


@check("fallback:unneeded", judges=names_session)
def no_list_is_asked_for(exchange: Exchange) -> list[str]:
    if not exchange.listings:
        return []
    return ["The port ran `gemini --list-sessions`, and should not: gemini's JSON names the session."]


@check("fallback:by-id", judges=lambda exchange: lacks_session(exchange) and resumes_by_id(exchange))
def resumed_session_is_reported(exchange: Exchange) -> list[str]:
    resumed, found = exchange.arguments["sessionId"], exchange.meta.get("sessionId")
    wrong = (
        [f"The port reports the session {shown(found)}, and should report {shown(resumed)}."]
        if found != resumed
        else []
    )
    return [*wrong, *(["The port asked for a list, and should not."] if exchange.listings else [])]
