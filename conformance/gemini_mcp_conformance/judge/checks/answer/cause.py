"""Whether an error names its cause: the port's own words, and those of gemini's JSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from gemini_mcp.spec.families import Subject
from gemini_mcp.spec.wording import Sentence
from gemini_mcp_conformance.judge.check import Complaints, NotApplicable
from gemini_mcp_conformance.judge.checks.answer.error import exits_badly, sentence, shows_error, stderr_of
from gemini_mcp_conformance.judge.checks.answer.privacy import masked, private_texts
from gemini_mcp_conformance.judge.expectation import end_of, prompt_of
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.see.witness import shown
from gemini_mcp_conformance.spec.reading import message_of

FOREIGN = re.compile(r"[^\W\d_a-zA-Z]")
"""A letter that English does not use."""


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
    return re.search(pattern, _different_lines(stderr)) is not None


@lru_cache(64)
def _different_lines(stderr: str) -> str:
    """Each line once: what is long repeats its lines."""
    return "\n".join(dict.fromkeys(stderr.split("\n")))


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


@check("error:exit:{exit}", judges=exits_with, about="cause")
@check("error:quota", "error:session-gone", "error:saying:{saying}", judges=says_so, about="cause")
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
    if message is None or any(masked(exchange, message)):
        return False
    return not any(text in message for text in private_texts(exchange))


@check("error:json-on-stderr", judges=_has_json_on_stderr, rests="result:error-key")
def message_comes_first(exchange: Exchange) -> Complaints:
    message = _message(exchange) or ""
    # A port may cut a long message, and put one of several lines into one.
    if _in_one_line(message[:200]) not in _in_one_line(sentence(exchange)):
        yield f"The port's error reads {shown(sentence(exchange))}, and should hold {shown(message)}."


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
