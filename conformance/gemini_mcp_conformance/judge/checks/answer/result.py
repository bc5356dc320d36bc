"""What a call that gemini answers is answered with."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable

from gemini_mcp.spec.values import Json, inside, is_unicode, items, same, table
from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.judge.expectation import end_of, reading, resumes, session_of
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import Predicate, answered
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.see.witness import shown
from gemini_mcp_conformance.spec.interpreter import size
from gemini_mcp_conformance.spec.reading import Reading, Trait


def expected(exchange: Exchange) -> Reading:
    """What a port must read from gemini's output, for a call of which that is settled."""
    found = reading(exchange)
    assert found is not None
    return found


def reads(fits: Callable[[Reading], bool]) -> Predicate:
    """Calls of which a port must read something like that from gemini's output."""

    def accepts(exchange: Exchange) -> bool:
        found = reading(exchange)
        return found is not None and fits(found)

    return accepts


def has_trait(trait: Trait) -> Predicate:
    """Calls for which gemini prints an answer with that trait."""
    return reads(lambda found: found.kind == "answer" and trait in found.traits)


def names_session(exchange: Exchange) -> bool:
    return has_read(exchange) and expected(exchange).session is not None


def has_read(exchange: Exchange) -> bool:
    """Calls that must succeed with gemini's text, and calls whose output is hard to read and that did so."""
    if answered(exchange):
        return True
    found = reading(exchange)
    is_clear = found is not None and found.kind == "answer" and not found.traits & {"surrogate", "damaged"}
    return is_clear and exchange.is_success and exchange.text == expected(exchange).text


def carries_session(exchange: Exchange) -> bool:
    """Whether a result has a value for the session, be it null."""
    return exchange.spec.outcome.meta["session"] in exchange.meta


def session_in(exchange: Exchange) -> Json:
    """The session that a result reports, or None."""
    return exchange.meta.get(exchange.spec.outcome.meta["session"])


def says(exchange: Exchange) -> str:
    """The answer for a complaint."""
    if exchange.answer is None:
        return f"nothing ({exchange.silence})"
    return shown(exchange.answer.get("result", exchange.answer.get("error")))


def other_than(exchange: Exchange, text: str) -> str:
    """The complaint about another answer than this text."""
    return f"The port answered {says(exchange)}, and should answer with the text {shown(text)}."


def differing_session(exchange: Exchange, session: Json) -> Complaints:
    """The complaint about another session than this."""
    if session_in(exchange) != session:
        yield f"The port reports the session {shown(session_in(exchange))}, and should report {shown(session)}."


@check("result:content", judges=reads(lambda found: found.kind != "error"), about="no text")
def content_is_texts(exchange: Exchange) -> Complaints:
    content = items(inside(exchange.result, "content"))
    if not content or len(exchange.texts) != len(content) or any(inside(each, "type") != "text" for each in content):
        yield f"The port answered {says(exchange)}, and should answer with a `content` of texts."


@check("result:success", judges=answered, about="failed")
def success_is_no_error(exchange: Exchange) -> Complaints:
    if not exchange.is_success:
        yield f"The port answered {says(exchange)}, and should answer with a success."


def begins_with_session(exchange: Exchange) -> bool:
    return not resumes(exchange) and names_session(exchange)


def changes_session(exchange: Exchange) -> bool:
    if not resumes(exchange) or not names_session(exchange):
        return False
    return session_of(exchange) not in (None, "", exchange.spec.latest(exchange.tool), expected(exchange).session)


@check("result:session-id", judges=begins_with_session, about="session")
@check("result:session-id:changed", judges=changes_session, about="session")
@check("result:session-id:{tool}", judges=names_session, about="session")
def session_is_that_of_gemini(exchange: Exchange) -> Complaints:
    return differing_session(exchange, expected(exchange).session)


def prints(fits: Callable[[bytes], bool]) -> Predicate:
    """Calls with an answer, for which gemini prints such a text."""
    return lambda exchange: answered(exchange) and fits(end_of(exchange).stdout.strip())


def writes_to_stderr(size: int) -> Predicate:
    """Calls with an answer, for which gemini writes at least so many bytes to stderr."""
    return lambda exchange: answered(exchange) and len(end_of(exchange).stderr) >= size


def splits_a_character(exchange: Exchange) -> bool:
    """Whether gemini writes stdout in pieces that are not UTF-8 by themselves."""
    pieces = [step["stdoutBase64"] for script in exchange.scripts for step in script.play if "stdoutBase64" in step]
    return answered(exchange) and not all(is_utf_8(base64.b64decode(piece)) for piece in pieces)


def is_utf_8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def text_that(fits: Callable[[str], bool]) -> Predicate:
    """Calls with an answer that has such a text."""
    return lambda exchange: answered(exchange) and fits(expected(exchange).text)


