"""What a scenario's calls are answered with, compared with what the reference answered.

A golden counts only for the very call and scripts it was written for: what another specification asks is not judged.
"""

from __future__ import annotations

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.judge.checks.error import failed, shows_error
from gemini_mcp_conformance.judge.checks.fallback import asks_for_list, lacks_session, of_chat, resumes_by_id
from gemini_mcp_conformance.judge.checks.result import has_trait, is_chat_with_session, is_reply_with_session, says
from gemini_mcp_conformance.judge.golden import load
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import Predicate, answered
from gemini_mcp_conformance.see.canonical import asked, canonical
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.tell.witness import shown

GOLDENS = load()


def golden(judges: Predicate) -> Predicate:
    """Calls that have a golden, and that `judges` accepts."""

    def accepts(exchange: Exchange) -> bool:
        found = GOLDENS.get(exchange.label)
        return found is not None and judges(exchange) and found.asked == asked(exchange)

    return accepts


def compared(exchange: Exchange, key: str) -> tuple[Json, Json]:
    """What the port answered below that key, and what the golden has there."""
    return canonical(exchange).get(key), GOLDENS[exchange.label].answer.get(key)


def is_null_prompt(exchange: Exchange) -> bool:
    return exchange.arguments.get("prompt", "") is None


def is_wrong_prompt(exchange: Exchange) -> bool:
    return not isinstance(exchange.arguments.get("prompt", ""), str | None)


def is_without_session(exchange: Exchange) -> bool:
    return asks_for_list(exchange) and "sessionId" not in GOLDENS[exchange.label].answer


@check("result:success", judges=golden(answered()))
@check("error:is-error", judges=golden(failed))
@check("arguments:prompt:null", judges=golden(is_null_prompt))
@check("arguments:prompt:type", judges=golden(is_wrong_prompt))
@check("cwd:missing", judges=golden(lambda exchange: exchange.cwd == "missing"))
def outcome_is_golden(exchange: Exchange) -> list[str]:
    found, wanted = compared(exchange, "isError")
    if found == wanted:
        return []
    return [f"The port answered {says(exchange)}, and should answer with {'an error' if wanted else 'a success'}."]


@check("result:text", judges=golden(answered()))
@check("result:text:surrogate", judges=golden(has_trait("surrogate")))
@check("result:json:encoding", judges=golden(has_trait("damaged")))
@check("result:json:notice-after", judges=golden(has_trait("after")))
@check("error:prefix", judges=golden(shows_error))
def text_is_golden(exchange: Exchange) -> list[str]:
    found, wanted = compared(exchange, "text")
    if found == wanted:
        return []
    return [f"The port answered {says(exchange)}, and should answer with the text {shown(wanted)}."]


@check("result:session-id", judges=golden(is_chat_with_session))
@check("result:session-id:chat-reply", judges=golden(is_reply_with_session))
@check("fallback:list-sessions", judges=golden(of_chat))
@check("fallback:by-id", judges=golden(lambda exchange: lacks_session(exchange) and resumes_by_id(exchange)))
@check("fallback:none", judges=golden(is_without_session))
@check("error:session-id", judges=golden(shows_error))
def session_is_golden(exchange: Exchange) -> list[str]:
    found, wanted = compared(exchange, "sessionId")
    if found == wanted:
        return []
    return [f"The port reports the session {shown(found)}, and should report {shown(wanted)}."]
