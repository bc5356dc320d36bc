"""What a call is answered with when gemini fails."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from gemini_mcp.spec.families import Subject
from gemini_mcp.spec.values import Json, decode, texts_in
from gemini_mcp.spec.wording import Sentence
from gemini_mcp_conformance.judge.check import Complaints, NotApplicable
from gemini_mcp_conformance.judge.checks.answer.result import (
    carries_session,
    content_is_texts,
    reads,
    says,
    session_in,
)
from gemini_mcp_conformance.judge.expectation import end_of, is_call, prompt_of, schema_faults, text_of
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.see.witness import shown
from gemini_mcp_conformance.spec.reading import message_of

MARGIN = 256
"""Bytes that a port may spend on saying that something was cut."""

RECOGNISED = 8
"""Characters of a private text that must be taken out wherever it stands."""
LONG_ENOUGH = 16
"""Characters that stand in an error by no chance."""

SECRET_WORDS = re.compile(r"(?i)AIza|ya29|key|bearer|token|secret|password")
"""Words near which a port may mask more than it must."""

DAMAGE = "\ufffd"
"""What stands for bytes that are no UTF-8; each port shows them in its own way."""

OPEN = ("no-response", "unasked")
"""Causes of an error for which no requirement is a MUST."""

FOREIGN = re.compile(r"[^\W\d_a-zA-Z]")
"""A letter that English does not use."""


def failed(exchange: Exchange) -> bool:
    """Whether gemini ran, and its output or its end must be taken for a failure."""
    return bool(exchange.runs) and reads(lambda found: found.kind == "error")(exchange)


def exits_badly(exchange: Exchange) -> bool:
    return failed(exchange) and end_of(exchange).exit not in (0, None)


def is_failure(exchange: Exchange) -> bool:
    """Calls whose gemini failed; a port may take JSON without a text, or with an empty one, for an answer."""
    return failed(exchange) and (exchange.is_error or not reads(lambda found: found.cause in OPEN)(exchange))


def cannot_start(exchange: Exchange) -> bool:
    return is_call(exchange) and exchange.gemini != "present" and prompt_of(exchange) is not None


def shows_error(exchange: Exchange) -> bool:
    """Whether gemini failed, and the port says so in a result."""
    return failed(exchange) and exchange.result is not None and exchange.is_error


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


@check("error:prefix", judges=shows_error)
def text_begins_with_the_prefix(exchange: Exchange) -> Complaints:
    prefix = exchange.spec.outcome.prefix
    if not (exchange.text or "").startswith(prefix):
        yield f"The port's error reads {shown(exchange.text)}, and should begin with {shown(prefix)}."


def has_plain_stderr(exchange: Exchange) -> bool:
    """Whether all of stderr must be quoted. One about as long as the limit is judged by `error:stderr:tail`."""
    is_short = len(end_of(exchange).stderr) <= limit(exchange) - MARGIN
    return shows_error(exchange) and bool(stderr_of(exchange).strip()) and is_short and not _is_private(exchange)


@remembered
def _is_private(exchange: Exchange) -> bool:
    """Whether the end of stderr holds a key, or something that the client sent."""
    # What stands further back is cut off, and need not be searched.
    text, masks = stderr_of(exchange)[-2 * limit(exchange) :], exchange.spec.outcome.masks
    sent = [form for value in exchange.arguments.values() for form in _forms(value)]
    return any(re.search(mask, text) for mask in (SECRET_WORDS, *masks)) or any(form in text for form in sent)


def _forms(value: Json) -> list[str]:
    """A text as it is, and as JSON writes it."""
    text = str(value).strip()
    return [text, *(json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))] if text else []


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
    return shows_error(exchange) and len(end_of(exchange).stderr) > limit(exchange) - MARGIN


@check("error:stderr:tail", judges=has_long_stderr, about="stderr")
def long_stderr_is_cut(exchange: Exchange) -> Complaints:
    found = quoted(exchange) or ""
    size = len(found.encode("utf-8", "replace"))
    if size > limit(exchange) + MARGIN:
        yield f"The port quotes {size} bytes of stderr, and should quote the last {limit(exchange)}."
    # What a port says of the cut, and where it cuts, may cost it some bytes.
    last = end_of(exchange).stderr[-max(limit(exchange) - MARGIN, 1) :].decode("utf-8", "ignore").strip()
    if not _is_private(exchange) and last not in found:
        yield f"The port quotes the stderr {shown(found)}, and should quote its end {shown(last)}."


@check("error:session-id", judges=shows_error)
def no_session_is_reported(exchange: Exchange) -> Complaints:
    if carries_session(exchange):
        yield f"The port reports the session {shown(session_in(exchange))} with an error, and should report none."


@check("error:not-started:remedy", judges=lambda exchange: cannot_start(exchange) and exchange.gemini == "absent")
def remedy_is_named(exchange: Exchange) -> Complaints:
    if exchange.result is None or not re.search(r"PATH|install", exchange.text or ""):
        yield f"The port's error reads {shown(exchange.text)}, and should name PATH or the way to install gemini."


@remembered
def specified_sentence(exchange: Exchange) -> Sentence | None:
    """The sentence of the specification for a run that failed by itself."""
    code, prompt = end_of(exchange).exit, prompt_of(exchange)
    # A copy of the prompt says nothing of the failure.
    said = stderr_of(exchange).replace(prompt, "") if prompt else stderr_of(exchange)
    for each in exchange.spec.outcome.sentences:
        fits = each.when == "exit" and (not each.exits or code in each.exits)
        if fits and (each.stderr is None or _says(each.stderr, said)):
            return each
    return None


@lru_cache(256)
def _says(pattern: str, stderr: str) -> bool:
    """Whether a long stderr, which many calls share, holds the pattern."""
    return re.search(pattern, stderr) is not None


def _has_sentence(exchange: Exchange, fits: Callable[[Sentence], bool]) -> bool:
    """Whether gemini exited badly, the port shows an error, and such a sentence is specified for it."""
    found = specified_sentence(exchange) if exits_badly(exchange) and shows_error(exchange) else None
    return found is not None and fits(found)


def exits_with(exchange: Exchange, subject: Subject) -> bool:
    """Whether gemini exited with the subject's code, and nothing on stderr asks for another sentence."""
    code = int(subject["exit"])
    return end_of(exchange).exit == code and _has_sentence(
        exchange, lambda each: code in each.exits and each.stderr is None
    )


