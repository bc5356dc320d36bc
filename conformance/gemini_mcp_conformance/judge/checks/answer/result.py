"""What a call is answered with."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable

from gemini_mcp.spec.families import Subject
from gemini_mcp.spec.values import Json, inside, is_unicode, items
from gemini_mcp_conformance.judge.expectation import Answer, answer, ending, reading, resumes, session_of
from gemini_mcp_conformance.judge.reading import Trait
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import Predicate, answered, of_tool
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.tell.witness import shown


def expected(exchange: Exchange) -> Answer:
    found = answer(exchange)
    assert found is not None
    return found


def names_session(exchange: Exchange) -> bool:
    found = answer(exchange)
    return found is not None and found.session is not None


def carries_session(exchange: Exchange) -> bool:
    """Whether a result says anything of a session, be it null."""
    return exchange.spec.outcome.meta["session"] in exchange.meta


def session_in(exchange: Exchange) -> Json:
    """The session that a result reports, or None."""
    return exchange.meta.get(exchange.spec.outcome.meta["session"])


def says(exchange: Exchange) -> str:
    """The answer for a complaint."""
    if exchange.answer is None:
        return f"nothing ({exchange.silence})"
    return shown(exchange.answer.get("result", exchange.answer.get("error")))


@check("result:content", judges=answered)
def content_is_texts(exchange: Exchange) -> list[str]:
    content = items(inside(exchange.result, "content"))
    if content and all(inside(item, "type") == "text" for item in content):
        return []
    return [f"The port answered {says(exchange)}, and should answer with a `content` of texts."]


@check("result:text", judges=answered, about="text")
def text_is_the_response(exchange: Exchange) -> list[str]:
    text = expected(exchange).text
    if exchange.is_success and exchange.text == text:
        return []
    return [f"The port answered {says(exchange)}, and should answer with the text {shown(text)}."]


@check("result:success", judges=answered)
def success_is_no_error(exchange: Exchange) -> list[str]:
    return [] if exchange.is_success else [f"The port answered {says(exchange)}, and should answer with a success."]


def begins_with_session(exchange: Exchange) -> bool:
    return not resumes(exchange) and names_session(exchange)


def resumes_with_session(exchange: Exchange, subject: Subject) -> bool:
    return of_tool(exchange, subject) and names_session(exchange)


def changes_session(exchange: Exchange) -> bool:
    latest = exchange.spec.latest(exchange.tool or "") if resumes(exchange) else None
    return (
        resumes(exchange)
        and names_session(exchange)
        and session_of(exchange)
        not in (
            None,
            "",
            latest,
            expected(exchange).session,
        )
    )


def session_is_that_of_gemini(exchange: Exchange) -> list[str]:
    session, found = expected(exchange).session, session_in(exchange)
    if found == session:
        return []
    return [f"The port reports the session {shown(found)}, and should report {shown(session)}."]


check("result:session-id", judges=begins_with_session, about="session")(session_is_that_of_gemini)
check("result:session-id:changed", judges=changes_session, about="session")(session_is_that_of_gemini)


@check("result:session-id:{tool}", judges=resumes_with_session, about="session")
def session_of_a_reply_is_that_of_gemini(exchange: Exchange, subject: Subject) -> list[str]:
    return session_is_that_of_gemini(exchange)


def prints_lines(exchange: Exchange) -> bool:
    return answer(exchange) is not None and b"\n" in ending(exchange.scripts[0]).stdout.strip()


def prints_one_line(exchange: Exchange) -> bool:
    return answer(exchange) is not None and b"\n" not in ending(exchange.scripts[0]).stdout.strip()


def prints_to_stderr(exchange: Exchange) -> bool:
    return answer(exchange) is not None and bool(ending(exchange.scripts[0]).stderr)


def splits_a_character(exchange: Exchange) -> bool:
    """Whether gemini writes stdout in pieces that are not UTF-8 by themselves."""
    pieces = [step["stdoutBase64"] for script in exchange.scripts for step in script.play if "stdoutBase64" in step]
    return answer(exchange) is not None and not all(map(_is_text, pieces))


def _is_text(piece: str) -> bool:
    try:
        base64.b64decode(piece).decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def text_that(fits: Callable[[str], bool]) -> Predicate:
    return lambda exchange: answer(exchange) is not None and fits(expected(exchange).text)


def looks_like_json(text: str) -> bool:
    return text.strip()[:1] in ("{", "[", '"')


@check("result:json:pretty", judges=prints_lines, about="text")
@check("result:json:compact", judges=prints_one_line, about="text")
@check("result:stderr", judges=prints_to_stderr, about="text")
@check("result:text:split", judges=splits_a_character, about="text")
@check("result:text:unicode", judges=text_that(lambda text: not text.isascii()), about="text")
@check("result:text:newline", judges=text_that(lambda text: "\n" in text or "\r" in text), about="text")
@check("result:text:blanks", judges=text_that(lambda text: text != text.strip()), about="text")
@check("result:text:json", judges=text_that(looks_like_json), about="text")
@check("result:large-stdout", judges=text_that(lambda text: len(text) >= 10_000_000), about="text")
@check(
    "result:json:notice-before",
    judges=lambda exchange: reads(exchange, "before", answer(exchange) is not None),
    about="text",
)
def answer_is_understood(exchange: Exchange) -> list[str]:
    return text_is_the_response(exchange)


def writes_much_to_stderr(exchange: Exchange) -> bool:
    return answer(exchange) is not None and len(ending(exchange.scripts[0]).stderr) >= 1 << 20


@check("result:large-stderr", judges=writes_much_to_stderr, about="text")
def much_stderr_stops_nothing(exchange: Exchange) -> list[str]:
    return text_is_the_response(exchange)


def reads(exchange: Exchange, trait: Trait, holds: bool = True) -> bool:
    """Whether the answer that gemini prints has that trait."""
    found = reading(exchange)
    return holds and found is not None and found.kind == "answer" and trait in found.traits


def has_trait(trait: Trait) -> Predicate:
    return lambda exchange: reads(exchange, trait)


@check("result:json:notice-after", judges=has_trait("after"), about="text")
@check("result:json:braces", judges=has_trait("braces"), about="text")
@check("result:json:last", judges=has_trait("several"), about="text")
@check("result:text:surrogate", judges=has_trait("surrogate"), about="text")
@check("result:empty", judges=has_trait("empty"), about="text")
def answer_is_found(exchange: Exchange) -> list[str]:
    found = reading(exchange)
    assert found is not None
    if not (exchange.is_success and exchange.text == found.text):
        return [f"The port answered {says(exchange)}, and should answer with the text {shown(found.text)}."]
    session = exchange.meta.get(exchange.spec.outcome.meta["session"], found.session)
    if found.session in (None, session) or not is_unicode(found.session):
        return []
    return [
        f"The port reports the session {shown(session)}, and should report that of the JSON, {shown(found.session)}."
    ]


@check("result:json:encoding", judges=has_trait("damaged"), about="text")
def damaged_text_is_read(exchange: Exchange) -> list[str]:
    """How many U+FFFD stand for damaged bytes is left to the language."""
    found = reading(exchange)
    assert found is not None
    if exchange.is_success and _squeezed(exchange.text or "") == _squeezed(found.text):
        return []
    return [f"The port answered {says(exchange)}, and should answer with the text {shown(found.text)}."]


def _squeezed(text: str) -> str:
    return re.sub("\ufffd+", "\ufffd", text)


@check("result:plain-text", judges=lambda exchange: _is_plain(exchange), about="text")
def plain_text_is_the_result(exchange: Exchange) -> list[str]:
    found = reading(exchange)
    assert found is not None
    if exchange.is_success and (exchange.text or "").rstrip("\n") == found.text.rstrip("\n"):
        return []
    return [f"The port answered {says(exchange)}, and should answer with the text {shown(found.text)}."]


def _is_plain(exchange: Exchange) -> bool:
    found = reading(exchange)
    return found is not None and found.kind == "plain"


@check("result:warnings", judges=lambda exchange: _warns(exchange))
def warnings_are_in_meta(exchange: Exchange) -> list[str]:
    found = reading(exchange)
    assert found is not None
    told = json.dumps(exchange.meta, ensure_ascii=False)
    missing = [warning for warning in found.warnings if json.dumps(warning, ensure_ascii=False) not in told]
    return [f"The port answered `_meta` {told}, and should tell the warning {shown(missing[0])}."] if missing else []


def _warns(exchange: Exchange) -> bool:
    found = reading(exchange)
    return found is not None and found.kind == "answer" and bool(found.warnings)


CAUSES = {
    "result:error-key": ("error-key", "gemini reported an error"),
    "result:no-output": ("no-output", "gemini printed nothing"),
    "result:truncated": ("truncated", "gemini's JSON breaks off"),
    "result:no-response": ("no-response", "gemini's JSON has no text as its answer"),
}


def _is_error_because(cause: str) -> Predicate:
    def accepts(exchange: Exchange) -> bool:
        found = reading(exchange)
        return found is not None and found.cause == cause

    return accepts


def _must_be_error(because: str) -> Callable[[Exchange], list[str]]:
    def is_an_error(exchange: Exchange) -> list[str]:
        if exchange.is_error:
            return []
        return [f"The port answered {says(exchange)}, and should answer with `isError: true`, since {because}."]

    return is_an_error


for _id, (_cause, _because) in CAUSES.items():
    check(_id, judges=_is_error_because(_cause))(_must_be_error(_because))
