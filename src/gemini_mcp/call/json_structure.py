"""Finds where the objects in a JSON text end, and how deep they are, in one pass and without decoding them. Pure.

It accepts what Python's decoder accepts, and stops where the decoder would raise an error.
"""

import re
from array import array
from bisect import bisect_left

BLANKS = r"[ \t\n\r]*+"
STRING = r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
KEY = rf"{BLANKS}{STRING}{BLANKS}:"
FLOAT = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++(?:[eE][-+]?[0-9]++)?|[eE][-+]?[0-9]++)"
INTEGER = r"-?(?:0|[1-9][0-9]{0,4299}+)(?![0-9])"
"""Python reads no integer of more than 4300 digits."""

VALUE = re.compile(
    rf"{BLANKS}(?:{STRING}|{FLOAT}|{INTEGER}|-?Infinity|NaN|true|false|null"
    rf"|(\{{)(?:{BLANKS}(\}})|{KEY})|(\[)(?:{BLANKS}(\]))?+)"
)
OBJECT, EMPTY_OBJECT, ARRAY = 1, 2, 3
"""What `lastindex` of a match tells of a value. A scalar has none; what is left is an empty array."""

NEXT_MEMBER = re.compile(rf"{BLANKS}(?:(\}})|,{KEY})")
NEXT_ITEM = re.compile(rf"{BLANKS}(?:(\])|,)")

NO_END = -1
NO_OBJECT = -1


class Structure:
    """The objects of the value that begins at `start`: of the whole value, or of as much of it as is JSON."""

    def __init__(self, text: str, start: int) -> None:
        # Arrays, because an output of some megabytes can hold a million objects.
        self._starts, self._ends, self._depths = array("q"), array("q"), array("q")
        self._open, self._depths_inside = array("q"), array("q")
        self.end = self._scan(text, start)
        while self._open:
            self._close(NO_END)

    def find(self, start: int) -> tuple[int, int] | None:
        """Where the object that begins at `start` ends, or `NO_END`, and how deep it is; None if none begins there."""
        index = bisect_left(self._starts, start)
        if index == len(self._starts) or self._starts[index] != start:
            return None
        return self._ends[index], self._depths[index]

    def _scan(self, text: str, position: int) -> int:
        """Read until the value is complete or something else comes; say where."""
        while match := VALUE.match(text, position):
            position, kind = match.end(), match.lastindex
            if kind is not None:
                self._begin(match.start(OBJECT) if kind in (OBJECT, EMPTY_OBJECT) else NO_OBJECT)
            if kind in (OBJECT, ARRAY):
                continue
            if kind is not None:
                self._close(position)
            position, is_more = self._close_all(text, position)
            if not is_more:
                break
        return position

    def _close_all(self, text: str, position: int) -> tuple[int, bool]:
        """Close what ends after a value; say where, and whether another value has to follow."""
        while self._open:
            match = (NEXT_ITEM if self._open[-1] == NO_OBJECT else NEXT_MEMBER).match(text, position)
            if match is None:
                return position, False
            position = match.end()
            if match.lastindex is None:
                return position, True
            self._close(position)
        return position, False

    def _begin(self, start: int) -> None:
        self._depths_inside.append(0)
        if start == NO_OBJECT:
            self._open.append(NO_OBJECT)
            return
        self._open.append(len(self._starts))
        self._starts.append(start)
        self._ends.append(NO_END)
        self._depths.append(0)

    def _close(self, end: int) -> None:
        index, depth = self._open.pop(), self._depths_inside.pop() + 1
        if index != NO_OBJECT:
            self._ends[index], self._depths[index] = end, depth
        if self._depths_inside:
            self._depths_inside[-1] = max(self._depths_inside[-1], depth)
