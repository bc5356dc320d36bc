"""What a call is answered with when gemini fails."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from gemini_mcp.spec.families import Subject
from gemini_mcp.spec.values import Json, inside, items
from gemini_mcp.spec.wording import Sentence
from gemini_mcp_conformance.judge.check import NotApplicable
from gemini_mcp_conformance.judge.checks.answer.result import carries_session, says, session_in
from gemini_mcp_conformance.judge.expectation import end_of, is_call, prompt_of, reading
from gemini_mcp_conformance.judge.reading import message_of
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.tell.witness import shown

MARGIN = 256
"""Bytes that a port may spend on saying that something was cut."""

SECRETS = re.compile(r"AIza[0-9A-Za-z_-]{20,}|ya29\.[0-9A-Za-z_.-]{10,}")

DAMAGE = "\ufffd"
"""What stands for bytes that are no UTF-8; how a port shows them is its affair."""

FOREIGN = re.compile(r"[^\W\d_a-zA-Z]")
"""A letter that English does without."""

SECRET_WORDS = re.compile(r"(?i)AIza|ya29|key|bearer|token|secret|password")


def failed(exchange: Exchange) -> bool:
    """Whether gemini ran and failed by itself."""
    found = reading(exchange)
    return found is not None and found.kind == "error" and bool(exchange.runs)


def is_signalled(exchange: Exchange) -> bool:
    return failed(exchange) and end_of(exchange).signal is not None


def exits_badly(exchange: Exchange) -> bool:
    return failed(exchange) and end_of(exchange).exit not in (0, None)


def cannot_start(exchange: Exchange) -> bool:
    return is_call(exchange) and exchange.gemini != "present" and prompt_of(exchange) is not None


def stderr_of(exchange: Exchange) -> str:
    return end_of(exchange).stderr.decode("utf-8", "replace")


def sentence(exchange: Exchange) -> str:
    """What the port itself says of the failure."""
    return _halves(exchange)[0]


def quoted(exchange: Exchange) -> str | None:
    """What stands behind the separator."""
    parts = _halves(exchange)
    return parts[1] if len(parts) > 1 else None


def label(exchange: Exchange) -> str:
    """The separator between the sentence and stderr, without its line ends."""
    return exchange.spec.outcome.separator.strip("\n")


def _halves(exchange: Exchange) -> list[str]:
    """The text of an error before and behind the separator, which begins a line where it is specified to."""
    separator = exchange.spec.outcome.separator
    pattern = re.escape(label(exchange).rstrip(" ")) + (" ?" if label(exchange).endswith(" ") else "")
    at_line_start = "^" if separator.startswith("\n") else ""
    return re.split(at_line_start + pattern, exchange.text or "", maxsplit=1, flags=re.MULTILINE)


def limit(exchange: Exchange) -> int:
    return exchange.spec.outcome.stderr_bytes


@check("error:is-error", judges=failed)
@check("error:exit", judges=exits_badly)
@check("error:signal", judges=is_signalled)
@check("error:not-started", judges=cannot_start)
def failure_is_an_error(exchange: Exchange) -> list[str]:
    if exchange.result is not None and exchange.is_error:
        return []
    return [f"The port answered {says(exchange)}, and should answer with a result with `isError: true`."]


def shows_error(exchange: Exchange) -> bool:
    return failed(exchange) and exchange.result is not None and exchange.is_error


@check("error:content", judges=lambda exchange: failed(exchange) and exchange.result is not None)
def content_is_texts(exchange: Exchange) -> list[str]:
    content = items(inside(exchange.result, "content"))
    if content and all(inside(item, "type") == "text" and isinstance(inside(item, "text"), str) for item in content):
        return []
    return [f"The port answered {says(exchange)}, and should answer with a `content` of texts."]


@check("error:prefix", judges=shows_error)
def text_begins_with_the_prefix(exchange: Exchange) -> list[str]:
    prefix = exchange.spec.outcome.prefix
    if (exchange.text or "").startswith(prefix):
        return []
    return [f"The port's error reads {shown(exchange.text)}, and should begin with {shown(prefix)}."]


def is_plain_stderr(exchange: Exchange) -> bool:
    """Whether nothing may be left out of stderr: it is short, and holds no key and nothing that the client sent."""
    if not shows_error(exchange):
        return False
    text = stderr_of(exchange)
    fits = len(end_of(exchange).stderr) <= limit(exchange)
    sent = [form for value in exchange.arguments.values() for form in _forms(value)]
    return fits and bool(text.strip()) and not SECRET_WORDS.search(text) and not any(form in text for form in sent)


def _forms(value: Json) -> list[str]:
    """A text as it is, and as JSON writes it."""
    text = str(value).strip()
    return [text, *(json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))] if text else []


@check(
    "error:stderr",
    judges=lambda exchange: is_plain_stderr(exchange) and bool(stderr_of(exchange).strip()),
    about="stderr",
)
def stderr_is_quoted(exchange: Exchange) -> list[str]:
    found = quoted(exchange)
    if found is not None and all(part.strip() in found for part in stderr_of(exchange).split(DAMAGE)):
        return []
    return [f"The port quotes the stderr {shown(found)}, and should quote {shown(stderr_of(exchange))}."]


@check("error:stderr:empty", judges=lambda exchange: shows_error(exchange) and not stderr_of(exchange), about="stderr")
def empty_stderr_is_told(exchange: Exchange) -> list[str]:
    if quoted(exchange) is not None:
        return []
    return [f"The port's error reads {shown(exchange.text)}, and should hold {shown(label(exchange))}."]


@check(
    "error:stderr:tail",
    judges=lambda exchange: shows_error(exchange) and len(end_of(exchange).stderr) > limit(exchange) + MARGIN,
    about="stderr",
)
def long_stderr_is_cut(exchange: Exchange) -> list[str]:
    found = quoted(exchange) or ""
    size, last = len(found.encode("utf-8", "replace")), stderr_of(exchange).rstrip()[-64:]
    if size > limit(exchange) + MARGIN:
        return [f"The port quotes {size} bytes of stderr, and should quote the last {limit(exchange)}."]
    return [] if last in found else [f"The port quotes a stderr without its end {shown(last)}."]


@check("error:session-id", judges=shows_error)
def no_session_is_reported(exchange: Exchange) -> list[str]:
    if not carries_session(exchange):
        return []
    return [f"The port reports the session {shown(session_in(exchange))} with an error, and should report none."]


@check("error:not-started:remedy", judges=lambda exchange: cannot_start(exchange) and exchange.gemini == "absent")
def remedy_is_named(exchange: Exchange) -> list[str]:
    if exchange.result is not None and re.search(r"PATH|install", exchange.text or ""):
        return []
    return [f"The port's error reads {shown(exchange.text)}, and should name PATH or the way to install gemini."]


@remembered
def specified_sentence(exchange: Exchange) -> Sentence | None:
    """The sentence of the specification for a run that failed by itself."""
    code, said = end_of(exchange).exit, _said(exchange)
    for each in exchange.spec.outcome.sentences:
        fits = each.when == "exit" and (not each.exits or code in each.exits)
        if fits and (each.stderr is None or re.search(each.stderr, said)):
            return each
    return None


@remembered
def _said(exchange: Exchange) -> str:
    """What gemini's stderr says of itself; a copy of the prompt says nothing."""
    prompt = prompt_of(exchange)
    return stderr_of(exchange).replace(prompt, "") if prompt else stderr_of(exchange)


