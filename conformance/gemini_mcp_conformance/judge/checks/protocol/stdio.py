"""What a port writes to its stdout and stderr."""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from itertools import groupby
from urllib.parse import quote, quote_plus

from gemini_mcp.spec.values import Json, decode, table, texts_in
from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.judge.checks.answer.error import forms
from gemini_mcp_conformance.judge.checks.answer.result import is_utf_8
from gemini_mcp_conformance.judge.expectation import end_of, is_call, reading
from gemini_mcp_conformance.judge.registry import check_all
from gemini_mcp_conformance.see.observation import Exchange, Line, Observation
from gemini_mcp_conformance.see.witness import bytes_shown, shown

PRIVATE = 16
"""Characters of a text, and at its beginning or its end, that are in a log by no chance."""
ENCODED = 40
"""Characters at the beginning of a text in another notation: it is no shorter there, and may end otherwise."""
WITHIN, WORDS, SEARCHED = 24, 3, 2_000
"""Characters of a part from within a text; more words than these are in it; and how far into a text to look."""
BLANKS = 4
"""Blanks in so short a part of a text."""
FEW = 3
"""Different characters of what may be in a log by chance, however long it is: a line of dots or of one letter."""


def writes(observation: Observation) -> bool:
    return observation.transport == "stdio" and any(True for _ in observation.received)


@check_all("stdio:framing", judges=writes, about="line")
def every_line_is_one_message(observation: Observation) -> Complaints:
    for line in observation.received:
        # A line that the death of the port has cut short is told with its death.
        if not line.ended and observation.died is None:
            yield f"The port ended with {bytes_shown(line.data)}, and should write a newline behind it."
    for run in _runs_of_other_lines(observation.received):
        if is_spread(run):
            first = bytes_shown(run[0])
            yield f"The port spread a message over {len(run)} lines, from {first} on, and should write it on one."


@check_all("stdio:stdout", judges=writes, about="line")
def nothing_but_messages(observation: Observation) -> Complaints:
    ended = [line for line in observation.received if line.ended or line.table]
    for run in _runs_of_other_lines(ended):
        if not is_spread(run):
            yield f"The port wrote {bytes_shown(run[0][:200])} to stdout, and should write only messages."


@check_all("stdio:encoding", judges=writes, about="line")
def every_message_is_utf_8(observation: Observation) -> Complaints:
    for line in observation.received:
        if not is_utf_8(line.data):
            yield f"The port wrote {line.data[:200]!r} to stdout, and should write UTF-8."


@check_all("stdio:stderr:private", judges=lambda seen: writes(seen) and bool(private(seen)))
def nothing_private_is_logged(observation: Observation) -> Complaints:
    logged = _plain(observation.stderr)
    for text in private(observation) if logged else ():
        found = [part for part in _parts(text) if part in logged]
        if found and not _is_public(found, observation):
            yield f"The port wrote {shown(text)} to its stderr, and should log neither prompts nor answers."


def private(observation: Observation) -> list[str]:
    """The prompts and answers of a conversation that are long enough to be told from other words."""
    calls = [each for each in observation.calls if is_call(each)]
    given = [each.arguments.get(key) for each in calls for key in each.spec.template(each.tool).private]
    return [
        text
        for text in (*given, *answers(observation), *broken_off(observation))
        if isinstance(text, str) and len(text.strip()) >= PRIVATE
    ]


def _is_public(parts: Iterable[bytes], observation: Observation) -> bool:
    """Whether a log may hold all of these: the id of a request, a model or a session can have the text of a prompt."""
    told = [public for each in observation.calls if is_call(each) for public in _public(each)]
    public = _plain("\n".join(texts_in(told)).encode("utf-8", "replace"))
    return all(part in public for part in parts)


def _public(exchange: Exchange) -> Iterator[Json]:
    """What a call gives besides its prompt, and other texts that are private."""
    private = exchange.spec.template(exchange.tool).private
    yield from (exchange.request["id"], exchange.params.get("_meta"))
    yield from (value for name, value in exchange.arguments.items() if name not in private)


def answers(observation: Observation) -> Iterator[str]:
    """What gemini has answered, also where it has failed all the same."""
    for each in observation.calls:
        found = reading(each)
        if found is not None and found.kind in ("answer", "plain"):
            yield found.text
        elif each.runs and isinstance(
            text := table(decode(end_of(each).stdout)).get(each.spec.outcome.answer["text"]), str
        ):
            yield text


def broken_off(observation: Observation) -> Iterator[str]:
    """The beginnings of answers that break off."""
    for each in observation.calls:
        found = reading(each)
        if found is not None and found.cause == "truncated":
            opening = json.dumps(each.spec.outcome.answer["text"])
            printed = end_of(each).stdout.decode("utf-8", "replace")
            yield from re.findall(rf'{re.escape(opening)}\s*:\s*"([^"\\]*)', printed)


def _parts(text: str) -> Iterator[bytes]:
    """What a log may hold of a text, as it is or in another notation: at least its beginning or its end."""
    ends = [part for part in (text[:PRIVATE], text[-PRIVATE:]) if len({*part}) > FEW]
    written = (form for part in ends for form in forms(part))
    encoded = (form[:ENCODED] for form in _notations(text[:ENCODED]) if len({*text[:PRIVATE]}) > FEW)
    parts = (_plain(form.encode("utf-8", "replace")) for form in (*written, *encoded))
    # A part of blanks, or of few characters without them, may be in any log.
    yield from dict.fromkeys(part for part in parts if len(part) >= PRIVATE - BLANKS)
    yield from dict.fromkeys(_plain(form.encode("utf-8", "replace")) for part in _within(text) for form in forms(part))


def _within(text: str) -> Iterator[str]:
    """Parts from within a text, as far as they are several words: single ones may be in any log."""
    for start in range(0, min(len(text), SEARCHED) - WITHIN, WITHIN // 2):
        part = text[start : start + WITHIN]
        if len(part.split()) > WORDS:
            yield part


def _notations(text: str) -> Iterator[str]:
    """The text as programs write what may hold any byte."""
    raw = text.encode("utf-8", "replace")
    yield from (b64encode(raw).decode(), raw.hex(), quote(raw), quote_plus(raw))
    # As a list of numbers, whatever stands around them; then in the escapes of Python, Rust and C.
    yield from (mark.join(map(str, raw)) for mark in (" ", ", "))
    if not text.isascii():
        yield from (text.encode("unicode_escape").decode(), repr(raw)[2:-1])
        yield "".join(each if each.isascii() else f"\\u{{{ord(each):x}}}" for each in text)
        yield "".join(chr(byte) if byte < 128 else f"\\{byte:o}" for byte in raw)


def _plain(text: bytes) -> bytes:
    """The text in small letters, without blanks, NULs and what joins words, so that it is the same in any layout."""
    return b"".join(text.lower().translate(None, b"\0-_").split())


def is_spread(lines: list[bytes]) -> bool:
    """Whether the lines are one message together."""
    return len(lines) > 1 and bool(table(decode(b"\n".join(lines))))


def _runs_of_other_lines(lines: Iterable[Line]) -> Iterator[list[bytes]]:
    """Each group of lines that follow each other and are no messages."""
    for is_message, run in groupby(lines, key=lambda line: bool(line.table)):
        if not is_message:
            yield [line.data for line in run]
