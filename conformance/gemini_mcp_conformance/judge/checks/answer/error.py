"""What a call is answered with when gemini fails."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.judge.checks.answer.result import (
    carries_session,
    content_is_texts,
    reads,
    says,
    session_in,
)
from gemini_mcp_conformance.judge.expectation import all_settled, end_of, faults, is_call, prompt_of, text_of
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.see.witness import shown
from gemini_mcp_conformance.spec.interpreter import is_absent

MARGIN = 256
"""Bytes that a port may spend on saying that something was cut."""
REMEDY = re.compile(r"PATH|[Ii]nstall|@google/gemini-cli|\bbrew\b")
"""What names PATH, or a way to install gemini, whatever the language."""

SECRET_WORDS = "(?i)AIza|ya29|key|bearer|token|secret|password"
"""Words near which a port may mask more than it must."""

DAMAGE = "\ufffd"
"""What stands for bytes that are no UTF-8; each port shows them in its own way."""

OPEN = ("no-response", "unasked")
"""Causes of an error for which no requirement is a MUST."""


@remembered
def failed(exchange: Exchange) -> bool:
    """Whether gemini ran, and its output or its end must be taken for a failure."""
    return bool(exchange.runs) and reads(lambda found: found.kind == "error")(exchange)


def exits_badly(exchange: Exchange) -> bool:
    return failed(exchange) and end_of(exchange).exit not in (0, None)


def is_failure(exchange: Exchange) -> bool:
    """Calls whose gemini failed; a port may take JSON without a text, or an empty or earlier one, for an answer."""
    is_open = reads(lambda found: found.cause in OPEN or "several" in found.traits)
    return failed(exchange) and (exchange.is_error or not is_open(exchange))


def cannot_start(exchange: Exchange) -> bool:
    """Calls that could only be refused for want of gemini."""
    is_asked = is_call(exchange) and exchange.gemini != "present" and prompt_of(exchange) is not None
    return is_asked and not faults(exchange) and all_settled(exchange)


@remembered
def shows_error(exchange: Exchange) -> bool:
    """Whether gemini failed, and the port says so in a result."""
    return failed(exchange) and exchange.result is not None and exchange.is_error


@remembered
def stderr_of(exchange: Exchange) -> str:
    return end_of(exchange).stderr.decode("utf-8", "replace")


def sentence(exchange: Exchange) -> str:
    """What the port itself says of the failure."""
    return _halves(exchange)[0]


def quoted(exchange: Exchange) -> str | None:
    """The text behind the separator."""
    parts = _halves(exchange)
    return parts[1] if len(parts) > 1 else None


def label(exchange: Exchange) -> str:
    """The separator between the sentence and stderr, without its line ends."""
    return exchange.spec.outcome.separator.strip("\n")


def _halves(exchange: Exchange) -> list[str]:
    """The text of an error before and behind the separator, which begins a line where it is specified to."""
    pattern = re.escape(label(exchange).rstrip(" ")) + (" ?" if label(exchange).endswith(" ") else "")
    at_line_start = "^" if exchange.spec.outcome.separator.startswith("\n") else ""
    return re.split(at_line_start + pattern, exchange.text or "", maxsplit=1, flags=re.MULTILINE)


def limit(exchange: Exchange) -> int:
    return exchange.spec.outcome.stderr_bytes


@check("error:is-error", judges=is_failure, about="succeeded")
@check("error:exit", judges=exits_badly, about="succeeded")
@check(
    "error:signal", judges=lambda exchange: failed(exchange) and end_of(exchange).signal is not None, about="succeeded"
)
@check("error:not-started", judges=cannot_start)
def failure_is_an_error(exchange: Exchange) -> Complaints:
    if exchange.result is None or not exchange.is_error:
        yield f"The port answered {says(exchange)}, and should answer with a result with `isError: true`."


check("error:content", judges=lambda each: failed(each) and each.result is not None, about="no text")(content_is_texts)


@check("error:prefix", judges=shows_error, about="prefix")
def text_begins_with_the_prefix(exchange: Exchange) -> Complaints:
    prefix = exchange.spec.outcome.prefix
    if not (exchange.text or "").startswith(prefix):
        yield f"The port's error reads {shown(exchange.text)}, and should begin with {shown(prefix)}."


def has_plain_stderr(exchange: Exchange) -> bool:
    """Whether all of stderr must be quoted."""
    is_short = len(end_of(exchange).stderr) <= limit(exchange)
    return shows_error(exchange) and bool(stderr_of(exchange).strip()) and is_short and not _is_private(exchange)


@remembered
def _is_private(exchange: Exchange) -> bool:
    """Whether the end of stderr holds a key, or a private text that the client sent."""
    # What ends further back is cut off, and need not be searched.
    text, masks, near = stderr_of(exchange), exchange.spec.outcome.masks, 2 * limit(exchange)
    private = [name for name in exchange.spec.template(exchange.tool).private if name in exchange.arguments]
    sent = [form for name in private for form in (*forms(exchange.arguments[name]), *_blanks(exchange, name))]
    is_secret = any(places(mask, text[-near:]) for mask in (SECRET_WORDS, *masks))
    return is_secret or any(form in text[-near - len(form) :] for form in sent)


@lru_cache(1024)
def places(pattern: str, text: str) -> tuple[tuple[int, int], ...]:
    """Where the pattern is found in a text, which many calls may share."""
    return tuple(found.span() for found in re.finditer(pattern, text))


def _blanks(exchange: Exchange, name: str) -> list[str]:
    """The text of a private argument if it is of blanks alone; a port may remove it where it finds it."""
    text = text_of(exchange, name) or ""
    is_blank = not text.strip() and not is_absent(name, text, exchange.spec.invocation)
    return [text, json.dumps(text)[1:-1]] if text and is_blank else []


def forms(value: Json) -> tuple[str, ...]:
    """A text as it is, and as JSON writes it."""
    return _forms(str(value).strip())


@lru_cache(64)
def _forms(text: str) -> tuple[str, ...]:
    return (text, *(json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))) if text else ()


@check("error:stderr", judges=has_plain_stderr, about="stderr")
def stderr_is_quoted(exchange: Exchange) -> Complaints:
    found = quoted(exchange)
    if found is None or not all(part.strip() in found for part in stderr_of(exchange).split(DAMAGE)):
        yield f"The port quotes the stderr {shown(found)}, and should quote {shown(stderr_of(exchange))}."


@check("error:stderr:empty", judges=lambda exchange: shows_error(exchange) and not stderr_of(exchange), about="stderr")
def separator_is_there_without_stderr(exchange: Exchange) -> Complaints:
    if quoted(exchange) is None:
        yield f"The port's error reads {shown(exchange.text)}, and should hold {shown(label(exchange))}."


def has_long_stderr(exchange: Exchange) -> bool:
    return shows_error(exchange) and len(end_of(exchange).stderr) > limit(exchange)


@check("error:stderr:tail", judges=has_long_stderr, about="stderr")
def long_stderr_is_cut(exchange: Exchange) -> Complaints:
    found = quoted(exchange) or ""
    size = len(found.encode("utf-8", "replace"))
    if size > limit(exchange) + MARGIN:
        yield f"The port quotes {size} bytes of stderr, and should quote the last {limit(exchange)}."
    # What a port says of the cut may cost it some bytes. It may also leave out the line that the cut divides.
    end = end_of(exchange).stderr[-max(limit(exchange) - MARGIN, 1) :].decode("utf-8", "ignore").strip()
    last = end.partition("\n")[2] or end
    if not _is_private(exchange) and last not in found:
        yield f"The port quotes the stderr {shown(found)}, and should quote its end {shown(last)}."


@check("error:session-id", judges=shows_error)
def no_session_is_reported(exchange: Exchange) -> Complaints:
    if carries_session(exchange):
        yield f"The port reports the session {shown(session_in(exchange))} with an error, and should report none."


@check("error:not-started:remedy", judges=lambda exchange: cannot_start(exchange) and exchange.gemini == "absent")
def remedy_is_named(exchange: Exchange) -> Complaints:
    if exchange.result is None or not REMEDY.search(exchange.text or ""):
        yield f"The port's error reads {shown(exchange.text)}, and should name PATH or the way to install gemini."