def _is_said(exchange: Exchange, chosen: Callable[[Sentence], bool]) -> bool:
    """Whether a run exited badly, an error was shown, and such a sentence is specified for it."""
    if not (exits_badly(exchange) and shows_error(exchange)):
        return False
    found = specified_sentence(exchange)
    return found is not None and chosen(found)


def exits_so(exchange: Exchange, subject: Subject) -> bool:
    """Whether gemini exited with the subject's code, and nothing on stderr asks for another sentence."""
    code = int(subject["exit"])
    is_that = _is_said(exchange, lambda each: code in each.exits and each.stderr is None)
    return is_that and end_of(exchange).exit == code


def says_so(exchange: Exchange, subject: Subject) -> bool:
    """Whether what gemini wrote to stderr asks for the subject's sentence."""
    return _is_said(exchange, lambda each: each.id == subject["saying"])


def names(exchange: Exchange, expected: Sentence | None) -> bool:
    """Whether the port's own words name what the specified sentence is about."""
    assert expected is not None
    said = sentence(exchange)
    if expected.names is not None:
        return re.search(expected.names, said, re.IGNORECASE) is not None
    return bool(telling_words(exchange, expected) & _words(said)) or not telling_words(exchange, expected)


def telling_words(exchange: Exchange, expected: Sentence) -> set[str]:
    """The words of a sentence that the sentence for any other exit code does not have."""
    general = [
        each.text
        for each in exchange.spec.outcome.sentences
        if each.when == "exit" and not each.exits and not each.stderr
    ]
    return _words(expected.text) - {word for text in (*general, exchange.spec.outcome.prefix) for word in _words(text)}


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w{4,}", text)}


