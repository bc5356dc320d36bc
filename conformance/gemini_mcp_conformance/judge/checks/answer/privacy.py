"""What no error may repeat: the private texts of a call, and keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from gemini_mcp.spec.values import decode, texts_in
from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.judge.checks.answer.error import (
    cannot_start,
    forms,
    limit,
    places,
    quoted,
    shows_error,
    stderr_of,
)
from gemini_mcp_conformance.judge.expectation import declared, end_of, is_call, schema_faults
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.see.witness import shown
from gemini_mcp_conformance.spec.interpreter import refusals
from gemini_mcp_conformance.spec.reading import message_of

RECOGNISED = 8
"""Characters of a private text that must be taken out wherever it stands."""
FEWEST = 4
"""Characters of a private text that is looked for where it is a word of its own; shorter ones are in any sentence."""
LONG_KEY = 64
"""Characters of a key of which nobody shows one half to tell it from others."""
FILLED = 1_000_000
"""Characters from which on a text is mostly filler, in which no keys are looked for."""
LEFT = 2_000
"""Characters at the end of a long text that a cut of stderr leaves."""
LONG_ENOUGH = 16
"""Characters that stand in an error by no chance."""


def private_texts(exchange: Exchange) -> list[str]:
    """The texts of a call that no error may repeat, also those inside of a value that should be a text."""
    given = (exchange.arguments.get(name) for name in exchange.spec.template(exchange.tool).private)
    return [text for value in given for text in texts_in(value) if text]


@remembered
def _echoed(exchange: Exchange) -> list[str]:
    """The private texts that gemini has written, or that were sent in a call that was refused."""
    private = [text for text in private_texts(exchange) if len(text.strip()) >= RECOGNISED] if is_call(exchange) else []
    if shows_error(exchange):
        end = end_of(exchange)
        streams = (end.stdout, end.stderr)
        raw = (stream.decode("utf-8", "replace") for stream in streams)
        written = "\n".join((*raw, *texts_in([decode(stream) for stream in streams])))
        return [text for text in private if any(form in written for form in forms(text))]
    return private if exchange.is_error and (cannot_start(exchange) or is_refused(exchange)) else []


def is_refused(exchange: Exchange) -> bool:
    """Whether the call was refused for an argument that its schema or a rule forbids."""
    if not is_call(exchange) or exchange.runs:
        return False
    given = [(name, exchange.arguments.get(name)) for name in declared(exchange)]
    return bool(schema_faults(exchange)) or any(refusals(*each, exchange.spec.invocation) for each in given)


@lru_cache(64)
def _traces(text: str, masks: tuple[str, ...]) -> list[str]:
    """What of a private text must not be found: the text, as it is and escaped; the parts around a key in it, which a
    mask leaves; and its second half, or the end of a long one, which a cut of stderr leaves.
    """
    parts = [text]
    for mask in masks if len(text) < FILLED else ():
        parts = [rest for part in parts for rest in re.sub(mask, "\0", part).split("\0")]
    parts.append(text[max(len(text) // 2, len(text) - LEFT) :])
    return [text, *forms(text), *(part for part in parts if len(part) >= LONG_ENOUGH)]


def _pieces(text: str) -> Iterator[str]:
    """What a refusal may quote of a text, to show where it is wrong: its beginning, its end, and all that is right."""
    for piece in (text, *re.split("[\0\ud800-\udfff]", text)):
        if len(piece) >= LONG_ENOUGH:
            yield from (part for end in (piece[:LONG_ENOUGH], piece[-LONG_ENOUGH:]) for part in forms(end))


@remembered
def _words(exchange: Exchange) -> list[re.Pattern[str]]:
    """The short private texts that gemini has written as words of their own."""
    if not is_call(exchange) or not shows_error(exchange):
        return []
    texts = (text for text in private_texts(exchange) if FEWEST <= len(text) < RECOGNISED and text == text.strip())
    return [word for text in texts if (word := _alone(text)).search(stderr_of(exchange))]


def _alone(text: str) -> re.Pattern[str]:
    """A word of its own; where it has signs, nothing but blanks may be around it."""
    beside = r"\w" if text.isalnum() else r"\S"
    return re.compile(rf"(?<!{beside}){re.escape(text)}(?!{beside})")


@check("error:prompt", judges=lambda exchange: bool(_words(exchange)))
def private_word_is_not_repeated(exchange: Exchange) -> Complaints:
    found = quoted(exchange) or ""
    for word in _words(exchange):
        if word.search(found):
            yield f"The port quotes the stderr {shown(found)}, in which one word is all of a private text."


@check("error:prompt", judges=lambda exchange: bool(_echoed(exchange)))
def private_text_is_not_repeated(exchange: Exchange) -> Complaints:
    answered = tuple(texts_in([exchange.result, exchange.error]))
    refused = is_refused(exchange)
    for text in _echoed(exchange):
        traces = (*_traces(text, exchange.spec.outcome.masks), *(_pieces(text) if refused else ()))
        if any(trace in each for trace in traces for each in answered):
            yield f"The port's error reads {shown(exchange.text)}, and should not repeat {shown(text)}."


@remembered
def _keys(exchange: Exchange) -> list[str]:
    """What the specification masks in what a port may show of a failure."""
    if not shows_error(exchange):
        return []
    streams, keys = (_stdout_of(exchange), stderr_of(exchange)), exchange.spec.outcome.answer
    messages = [message_of(stream, keys) or "" for stream in streams]
    told = [message[begin:end] for message in messages for begin, end in masked(exchange, message)]
    return [*_keys_on_stderr(exchange), *told]


def _keys_on_stderr(exchange: Exchange) -> Iterator[str]:
    """The keys in the end of stderr; of one that the cut divides, the part behind it."""
    text = stderr_of(exchange)[-2 * limit(exchange) :]
    cut = max(0, len(text) - limit(exchange))
    for begin, end in masked(exchange, text):
        key = text[max(cut, begin) : end]
        if cut <= begin or len(key) >= LONG_ENOUGH:
            yield key


def masked(exchange: Exchange, text: str) -> tuple[tuple[int, int], ...]:
    """Where what the specification masks begins and ends in a text."""
    return tuple(place for mask in exchange.spec.outcome.masks for place in places(mask, text))


def _stdout_of(exchange: Exchange) -> str:
    return end_of(exchange).stdout.decode("utf-8", "replace")


@check("error:secrets", judges=lambda exchange: bool(_keys(exchange)))
def keys_are_masked(exchange: Exchange) -> Complaints:
    for key in dict.fromkeys(_keys(exchange)):
        if any(part in (exchange.text or "") for part in (key, *_half(key))):
            yield f"The port's error holds {shown(key)}, which looks like a key, and should mask it."


def _half(key: str) -> list[str]:
    """The second half of a long key, which a port shows that masks its beginning."""
    return [key[len(key) // 2 :]] if len(key) >= LONG_KEY else []