def says_so(exchange: Exchange, subject: Subject) -> bool:
    """Whether what gemini wrote to stderr asks for the subject's sentence."""
    return _has_sentence(exchange, lambda each: each.id == subject["saying"])


@check("error:exit:{exit}", judges=exits_with)
@check("error:quota", "error:session-gone", judges=says_so)
def cause_is_named(exchange: Exchange) -> Complaints:
    expected = specified_sentence(exchange)
    assert expected is not None
    if names(exchange, expected):
        return
    # The wording is free, and so is its language.
    if FOREIGN.search(sentence(exchange)):
        raise NotApplicable("The port's error is in a language that the suite cannot read.")
    wanted = expected.cause or f"what {shown(expected.text)} names"
    yield f"The port's error reads {shown(sentence(exchange))}, and should name {wanted}."


def names(exchange: Exchange, expected: Sentence) -> bool:
    """Whether the port's own words name what the specified sentence is about."""
    # `spec/README.md`: the words are free. They match `names`, or share a telling word with the sentence.
    if expected.names is not None:
        return re.search(expected.names, sentence(exchange), re.IGNORECASE) is not None
    telling = telling_words(exchange, expected)
    return not telling or bool(telling & _words(sentence(exchange)))


def telling_words(exchange: Exchange, expected: Sentence) -> set[str]:
    """The words of a sentence that the sentence for any other exit code does not have."""
    outcome = exchange.spec.outcome
    general = [each.text for each in outcome.sentences if each.when == "exit" and not each.exits and not each.stderr]
    return _words(expected.text) - _words(" ".join((*general, outcome.prefix)))


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w{4,}", text)}


def _message(exchange: Exchange) -> str | None:
    """The message of the JSON error that gemini wrote to stderr."""
    return message_of(stderr_of(exchange), exchange.spec.outcome.answer)


