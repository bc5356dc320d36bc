"""That a result repeats nothing which gemini has printed for another call: no stderr, no message, no warning."""

from __future__ import annotations

import json
from collections.abc import Callable

from gemini_mcp.spec.values import Json, decode, items, table, texts_in
from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.judge.checks.answer.error import quoted, sentence, shows_error, stderr_of
from gemini_mcp_conformance.judge.expectation import end_of, printed
from gemini_mcp_conformance.judge.registry import check_all
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.see.witness import shown
from gemini_mcp_conformance.spec.reading import message_of

LONG_ENOUGH = 12
"""Characters of a text that no port writes by chance."""

Printed = Callable[[Exchange], frozenset[str]]


def kept(texts: list[str]) -> frozenset[str]:
    """The texts that are long enough to be told from others."""
    return frozenset(stripped for text in {*texts} if len(stripped := text.strip()) >= LONG_ENOUGH)


@remembered
def lines(exchange: Exchange) -> frozenset[str]:
    """The lines that gemini wrote to stderr."""
    return kept(stderr_of(exchange).split("\n")) if exchange.scripts else frozenset()


@remembered
def message(exchange: Exchange) -> frozenset[str]:
    """The message of the JSON error that gemini wrote to stderr."""
    keys = exchange.spec.outcome.answer
    has_error = bool(exchange.scripts) and json.dumps(keys["error"]) in stderr_of(exchange)
    return kept([message_of(stderr_of(exchange), keys) or ""]) if has_error else frozenset()


@remembered
def warnings(exchange: Exchange) -> frozenset[str]:
    """The warnings of gemini's JSON, also beside an error."""
    found, keys = printed(exchange), exchange.spec.outcome.answer
    beside_error = table(decode(end_of(exchange).stdout)).get(keys["warnings"]) if exchange.runs else None
    every = (*items(found.warnings if found else None), *items(beside_error))
    return kept([text for text in every if isinstance(text, str)])


def told_by(observation: Observation, told: Printed) -> frozenset[str]:
    """What gemini has printed for all calls of the conversation."""
    return frozenset[str]().union(*map(told, observation.calls))


def is_own(exchange: Exchange, text: str) -> bool:
    """Whether gemini has printed a text for this call, too."""
    end = end_of(exchange)
    return any(text in stream.decode("utf-8", "replace") for stream in (end.stderr, end.stdout))


def _repeated(observation: Observation, told: Printed, where: Callable[[Exchange], Json]) -> Complaints:
    """A complaint about each result that holds such a text of another call as one of its texts or lines."""
    every = told_by(observation, told)
    for each in observation.calls if every else ():
        texts = {line.strip() for text in texts_in([where(each)]) for line in text.split("\n")}
        for text in sorted(texts & every - told(each)):
            if not is_own(each, text):
                yield f"The port's answer to {each.label} repeats {shown(text)}, which gemini printed for another call."


def _any(test: Callable[[Exchange], bool]) -> Callable[[Observation], bool]:
    return lambda observation: any(map(test, observation.calls))


@check_all("error:stderr", judges=_any(shows_error), about="stderr")
def stderr_is_that_of_the_call(observation: Observation) -> Complaints:
    return _repeated(observation, lines, lambda each: quoted(each) if shows_error(each) else None)


@check_all("result:warnings", judges=_any(lambda each: bool(warnings(each))), about="warnings")
def warnings_are_those_of_the_call(observation: Observation) -> Complaints:
    return _repeated(observation, warnings, lambda each: each.meta)


@check_all("error:json-on-stderr", judges=_any(shows_error))
def message_is_that_of_the_call(observation: Observation) -> Complaints:
    every = told_by(observation, message)
    for each in filter(shows_error, observation.calls):
        for text in sorted(every - message(each)):
            if text in sentence(each) and not is_own(each, text):
                yield f"The port's error reads {shown(sentence(each))}, and should not repeat {shown(text)}."