@check("result:text", judges=answered, about="text")
@check("result:json:pretty", judges=prints(lambda stdout: b"\n" in stdout), about="text")
@check("result:json:compact", judges=prints(lambda stdout: b"\n" not in stdout), about="text")
@check("result:stderr", judges=writes_to_stderr(1), about="text")
@check("result:text:split", judges=splits_a_character, about="text")
@check("result:text:unicode", judges=text_that(lambda text: not text.isascii()), about="text")
@check("result:text:newline", judges=text_that(lambda text: "\n" in text or "\r" in text), about="text")
@check("result:text:blanks", judges=text_that(lambda text: text != text.strip()), about="text")
@check("result:text:json", judges=text_that(lambda text: text.strip()[:1] in ("{", "[", '"')), about="text")
@check("result:large-stdout", judges=text_that(lambda text: size(text) >= 10_000_000), about="text")
@check("result:large-stderr", judges=writes_to_stderr(1 << 20), about="text")
@check("result:json:notice-before", judges=lambda each: answered(each) and has_trait("before")(each), about="text")
def text_is_the_response(exchange: Exchange) -> Complaints:
    if not (exchange.is_success and exchange.text == expected(exchange).text):
        yield other_than(exchange, expected(exchange).text)


@check("result:json:notice-after", judges=has_trait("after"), about="text")
@check("result:json:braces", judges=has_trait("braces"), about="text")
@check("result:json:last", judges=has_trait("several"), about="text")
@check("result:text:surrogate", judges=has_trait("surrogate"), about="text")
@check("result:empty", judges=has_trait("empty"), about="text")
def answer_is_found(exchange: Exchange) -> Complaints:
    found = expected(exchange)
    if not (exchange.is_success and exchange.text == found.text):
        yield other_than(exchange, found.text)
    # A lone surrogate in an id can arrive in no one right form.
    elif found.session is not None and is_unicode(found.session) and carries_session(exchange):
        yield from differing_session(exchange, found.session)


@check("result:json:encoding", judges=has_trait("damaged"), about="text")
def damaged_text_is_read(exchange: Exchange) -> Complaints:
    """How many U+FFFD stand for damaged bytes differs between languages."""
    text = expected(exchange).text
    if not (exchange.is_success and _squeezed(exchange.text or "") == _squeezed(text)):
        yield other_than(exchange, text)


def _squeezed(text: str) -> str:
    return re.sub("\ufffd+", "\ufffd", text)


@check("result:plain-text", judges=reads(lambda found: found.kind == "plain"), about="text")
def plain_text_is_the_result(exchange: Exchange) -> Complaints:
    text = expected(exchange).text
    if not (exchange.is_success and exchange.text == text):
        yield other_than(exchange, text)


@check("result:warnings", judges=reads(lambda found: bool(found.warnings)), about="warnings")
def warnings_are_in_meta(exchange: Exchange) -> Complaints:
    for warning in expected(exchange).warnings:
        # A lone surrogate can arrive in no one right form.
        if is_unicode(json.dumps(warning, ensure_ascii=False)) and not _holds(exchange.meta, warning):
            yield f"The port answered `_meta` {shown(exchange.meta)}, and should report the warning {shown(warning)}."


@check("result:warnings:key", judges=reads(lambda found: bool(found.warnings)), about="warnings")
def warnings_have_their_key(exchange: Exchange) -> Complaints:
    """What stands there is free, as long as it holds the warnings; one that is nowhere is no matter of its key."""
    key = exchange.spec.outcome.meta["warnings"]
    for warning in expected(exchange).warnings:
        if _holds(exchange.meta, warning) and not _holds(exchange.meta.get(key), warning):
            yield f"The port answered `_meta` {shown(exchange.meta)}, and should report {shown(warning)} under `{key}`."


def _holds(value: Json, inner: Json) -> bool:
    """Whether JSON stands somewhere in other JSON."""
    left = [value]
    while left:
        each = left.pop()
        if same(each, inner):
            return True
        left += [*table(each).values(), *items(each)]
    return False


CAUSES = {
    "error-key": "gemini reported an error",
    "no-output": "gemini printed nothing",
    "truncated": "gemini's JSON breaks off",
    "no-response": "gemini's JSON has no text as its answer",
    "unasked": "gemini asked no model and its text is empty",
}
"""Why gemini's output is an error, by the last part of the requirement's id."""


def output_is_an_error(exchange: Exchange) -> Complaints:
    if not exchange.is_error:
        because = CAUSES[expected(exchange).cause]
        yield f"The port answered {says(exchange)}, and should answer with `isError: true`, since {because}."


def is_read_as(cause: str) -> Predicate:
    """Calls of which a port must read that cause of an error from gemini's output; which of several counts is free."""
    return reads(lambda found: found.cause == cause and "several" not in found.traits)


for _cause in CAUSES:
    check(f"result:{_cause}", judges=is_read_as(_cause))(output_is_an_error)


def reports_an_error(has_lines: bool) -> Predicate:
    """Calls for which gemini prints an error in JSON, over several lines or on one."""
    return lambda each: is_read_as("error-key")(each) and (b"\n" in end_of(each).stdout.strip()) == has_lines


check(
    "result:json:last",
    judges=reads(lambda found: found.kind == "error" and "several" in found.traits),
    rests="result:error-key",
)(output_is_an_error)
check("result:json:pretty", judges=reports_an_error(has_lines=True))(output_is_an_error)
check("result:json:compact", judges=reports_an_error(has_lines=False))(output_is_an_error)