@check("error:exit:{exit}", judges=exits_so)
@check("error:quota", judges=lambda exchange, subject: _is_said(exchange, lambda each: each.id == subject["saying"]))
@check(
    "error:session-gone", judges=lambda exchange, subject: _is_said(exchange, lambda each: each.id == subject["saying"])
)
def cause_is_named(exchange: Exchange, subject: Subject) -> list[str]:
    expected = specified_sentence(exchange)
    assert expected is not None
    if names(exchange, expected):
        return []
    if FOREIGN.search(sentence(exchange)):
        raise NotApplicable("The port's error is in a language that the suite cannot read.")
    wanted = expected.cause or f"what {shown(expected.text)} names"
    return [f"The port's error reads {shown(sentence(exchange))}, and should name {wanted}."]


def _holds_json_error(exchange: Exchange) -> bool:
    if not (exits_badly(exchange) and shows_error(exchange)):
        return False
    message = message_of(stderr_of(exchange), exchange.spec.outcome.answer)
    return message is not None and not SECRETS.search(message) and (prompt_of(exchange) or "\0") not in message


@check("error:json-on-stderr", judges=_holds_json_error)
def message_is_told_first(exchange: Exchange) -> list[str]:
    message = message_of(stderr_of(exchange), exchange.spec.outcome.answer) or ""
    if message[:200] in sentence(exchange):
        return []
    return [f"The port's error reads {shown(sentence(exchange))}, and should hold {shown(message)}."]


def _echoes_prompt(exchange: Exchange) -> bool:
    if not shows_error(exchange):
        return False
    prompt = prompt_of(exchange) or ""
    return len(prompt) >= 16 and prompt in stderr_of(exchange)[-limit(exchange) :]


@check("error:prompt", judges=_echoes_prompt)
def prompt_is_not_repeated(exchange: Exchange) -> list[str]:
    if (prompt_of(exchange) or "\0") not in (exchange.text or ""):
        return []
    return [f"The port's error reads {shown(exchange.text)}, and should not repeat the prompt."]


@check(
    "error:secrets",
    judges=lambda exchange: shows_error(exchange) and bool(SECRETS.search(stderr_of(exchange)[-limit(exchange) :])),
)
def keys_are_masked(exchange: Exchange) -> list[str]:
    told = SECRETS.search(exchange.text or "")
    return [f"The port's error holds {told[0]!r}, which looks like a key, and should mask it."] if told else []
