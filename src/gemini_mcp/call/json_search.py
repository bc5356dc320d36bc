"""Finds the JSON object that answers in a text that also holds notices: text in, `Found` out. Pure.

Only the search belongs here; `outcome.py` knows what the keys of the object mean.
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
"""A decoding error costs time for the whole text given, so the decoder first gets a small window, then a larger one."""

LONGEST_TOKEN = 8
"""Characters that a cut word or escape has at most, with blanks: an error further from the end means wrong JSON."""


@dataclass(frozen=True)
class Candidate:
    """An opening brace at the top level of a text: the object that begins there, or whether the text cuts it short."""

    at_line_start: bool
    value: Mapping[str, Json] | None
    is_cut_short: bool


@dataclass(frozen=True)
class Found:
    """What the search found: the last object that answers, and whether there were others, or one cut short."""

    value: Mapping[str, Json] | None
    has_other_object: bool
    is_truncated: bool


def find(text: str, answers: Callable[[Mapping[str, Json]], bool]) -> Found:
    """Find the last top-level object of `text` that answers.

    An object that does not answer counts only at the start of a line, since a notice may hold braces.
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
    """Every object at the top level. After one that never ends, only a line's first brace can begin another."""
    brace, position = BRACE, 0
    while match := brace.search(text, position):
        start = match.start()
        at_line_start = start == 0 or text[start - 1] == "\n"
        try:
            value, position = _decode(text, start)
        except RecursionError:  # nested too deep for the decoder
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
