"""What a call is answered with."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable

from gemini_mcp.spec.values import inside, is_unicode, items
from gemini_mcp_conformance.judge.expectation import Answer, answer, ending, reading
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import Predicate, answered
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.see.reading import Trait
from gemini_mcp_conformance.tell.witness import shown


def expected(exchange: Exchange) -> Answer:
    found = answer(exchange)
    assert found is not None
    return found


def names_session(exchange: Exchange) -> bool:
    found = answer(exchange)
    return found is not None and found.session is not None


def says(exchange: Exchange) -> str:
    """The answer for a complaint."""
    if exchange.answer is None:
        return f"nothing ({exchange.silence})"
    return shown(exchange.answer.get("result", exchange.answer.get("error")))


@check("result:content", judges=answered())
def content_is_texts(exchange: Exchange) -> list[str]:
    content = items(inside(exchange.result, "content"))
    if content and all(inside(item, "type") == "text" for item in content):
        return []
    return [f"The port answered {says(exchange)}, and should answer with a `content` of texts."]


@check("result:text", judges=answered())
def text_is_the_response(exchange: Exchange) -> list[str]:
    text = expected(exchange).text
    if exchange.is_success and exchange.text == text:
        return []
    return [f"The port answered {says(exchange)}, and should answer with the text {shown(text)}."]


@check("result:success", judges=answered())
def success_is_no_error(exchange: Exchange) -> list[str]:
    return [] if exchange.is_success else [f"The port answered {says(exchange)}, and should answer with a success."]


def is_chat_with_session(exchange: Exchange) -> bool:
    return exchange.tool == "chat" and names_session(exchange)


def is_reply_with_session(exchange: Exchange) -> bool:
    return exchange.tool == "chat-reply" and names_session(exchange)


def is_reply_with_other_session(exchange: Exchange) -> bool:
    return is_reply_with_session(exchange) and exchange.arguments.get("sessionId") not in (
        None,
        "",
        "latest",
        expected(exchange).session,
    )


@check("result:session-id", judges=is_chat_with_session)
@check("result:session-id:chat-reply", judges=is_reply_with_session)
@check("result:session-id:changed", judges=is_reply_with_other_session)
def session_is_that_of_gemini(exchange: Exchange) -> list[str]:
    session, found = expected(exchange).session, exchange.meta.get("sessionId")
    if found == session:
        return []
    return [f"The port reports the session {shown(found)}, and should report {shown(session)}."]


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


@check("result:json:pretty", judges=prints_lines)
@check("result:json:compact", judges=prints_one_line)
@check("result:stderr", judges=prints_to_stderr)
@check("result:text:split", judges=splits_a_character)
@check("result:text:unicode", judges=text_that(lambda text: not text.isascii()))
@check("result:text:newline", judges=text_that(lambda text: "\n" in text or "\r" in text))
@check("result:text:blanks", judges=text_that(lambda text: text != text.strip()))
@check("result:text:json", judges=text_that(looks_like_json))
@check("result:large-stdout", judges=text_that(lambda text: len(text) >= 10_000_000))
@check("result:json:notice-before", judges=lambda exchange: reads(exchange, "before", answer(exchange) is not None))
def answer_is_understood(exchange: Exchange) -> list[str]:
    return text_is_the_response(exchange)


def writes_much_to_stderr(exchange: Exchange) -> bool:
    return answer(exchange) is not None and len(ending(exchange.scripts[0]).stderr) >= 1 << 20


@check("result:large-stderr", judges=writes_much_to_stderr)
def much_stderr_stops_nothing(exchange: Exchange) -> list[str]:
    return text_is_the_response(exchange)


def reads(exchange: Exchange, trait: Trait, holds: bool = True) -> bool:
    """Whether the answer that gemini prints has that trait."""
    found = reading(exchange)
    return holds and found is not None and found.kind == "answer" and trait in found.traits


def has_trait(trait: Trait) -> Predicate:
    return lambda exchange: reads(exchange, trait)


@check("result:json:notice-after", judges=has_trait("after"))
@check("result:json:braces", judges=has_trait("braces"))
@check("result:json:last", judges=has_trait("several"))
@check("result:text:surrogate", judges=has_trait("surrogate"))
@check("result:empty", judges=has_trait("empty"))
def answer_is_found(exchange: Exchange) -> list[str]:
    found = reading(exchange)
    assert found is not None
    if not (exchange.is_success and exchange.text == found.text):
        return [f"The port answered {says(exchange)}, and should answer with the text {shown(found.text)}."]
    session = exchange.meta.get("sessionId", found.session)
    if found.session in (None, session) or not is_unicode(found.session):
        return []
    return [
        f"The port reports the session {shown(session)}, and should report that of the JSON, {shown(found.session)}."
    ]


@check("result:json:encoding", judges=has_trait("damaged"))
def damaged_text_is_read(exchange: Exchange) -> list[str]:
    """How many U+FFFD stand for damaged bytes is left to the language."""
    found = reading(exchange)
    assert found is not None
    if exchange.is_success and _squeezed(exchange.text or "") == _squeezed(found.text):
        return []
    return [f"The port answered {says(exchange)}, and should answer with the text {shown(found.text)}."]


def _squeezed(text: str) -> str:
    return re.sub("\ufffd+", "\ufffd", text)


@check("result:plain-text", judges=lambda exchange: _is_plain(exchange))
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
    "result:no-response": ("no-response", "gemini's JSON has no `response` that is a text"),
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
