"""Finds the line and column of a value in the text of a JSON file. Pure.

Only lookups belong here. Positions are found when a message needs them, because most files give none.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True)
class Position:
    """Line and column, both counted from 1."""

    line: int
    column: int


def locate(text: str, path: Path) -> Position:
    """Where the value at `path` begins; where it does not exist, the nearest value that would hold it."""
    try:
        return at(text, _offset(text, path))
    except (ValueError, IndexError, RecursionError):
        return Position(1, 1)


def at(text: str, offset: int) -> Position:
    """Line and column of an offset."""
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def _offset(text: str, path: Path) -> int:
    offset = _skip(text, 0)
    for step in path:
        found = next((place for name, place in _inside(text, offset) if name == step), None)
        if found is None:
            return offset
        offset = found
    return offset


def repeated(text: str) -> Iterator[tuple[str, int]]:
    """Every key that an object has named before, with where its later value begins."""
    waiting = [_skip(text, 0)]
    while waiting:
        seen: set[str | int] = set()
        for name, offset in _inside(text, waiting.pop()):
            if isinstance(name, str) and name in seen:
                yield name, offset
            seen.add(name)
            waiting.append(offset)


@lru_cache(maxsize=4096)
def _inside(text: str, offset: int) -> tuple[tuple[str | int, int], ...]:
    """The key or index of everything directly inside the value there, with where it begins."""
    return tuple(_members(text, offset))


def _members(text: str, offset: int) -> Iterator[tuple[str | int, int]]:
    end = {"{": "}", "[": "]"}.get(text[offset])
    offset, index = _skip(text, offset + 1), -1
    while end is not None and text[offset] != end:
        name = index = index + 1
        if end == "}":
            name, offset = _DECODER.raw_decode(text, offset)
            offset = _skip(text, _skip(text, offset) + 1)
        yield name, offset
        # The standard library decodes from a place and tells where the value ends, but keeps no places.
        _, offset = _DECODER.raw_decode(text, offset)
        offset = _skip(text, offset)
        offset = _skip(text, offset + 1) if text[offset] == "," else offset


def _skip(text: str, offset: int) -> int:
    match = _SPACE.match(text, offset)
    return match.end() if match else offset
