"""Patterns: texts that a regular expression matches, one for each of its choices, and texts that it just misses. Pure.

This module walks the tree into which `re` parses a pattern, and tries every text on the pattern. So a part of a pattern
that it does not know costs some texts, and makes no wrong ones.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gemini_mcp.spec.values import Json

# The parser is private and has no types, so it is loaded by name.
PARSER: Json = importlib.import_module("re._parser")
ORDINARY = "a0A_- é"
"""Characters that stand for a class if they are in it, and beside it if they are not."""
CATEGORIES = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}
FRAMES = (("a", "b"), ("", "b"), ("a", ""), ("", ""))
"""What stands before and behind a text, if the pattern is found there too: a port may look for it at the ends only."""
LONG = 1000
"""Repetitions beyond this number are not tried."""
MOST = 24
"""How many texts of one kind are kept; they are taken from all over the list."""


@dataclass(frozen=True)
class Texts:
    """Texts that match a part of a pattern, the usual one first, and texts that it just misses."""

    fits: Sequence[str] = ("",)
    misses: Sequence[str] = ()


@lru_cache(256)
def samples(pattern: str) -> tuple[str, ...]:
    """Texts in which the pattern is found: each alternative, and the first and last of each range of characters.

    A frame may lengthen what matches, so a text whose end a frame hides comes last without one.
    """
    compiled, walked = re.compile(pattern), _walked(pattern).fits
    found = compiled.search
    # Where no case counts, neither does a mixed one.
    cased = [text.title() for text in walked] if compiled.flags & re.IGNORECASE else []
    fits = [text for text in (*walked, *cased) if found(text)]
    framed = [_framed(text, found) for text in fits]
    bare = [text for text, other in zip(fits, framed, strict=True) if _ends(found, other) > _ends(found, text)]
    return (*_some(framed), *bare[-1:])


@lru_cache(256)
def near_misses(pattern: str) -> tuple[str, ...]:
    """Texts in which the pattern is not found, each one step away from one in which it is."""
    found, walked = re.compile(pattern).search, _walked(pattern)
    start, end = next((_frame(text, found) for text in walked.fits if found(text)), ("", ""))
    return _some(text for each in walked.misses if not found(text := f"{start}{each}{end}"))


def _ends(found: Callable[[str], re.Match[str] | None], text: str) -> int:
    """Where in a text the pattern ends that is found in it, from the beginning of what is found."""
    match = found(text)
    return len(match[0]) if match else 0


def _framed(text: str, found: Callable[[str], object]) -> str:
    start, end = _frame(text, found)
    return f"{start}{text}{end}"


def _frame(text: str, found: Callable[[str], object]) -> tuple[str, str]:
    return next(frame for frame in FRAMES if found(text.join(frame)))


def _walked(pattern: str) -> Texts:
    return _sequence(PARSER.parse(pattern))


def _sequence(nodes: Iterable[Json]) -> Texts:
    """The usual texts of all parts, joined; then, one part at a time, its other texts."""
    parts = [_node(str(kind), value) for kind, value in nodes]
    # What must follow is written by what follows, if anything does.
    parts[:-1] = [
        Texts(misses=part.misses) if str(kind) == "ASSERT" and value[0] > 0 else part
        for part, (kind, value) in zip(parts[:-1], nodes, strict=False)
    ]
    usual = [part.fits[0] for part in parts]

    def with_each(choices: Callable[[Texts], Sequence[str]]) -> list[str]:
        return [
            "".join((*usual[:at], choice, *usual[at + 1 :]))
            for at, part in enumerate(parts)
            for choice in choices(part)
        ]

    return Texts(_unique(("".join(usual), *with_each(lambda part: part.fits))), with_each(lambda part: part.misses))


def _node(kind: str, value: Json) -> Texts:
    match kind:
        case "LITERAL":
            return _characters([("LITERAL", value)])
        case "NOT_LITERAL":
            return _characters([("NEGATE", None), ("LITERAL", value)])
        case "IN":
            return _characters(value)
        case "ANY":
            return Texts(ORDINARY, ("\n",))
        case "SUBPATTERN" | "ATOMIC_GROUP":
            return _sequence(value[-1] if kind == "SUBPATTERN" else value)
        case "BRANCH":
            branches = [_sequence(branch) for branch in value[1]]
            return Texts(*([text for each in branches for text in texts(each)] for texts in (_fits, _misses)))
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, inner = value
            return _repeated(int(least), int(most), _sequence(inner))
        case "AT":
            # A newline at the end: `$` matches before it in Python and not in JavaScript.
            return Texts(misses=("x", "\n"))
        case "ASSERT":
            return _sequence(value[1])
        case "ASSERT_NOT":
            # What must not follow makes the pattern miss.
            return Texts(misses=_sequence(value[1]).fits)
        case _:
            return Texts()


def _fits(texts: Texts) -> Sequence[str]:
    return texts.fits


def _misses(texts: Texts) -> Sequence[str]:
    return texts.misses


def _repeated(least: int, most: int, inner: Texts) -> Texts:
    if least > LONG or most == 0:
        return Texts()
    usual, times = inner.fits[0], max(1, least)
    fits = [text + usual * (times - 1) for text in inner.fits]
    further = [usual * count for count in (times + 1, most) if count <= min(most, LONG)]
    # One of each, and the first again, as in most texts that anybody writes.
    mixed = (*inner.fits, *inner.fits[:2])[:most]
    further += ["".join(mixed)] if least <= len(mixed) > 1 else []
    beyond = [usual * count for count in (least - 1, most + 1) if 0 <= count <= LONG]
    return Texts(
        (*fits, *further, *([""] if least == 0 else [])),
        (*(text + usual * (times - 1) for text in inner.misses), *beyond),
    )


def _characters(members: Iterable[Json]) -> Texts:
    """Ordinary characters and both ends of every range, as far as they are in the class, and what is beside it."""
    kinds = [(str(kind), value) for kind, value in members]
    ranges = [value if kind == "RANGE" else (value, value) for kind, value in kinds if kind in ("RANGE", "LITERAL")]
    edges = [chr(code) for low, high in ranges for code in (low, high, low - 1, high + 1) if 0 <= code < 0x110000]
    allowed = re.compile(_class(kinds)).fullmatch
    beside = [text for text in edges or ORDINARY if not allowed(text)]
    return Texts([text for text in (*ORDINARY, *edges) if allowed(text)] or [""], beside)


def _class(kinds: Iterable[tuple[str, Json]]) -> str:
    """A class of characters as a pattern."""
    inside, sign = "", ""
    for kind, value in kinds:
        match kind:
            case "NEGATE":
                sign = "^"
            case "RANGE":
                inside += "-".join(re.escape(chr(code)) for code in value)
            case "LITERAL":
                inside += re.escape(chr(value))
            case _:
                inside += _category(str(value))
    return f"[{sign}{inside}]"


def _category(name: str) -> str:
    words = name.split("_")
    letter = CATEGORIES[words[-1]]
    return letter.upper() if "NOT" in words else letter


def _some(texts: Iterable[str]) -> tuple[str, ...]:
    every = _unique(texts)
    return every[:: 1 + max(0, len(every) - 1) // MOST]


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