def _has_json_on_stderr(exchange: Exchange) -> bool:
    message = _message(exchange) if exits_badly(exchange) and shows_error(exchange) else None
    if message is None or any(_masked(exchange, message)):
        return False
    return not any(text in message for text in _private(exchange))


@check("error:json-on-stderr", judges=_has_json_on_stderr)
def message_comes_first(exchange: Exchange) -> Complaints:
    message = _message(exchange) or ""
    # A port may cut a long message.
    if message[:200] not in sentence(exchange):
        yield f"The port's error reads {shown(sentence(exchange))}, and should hold {shown(message)}."


def _private(exchange: Exchange) -> list[str]:
    """The texts of a call that no error may repeat."""
    given = (text_of(exchange, name) for name in exchange.spec.template(exchange.tool).private)
    return [text for text in given if text]


def _echoed(exchange: Exchange) -> list[str]:
    """The private texts that gemini has written, or that were sent in a call that was refused."""
    private = [text for text in _private(exchange) if len(text.strip()) >= RECOGNISED] if is_call(exchange) else []
    if shows_error(exchange):
        end = end_of(exchange)
        streams = (end.stdout, end.stderr)
        raw = (stream.decode("utf-8", "replace") for stream in streams)
        written = "\n".join((*raw, *texts_in([decode(stream) for stream in streams])))
        return [text for text in private if any(form in written for form in _forms(text))]
    return private if exchange.is_error and (cannot_start(exchange) or is_refused(exchange)) else []


def is_refused(exchange: Exchange) -> bool:
    """Whether the call was refused for an argument that its schema forbids."""
    return is_call(exchange) and bool(schema_faults(exchange)) and not exchange.runs


def _traces(text: str, masks: Sequence[str]) -> list[str]:
    """What of a private text must not be found: the text, as it is and escaped; the parts around a key in it, which a
    mask leaves; and its second half, which a cut of stderr leaves.
    """
    parts = [text]
    for mask in masks:
        parts = [rest for part in parts for rest in re.sub(mask, "\0", part).split("\0")]
    parts.append(text[len(text) // 2 :])
    return [text, *_forms(text), *(part for part in parts if len(part) >= LONG_ENOUGH)]


@check("error:prompt", judges=lambda exchange: bool(_echoed(exchange)))
def private_text_is_not_repeated(exchange: Exchange) -> Complaints:
    answered = tuple(texts_in([exchange.result, exchange.error]))
    for text in _echoed(exchange):
        if any(trace in each for trace in _traces(text, exchange.spec.outcome.masks) for each in answered):
            yield f"The port's error reads {shown(exchange.text)}, and should not repeat {shown(text)}."


def _keys(exchange: Exchange) -> list[str]:
    """What the specification masks in what a port may show of a failure."""
    if not shows_error(exchange):
        return []
    streams, keys = (_stdout_of(exchange), stderr_of(exchange)), exchange.spec.outcome.answer
    told = [each[0] for stream in streams for each in _masked(exchange, message_of(stream, keys) or "")]
    return [*_keys_on_stderr(exchange), *told]


def _keys_on_stderr(exchange: Exchange) -> Iterator[str]:
    """The keys in the end of stderr; of one that the cut divides, the part behind it."""
    text = stderr_of(exchange)[-2 * limit(exchange) :]
    cut = max(0, len(text) - limit(exchange))
    for each in _masked(exchange, text):
        key = text[max(cut, each.start()) : each.end()]
        if key == each[0] or len(key) >= LONG_ENOUGH:
            yield key


def _masked(exchange: Exchange, text: str) -> Iterator[re.Match[str]]:
    return (each for mask in exchange.spec.outcome.masks for each in re.finditer(mask, text))


def _stdout_of(exchange: Exchange) -> str:
    return end_of(exchange).stdout.decode("utf-8", "replace")


@check("error:secrets", judges=lambda exchange: bool(_keys(exchange)))
def keys_are_masked(exchange: Exchange) -> Complaints:
    for key in dict.fromkeys(_keys(exchange)):
        if key in (exchange.text or ""):
            yield f"The port's error holds {shown(key)}, which looks like a key, and should mask it."
