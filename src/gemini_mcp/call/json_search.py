"""Finds the JSON object with the answer in a text that may hold notices too. Pure.

Only the search belongs here; `outcome.py` knows what the keys of the object mean.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gemini_mcp.call.json_structure import NO_END, Structure
from gemini_mcp.spec.values import Json

BRACE = re.compile(r'\{(?=\s*(?:["}]|\Z))', re.ASCII)
BRACE_AT_LINE_START = re.compile(r'^\{(?=\s*(?:["}]|\Z))', re.ASCII | re.MULTILINE)
OBJECT_START = re.compile(r'\{\s*(?:"|$)', re.ASCII)
CUT_TOKEN = re.compile(r"(?:t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|-|[.eE][+-]?)?\s*", re.ASCII)
DECODER = json.JSONDecoder()

WINDOW = 64
GROWTH = 8
"""A decoding error takes time for all the text given, so the decoder gets a small window first, then larger ones."""

DEEPEST = 900
"""Levels of nesting that the decoder can surely follow; its recursion ends at about a thousand calls."""

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
    decoder = _Decoder(text)
    brace, position = BRACE, 0
    while match := brace.search(text, position):
        start = match.start()
        at_line_start = start == 0 or text[start - 1] == "\n"
        try:
            found, position = decoder.decode(start)
        except RecursionError:  # nested too deep for the decoder
            brace, position = BRACE_AT_LINE_START, start + 1
        except _Broken as error:
            brace, position = BRACE_AT_LINE_START if error.runs_out else brace, start + 1
            is_truncated |= (error.runs_out or at_line_start) and OBJECT_START.match(text, start) is not None
        else:
            if answers(found):
                value = found
            else:
                has_other_object |= at_line_start
    return Found(value, has_other_object, is_truncated)


class _Broken(Exception):
    """What begins with a brace is no object; `runs_out` says whether it might be one if the text went on."""

    def __init__(self, runs_out: bool) -> None:
        super().__init__()
        self.runs_out = runs_out


@dataclass
class _Attempt:
    """An object that could not be decoded, and what it held. `runs_out` is unknown where it was too deep."""

    structure: Structure
    runs_out: bool | None


class _Decoder:
    """Decodes objects of one text, whose starts come in ascending order, and looks at each place a few times at most.

    After an object that cannot be decoded, those inside it are tried. What begins in its structure is known from there.
    What begins in one of its strings sees each quote the other way round, so no place is part of three structures.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._attempts: list[_Attempt] = []

    def decode(self, start: int) -> tuple[Mapping[str, Json], int]:
        """The object that begins at `start`, and where it ends."""
        self._attempts = [attempt for attempt in self._attempts if attempt.structure.end > start]
        for attempt in self._attempts:
            if known := attempt.structure.find(start):
                return self._decode_known(attempt, start, *known)
        try:
            return _decode(self._text, start)
        except (_Broken, RecursionError) as error:
            runs_out = error.runs_out if isinstance(error, _Broken) else None
            self._attempts.append(_Attempt(Structure(self._text, start), runs_out))
            raise

    def _decode_known(self, attempt: _Attempt, start: int, end: int, depth: int) -> tuple[Mapping[str, Json], int]:
        if depth > DEEPEST:
            raise RecursionError
        if end == NO_END and attempt.runs_out is not None:
            raise _Broken(attempt.runs_out)
        try:
            return _decode(self._text, start)
        except _Broken as error:
            attempt.runs_out = error.runs_out
            raise


def _decode(text: str, start: int) -> tuple[Mapping[str, Json], int]:
    """The object that begins at `start`, and where it ends."""
    size = WINDOW
    while True:
        try:
            value, length = DECODER.raw_decode(text[start : start + size])
        except json.JSONDecodeError as error:
            runs_out = _runs_out(error)
            if start + size >= len(text) or not runs_out:
                raise _Broken(runs_out) from None
            size *= GROWTH
        except ValueError:  # a number with too many digits
            raise _Broken(runs_out=False) from None
        else:
            return value, start + length


def _runs_out(error: json.JSONDecodeError) -> bool:
    """Whether the text ends before the object does."""
    if error.msg.startswith("Unterminated string"):
        return True
    if len(error.doc) - error.pos > LONGEST_TOKEN:
        return False
    return error.msg.startswith("Invalid \\") or CUT_TOKEN.fullmatch(error.doc, error.pos) is not None
