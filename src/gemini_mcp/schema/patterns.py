"""Regular expressions: whether JavaScript reads one, and which text tells two apart. Pure.

The reader knows what Python's `re` and JavaScript with the flag `u` read alike. As it reads, it makes texts at the
edges of a pattern: each alternative, each end of a range, the least repetitions. Nothing here proves two equal;
that a pattern is found in every text is proven of the simplest ones.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gemini_mcp.report.values import shown

_MOST = 40
_LONGEST_EDIT = 64
_POOL = ("", "a", "A", "0", "-", "--x", "_", ".", "/", "+", "[", "é", " ", "\n", "\t", "\u0000", "text", "a b", "a\n")
_AROUND = ("a", "A", "0", "-", ".", " ", "\n")
_SETS = {"d": "09", "w": "aZ0_", "s": " \n", "D": "a-", "W": "- ", "S": "a-"}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
_ITSELF = frozenset("^$\\.*+?()[]{}|/")
_FLAGS = re.compile(r"\(\?i\)")
_GROUP = re.compile(r"\((?:\?(?::|<?[=!]))?(?!\?)")
_QUANTIFIER = re.compile(r"([*+?]|\{([0-9]+)(,([0-9]*))?\})(\??)")
_CODE = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|0(?![0-9])")
_EXCLUDING = re.compile(r"\[\^((?:\\.|[^\]\\])*)\]")
_LIMITING = re.compile(r"[$^]|\\[bBAZ]|\(\?(?!:)")
_ANYTHING = (r"[\s\S]*", r"[\S\s]*", r"[\d\D]*", r"[\w\W]*")


class Unreadable(Exception):
    """What JavaScript does not read, or reads as something else."""


@dataclass(frozen=True)
class Difference:
    """A text in which only the first pattern is found, and one in which only the second is, where they are known."""

    lost: str | None
    gained: str | None

    @property
    def is_known(self) -> bool:
        return self.lost is not None or self.gained is not None


@lru_cache(maxsize=1024)
def difference(old: str, new: str, whole: bool = False) -> Difference | None:
    """What tells two patterns apart among texts at their edges; None where one of them is no pattern."""
    try:
        before, after = re.compile(old), re.compile(new)
    except re.error:
        return None
    tried = candidates([pattern for pattern in (old, new) if is_readable(pattern)])
    sides = (before.fullmatch, after.fullmatch) if whole else (before.search, after.search)
    found = [(text, *(side(text) is not None for side in sides)) for text in tried]
    lost = next((text for text, was, becomes in found if was and not becomes), None)
    gained = next((text for text, was, becomes in found if becomes and not was), None)
    return Difference(lost, gained)


def same_texts(old: object, new: object) -> bool:
    """Whether two patterns differ, and no text is known that tells them apart."""
    if not (isinstance(old, str) and isinstance(new, str)) or old == new:
        return False
    apart = difference(old, new)
    return apart is not None and not apart.is_known


@lru_cache(maxsize=1024)
def is_universal(pattern: str) -> bool:
    """Whether it is proven that the pattern is found in every text: at its start or its end, with no length."""
    inner = pattern.removeprefix("^")
    body = inner.removesuffix("$")
    if len(pattern) > len(inner) > len(body):
        return body in _ANYTHING
    try:
        return not _LIMITING.search(body) and re.fullmatch(body, "") is not None
    except re.error:
        return False


def candidates(patterns: Sequence[str]) -> list[str]:
    """Texts at the edges of patterns, and texts a little off them."""
    edges = [text for pattern in patterns for text in examples(pattern)]
    around = list(dict.fromkeys([*_AROUND, *(sign for pattern in patterns for sign in _excluded(pattern))]))
    return list(dict.fromkeys([*_POOL, *edges, *(near for text in edges for near in _near(text, around))]))


def _near(text: str, around: Sequence[str]) -> Iterator[str]:
    yield from (text + more for more in around)
    yield from (more + text for more in around)
    if len(text) <= _LONGEST_EDIT:
        yield from (text[:index] + text[index + 1 :] for index in range(len(text)))
        yield text.swapcase()
        yield text + text


def _excluded(pattern: str) -> Iterator[str]:
    """The signs that the classes of a pattern leave out."""
    for inner in _EXCLUDING.findall(pattern):
        yield from (sign for sign in inner if not sign.isalnum() and sign != "\\")


def is_readable(pattern: str) -> bool:
    """Whether JavaScript reads it too."""
    try:
        examples(pattern)
    except Unreadable:
        return False
    return True


def examples(pattern: str) -> tuple[str, ...]:
    """Texts that the pattern was made for; `Unreadable` where JavaScript cannot read it."""
    reader = _Reader(_FLAGS.sub("", pattern, count=1) if pattern.startswith("(?i)") else pattern)
    found = reader.alternatives()
    if reader.at < len(reader.text):
        raise Unreadable(f"{shown(reader.text[reader.at])} closes nothing")
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def alternatives(self) -> tuple[str, ...]:
        found = list(self.sequence())
        while self.take("|"):
            found += self.sequence()
        return tuple(dict.fromkeys(found))[:_MOST]

    def sequence(self) -> tuple[str, ...]:
        """Texts of a sequence: its first ones joined, then each piece varied by itself."""
        pieces: list[tuple[str, ...]] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            pieces.append(self.quantified())
        found = ["".join(piece[0] for piece in pieces)]
        for index, piece in enumerate(pieces):
            before, after = ("".join(one[0] for one in part) for part in (pieces[:index], pieces[index + 1 :]))
            found += (before + text + after for text in piece[1:])
        return tuple(dict.fromkeys(found))[:_MOST]

    def quantified(self) -> tuple[str, ...]:
        start = self.at
        piece = self.atom()
        match = _QUANTIFIER.match(self.text, self.at)
        if match is None:
            return piece
        if self.text[start] in "^$" or self.text.startswith(("(?=", "(?!", "(?<", "\\b", "\\B"), start):
            # Python repeats a lookahead; with the flag `u` JavaScript does not.
            raise Unreadable(f"{shown(self.text[start : match.end()])} repeats what has no length")
        self.at = match.end()
        if self.text.startswith("+", self.at) or _QUANTIFIER.match(self.text, self.at):
            # `a++` is possessive to Python since 3.11, and a mistake to JavaScript.
            raise Unreadable(f"{shown(self.text[start : self.at + 1])} repeats a repetition")
        least, most = _bounds(match)
        times = [*{least or 1, least, least + 1, *((most,) if most is not None and most < _MOST else ())}]
        kept = [count for count in times if most is None or count <= most]
        return tuple(dict.fromkeys([*(text * kept[0] for text in piece), *(piece[0] * count for count in kept[1:])]))

    def atom(self) -> tuple[str, ...]:
        sign = self.text[self.at]
        if sign == "(":
            return self.group()
        if sign == "[":
            return self.characters()
        if sign in "*+?{}]":
            # Python takes `{`, `}` and `]` for themselves; with the flag `u` JavaScript refuses them.
            raise Unreadable(f"{shown(sign)} stands alone and should be escaped")
        self.at += 1
        if sign == "\\":
            return self.escaped()
        return ("",) if sign in "^$" else ("a", "-") if sign == "." else (sign,)

    def group(self) -> tuple[str, ...]:
        match = _GROUP.match(self.text, self.at)
        if match is None:
            raise Unreadable(f"the group {shown(self.text[self.at : self.at + 4])} is Python's alone")
        self.at = match.end()
        found = self.alternatives()
        if not self.take(")"):
            raise Unreadable("a group has no end")
        return ("",) if match[0].endswith("!") else found

    def characters(self) -> tuple[str, ...]:
        """Texts of a class: the ends of its ranges, or what is not among them."""
        self.at += 1
        is_excluding = self.take("^")
        start, found = self.at, list[str]()
        while not self.take("]"):
            if self.at >= len(self.text):
                raise Unreadable("a class has no end")
            found += self.member()
        # `[]` and `[^]` are classes to JavaScript; to Python the `]` is their first character.
        if self.at == start + 1 or self.text[start] == "]":
            raise Unreadable("a class is empty, or begins with `]`")
        return tuple(sign for sign in _AROUND if sign not in found)[:3] or ("\ufffd",) if is_excluding else tuple(found)

    def member(self) -> tuple[str, ...]:
        first = self.one()
        if not (self.text.startswith("-", self.at) and not self.text.startswith("-]", self.at)):
            return first
        self.at += 1
        last = self.one()
        if len(first) > 1 or len(last) > 1:
            raise Unreadable("a range of a class ends in a set of characters")
        return (*first, *last)

    def one(self) -> tuple[str, ...]:
        sign = self.text[self.at]
        self.at += 1
        return self.escaped(in_class=True) if sign == "\\" else (sign,)

    def escaped(self, in_class: bool = False) -> tuple[str, ...]:
        if self.at >= len(self.text):
            raise Unreadable("a backslash ends it")
        sign = self.text[self.at]
        self.at += 1
        if sign in _ITSELF or (in_class and sign == "-"):
            return (sign,)
        if sign in _SETS or sign in _CONTROLS:
            return tuple(_SETS.get(sign, _CONTROLS.get(sign, "")))
        if sign in "bB123456789" and not in_class:
            return ("",)
        if sign == "b":
            return ("\b",)
        if match := _CODE.match(self.text, self.at - 1):
            self.at = match.end()
            return (chr(int(match[1] or match[2] or "0", 16)),)
        raise Unreadable(f"{shown(chr(92) + sign)} is no escape there")

    def take(self, sign: str) -> bool:
        found = self.text.startswith(sign, self.at)
        self.at += found
        return found


def _bounds(match: re.Match[str]) -> tuple[int, int | None]:
    if match[2] is None:
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[match[1]]
    least = int(match[2])
    return least, (least if match[3] is None else int(match[4]) if match[4] else None)
