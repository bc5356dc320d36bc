"""Strings worth trying against schemas: of the lengths, patterns and formats that these mention. Pure.

A pattern is served from a pool of common texts; only where none matches is one made of it.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from gemini_mcp.schema.patterns import Unreadable, candidates
from gemini_mcp.spec.values import Json

_LONGEST = 200_000
"""Longer texts than a specification limits; one for a limit of billions would fill the memory."""
_POOL = (
    *("", "a", "b", "A", "Z", "z", "aa", "ab", "abc", "AB", "foo", "bar", "true", "null", "é", "x" * 10),
    *("0", "9", "10", "123", "1.5", "1.0.0"),
    *("-", "_", ".", "/", "$", " ", "\n", "a1", "a-b", "a_b", "a b", "a/b", "-a", "--a", "x-a"),
)
_FORMATS: Mapping[str, str] = {
    "date": "2026-07-28",
    "date-time": "2026-07-28T12:00:00Z",
    "email": "a@example.org",
    "ipv4": "127.0.0.1",
    "regex": "^a$",
    "uri": "https://example.org/a",
    "uuid": "5b3b6b48-99e7-4be4-906c-9b1f2f76c7bc",
}
_NO_FORMAT = ("not of this format", "(", "2026-13-45")


def texts(parts: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """Strings around every length, pattern and format that `parts` mention."""
    patterns = list(dict.fromkeys(part["pattern"] for part in parts if isinstance(part.get("pattern"), str)))
    limits = {
        int(part[key]) + step
        for part in parts
        for key in ("minLength", "maxLength")
        if key in part
        for step in (-1, 0, 1)
    }
    lengths = sorted(length for length in limits if 0 <= length < _LONGEST)
    yield from ("a" * length for length in lengths)
    yield from (text for part in parts if "format" in part for text in (_FORMATS.get(part["format"], ""), *_NO_FORMAT))
    yield from _POOL if patterns else ()
    pairs = [*((pattern, None) for pattern in patterns), *itertools.permutations(patterns, 2)]
    yield from (text for one, other in pairs if (text := matching(one, other)) is not None)
    for pattern, length in itertools.product(patterns, lengths):
        base = matching(pattern) or ""
        yield base + base[-1:] * (length - len(base))
        yield base + "a" * (length - len(base))


@lru_cache(maxsize=1024)
def matching(pattern: str, unlike: str | None = None) -> str | None:
    """A text in which `pattern` is found and `unlike` is not, where one is known or lies at the edge of one of them."""
    try:
        found, other = re.compile(pattern).search, re.compile(unlike).search if unlike is not None else None
    except re.error:
        return None
    tried = itertools.chain(_POOL, _edges(pattern, unlike))
    return next((text for text in tried if found(text) and not (other and other(text))), None)


def _edges(*patterns: str | None) -> Iterator[str]:
    try:
        yield from candidates([pattern for pattern in patterns if pattern is not None])
    except Unreadable:
        return
