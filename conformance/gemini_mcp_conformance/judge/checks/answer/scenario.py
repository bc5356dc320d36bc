"""What a scenario's calls are answered with, compared with what the scenario says.

Where the other files of the specification say something else, they count, and the scenario is not judged.
"""

from __future__ import annotations

import re

from gemini_mcp.spec.families import Subject
from gemini_mcp.spec.values import Json, inside, items
from gemini_mcp_conformance.judge.checks.answer.error import failed, shows_error
from gemini_mcp_conformance.judge.checks.answer.fallback import (
    asks_for_list,
    lacks_session,
    of_beginning,
    resumes_by_id,
)
from gemini_mcp_conformance.judge.checks.answer.result import (
    begins_with_session,
    has_trait,
    resumes_with_session,
    says,
    session_in,
)
from gemini_mcp_conformance.judge.expectation import answer, reading
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import Predicate, answered
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.tell.witness import shown


def told(judges: Predicate) -> Predicate:
    """Calls that a scenario tells the result of, in agreement with the other files, and that `judges` accepts."""
    return lambda exchange: exchange.expected is not None and judges(exchange) and _agrees(exchange)


def _agrees(exchange: Exchange) -> bool:
    found, should = answer(exchange), reading(exchange)
    if found is not None:
        return (found.text, found.session) == (_text(exchange), _session(exchange)) and not _is_error(exchange)
    return should is None or (should.kind == "error") == _is_error(exchange)


def _is_error(exchange: Exchange) -> bool:
    return inside(exchange.expected, "isError") is True


def _text(exchange: Exchange) -> Json:
    return next((inside(item, "text") for item in items(inside(exchange.expected, "content"))), None)


def _session(exchange: Exchange) -> Json:
    return inside(exchange.expected, "_meta", exchange.spec.outcome.meta["session"])


def tells_session(judges: Predicate) -> Predicate:
    """Calls of which a scenario tells the session under the key that the specification has for it, or tells none."""
    judged = told(judges)

    def accepts(exchange: Exchange) -> bool:
        meta = inside(exchange.expected, "_meta")
        return (meta is None or exchange.spec.outcome.meta["session"] in meta) and judged(exchange)

    return accepts


def is_without_session(exchange: Exchange) -> bool:
    return asks_for_list(exchange) and _session(exchange) is None


@check("result:success", judges=told(answered))
@check("error:is-error", judges=told(failed))
@check("cwd:missing", judges=told(lambda exchange: exchange.cwd == "missing"))
def outcome_is_that_of_the_scenario(exchange: Exchange) -> list[str]:
    if exchange.answer is not None and exchange.is_error == _is_error(exchange):
        return []
    wanted = "an error" if _is_error(exchange) else "a success"
    return [f"The port answered {says(exchange)}, and should answer with {wanted}."]


@check("result:text", judges=told(answered), about="text")
@check("result:text:surrogate", judges=told(has_trait("surrogate")), about="text")
@check("result:json:encoding", judges=told(has_trait("damaged")), about="text")
@check("result:json:notice-after", judges=told(has_trait("after")), about="text")
def text_is_that_of_the_scenario(exchange: Exchange) -> list[str]:
    if exchange.text is not None and _plain(exchange.text) == _plain(str(_text(exchange))):
        return []
    return [f"The port answered {says(exchange)}, and should answer with the text {shown(_text(exchange))}."]


def _plain(text: str) -> str:
    """How many U+FFFD stand for damaged bytes is left to the language."""
    return re.sub("\ufffd+", "\ufffd", text)


@check("error:prefix", judges=told(shows_error))
def error_begins_as_in_the_scenario(exchange: Exchange) -> list[str]:
    prefix = exchange.spec.outcome.prefix
    if (exchange.text or "").startswith(prefix) or not str(_text(exchange)).startswith(prefix):
        return []
    return [f"The port answered {says(exchange)}, and should begin as {shown(_text(exchange))} does."]


@check("result:session-id", judges=tells_session(begins_with_session), about="session")
@check("fallback:list-sessions", judges=tells_session(of_beginning), about="session")
@check(
    "fallback:by-id",
    judges=tells_session(lambda exchange: lacks_session(exchange) and resumes_by_id(exchange)),
    about="session",
)
@check("fallback:none", judges=tells_session(is_without_session), about="session")
def session_is_that_of_the_scenario(exchange: Exchange) -> list[str]:
    found, wanted = session_in(exchange), _session(exchange)
    if found == wanted:
        return []
    return [f"The port reports the session {shown(found)}, and should report {shown(wanted)}."]


@check(
    "result:session-id:{tool}",
    judges=lambda exchange, subject: tells_session(lambda each: resumes_with_session(each, subject))(exchange),
    about="session",
)
def session_of_a_reply_is_that_of_the_scenario(exchange: Exchange, subject: Subject) -> list[str]:
    return session_is_that_of_the_scenario(exchange)
