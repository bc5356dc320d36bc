"""Finds the JSON object with the answer in a text that may hold notices too. Pure.

Only the search belongs here; `outcome.py` knows what the keys of the object mean.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gemini_mcp.spec.values import Json

BRACE = re.compile(r'\{(?=\s*(?:["}]|\Z))')
BRACE_AT_LINE_START = re.compile(r'^\{(?=\s*(?:["}]|\Z))', re.MULTILINE)
OBJECT_START = re.compile(r'\{\s*(?:"|$)')
CUT_TOKEN = re.compile(r"(?:t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|-|[.eE][+-]?)?\s*")
DECODER = json.JSONDecoder()

WINDOW = 512
GROWTH = 8
"""A decoding error takes time for all the text given, so the decoder gets a small window first, then larger ones."""

LONGEST_TOKEN = 8
"""The most characters of a cut word or escape, with blanks. An error further from the end means wrong JSON."""


@dataclass(frozen=True)
class Found:
    """What the search found: the last object that answers, and whether there were others, or one cut short."""

    value: Mapping[str, Json] | None
    has_other_object: bool
    is_truncated: bool


def find(text: str, answers: Callable[[Mapping[str, Json]], bool]) -> Found:
    """Find the last top-level object of `text` that answers.

    An object that does not answer counts only at the start of a line, since a notice may hold braces. After an object
    that never ends, another can begin only at the start of a line.
    """
    value: Mapping[str, Json] | None = None
    has_other_object = is_truncated = False
    brace, position = BRACE, 0
    while match := brace.search(text, position):
        start = match.start()
        at_line_start = start == 0 or text[start - 1] == "\n"
        try:
            found, position = _decode(text, start)
        except RecursionError:  # nested too deep for the decoder
            brace, position = BRACE_AT_LINE_START, start + 1
        except ValueError as error:  # a number with too many digits is no JSONDecodeError
            runs_out = isinstance(error, json.JSONDecodeError) and _runs_out(error)
            brace, position = BRACE_AT_LINE_START if runs_out else brace, start + 1
            is_truncated |= (runs_out or at_line_start) and OBJECT_START.match(text, start) is not None
        else:
            if answers(found):
                value = found
            else:
                has_other_object |= at_line_start
    return Found(value, has_other_object, is_truncated)


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
