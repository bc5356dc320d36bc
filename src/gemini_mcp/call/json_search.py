"""Finds the JSON that answers in a text that holds more than JSON: text in, `Found` out. Pure.

Only the search belongs here; what the keys of the object mean is said by `outcome.py`.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gemini_mcp.spec.values import Json

BRACE = re.compile(r'\{(?=\s*(?:["}]|\Z))')
BRACE_AT_LINE_START = re.compile(r'^\{(?=\s*(?:["}]|\Z))', re.MULTILINE)
OBJECT_START = re.compile(r'\{\s*(?:"|$)')
CUT_TOKEN = re.compile(r"(?:t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|-|[.eE][+-]?)?\s*")
DECODER = json.JSONDecoder()

WINDOW = 512
GROWTH = 8
"""An error of the decoder costs time for all that was given to it, so that it is given little until more is needed."""

LONGEST_TOKEN = 8
"""Characters of a word or an escape at most, with blanks after it: an error further from the end is no cut."""


@dataclass(frozen=True)
class Candidate:
    """A brace at the top level of a text, the object that begins there, or why none does."""

    at_line_start: bool
    value: Mapping[str, Json] | None
    is_cut_short: bool


@dataclass(frozen=True)
class Found:
    """What the search gave: the last object that answers, or what there was in its place."""

    value: Mapping[str, Json] | None
    has_other_object: bool
    is_truncated: bool


def find(text: str, answers: Callable[[Mapping[str, Json]], bool]) -> Found:
    """Find the last top-level object of `text` that answers.

    A notice may hold braces: an object counts as JSON in place of an answer only when it begins a line.
    """
    value: Mapping[str, Json] | None = None
    has_other_object = is_truncated = False
    for candidate in _candidates(text):
        if candidate.value is None:
            is_truncated |= candidate.is_cut_short
        elif answers(candidate.value):
            value = candidate.value
        else:
            has_other_object |= candidate.at_line_start
    return Found(value, has_other_object, is_truncated)


def _candidates(text: str) -> Iterator[Candidate]:
    """Every object at the top level; what follows the start of one that never ends lies inside it."""
    brace, position = BRACE, 0
    while match := brace.search(text, position):
        start = match.start()
        at_line_start = start == 0 or text[start - 1] == "\n"
        try:
            value, position = _decode(text, start)
        except RecursionError:
            brace, position = BRACE_AT_LINE_START, start + 1
        except ValueError as error:
            runs_out = isinstance(error, json.JSONDecodeError) and _runs_out(error)
            looks_like_one = OBJECT_START.match(text, start) is not None
            brace, position = BRACE_AT_LINE_START if runs_out else brace, start + 1
            yield Candidate(at_line_start, None, looks_like_one and (runs_out or at_line_start))
        else:
            yield Candidate(at_line_start, value, is_cut_short=False)


def _decode(text: str, start: int) -> tuple[Mapping[str, Json], int]:
    """The object that begins at `start`, and where it ends."""
    size = WINDOW
    while True:
        try:
            value, length = DECODER.raw_decode(text[start : start + size])
        except json.JSONDecodeError as error:
            if start + size >= len(text) or not _runs_out(error):
                raise
            size *= GROWTH
        else:
            return value, start + length


def _runs_out(error: json.JSONDecodeError) -> bool:
    """Whether the text ends before the object does."""
    if error.msg.startswith("Unterminated string"):
        return True
    if len(error.doc) - error.pos > LONGEST_TOKEN:
        return False
    return error.msg.startswith("Invalid \\") or CUT_TOKEN.fullmatch(error.doc, error.pos) is not None
