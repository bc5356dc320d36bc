"""Strings worth trying against schemas: of the lengths, patterns and formats that these mention. Pure.

A pattern is served from a pool of common texts; only where none matches is a matching one sought.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from random import Random

from gemini_mcp.spec.values import Json

_LONGEST = 200_000
_LETTERS = ("a", "b", "A", "Z", "z", "aa", "ab", "abc", "AB", "foo", "bar", "true", "null", "é", "x" * 10)
_DIGITS = ("0", "9", "10", "123", "1.5", "1.0.0")
_SIGNS = ("-", "_", ".", "/", "$", " ", "\n", "a1", "a-b", "a_b", "a b", "a/b", "-a", "--a", "x-a")
_POOL = ("", *_LETTERS, *_DIGITS, *_SIGNS)
_FORMATS: Mapping[str, str] = {
    "date": "2026-07-28",
    "date-time": "2026-07-28T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "P1D",
    "email": "a@example.org",
    "hostname": "example.org",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
    "uri": "https://example.org/a",
    "uri-reference": "/a",
    "uuid": "5b3b6b48-99e7-4be4-906c-9b1f2f76c7bc",
    "regex": "^a$",
    "json-pointer": "/a",
}
_NO_FORMAT = ("not of this format", "(", "2026-13-45")


def texts(parts: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """Strings around every length, pattern and format that `parts` mention."""
    patterns = list(dict.fromkeys(part["pattern"] for part in parts if isinstance(part.get("pattern"), str)))
    for part in parts:
        for keyword in ("minLength", "maxLength"):
            yield from (
                "a" * (part[keyword] + step) for step in (0, -1, 1) if 0 <= part.get(keyword, _LONGEST) < _LONGEST
            )
        if part.get("format") in _FORMATS:
            yield from (_FORMATS[part["format"]], *_NO_FORMAT)
    if patterns:
        yield from _POOL
    yield from (text for pattern in patterns if (text := matching(pattern)) is not None)
    for one, other in itertools.permutations(patterns, 2):
        if (text := matching(one, other)) is not None:
            yield text
    lengths = {
        part[key] + step for part in parts for key in ("minLength", "maxLength") if key in part for step in (0, 1)
    }
    for pattern, length in itertools.product(patterns, sorted(length for length in lengths if 0 < length < _LONGEST)):
        base = matching(pattern) or ""
        yield base + base[-1:] * (length - len(base))
        yield base + "a" * (length - len(base))


@lru_cache(maxsize=1024)
def matching(pattern: str, unlike: str | None = None) -> str | None:
    """A text in which `pattern` is found and `unlike` is not, where one is known or soon found."""
    try:
        found, other = re.compile(pattern).search, re.compile(unlike).search if unlike is not None else None
    except re.error:
        return None
    for text in _POOL:
        if found(text) and not (other and other(text)):
            return text
    return _sought(pattern, unlike)


def _sought(pattern: str, unlike: str | None) -> str | None:
    from hypothesis import HealthCheck, Phase, find, settings
    from hypothesis.errors import HypothesisException
    from hypothesis.strategies import from_regex

    quiet = settings(
        max_examples=200,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    try:
        return find(
            from_regex(pattern),
            lambda text: unlike is None or not re.search(unlike, text),
            settings=quiet,
            random=Random(0),
        )
    except (HypothesisException, UnicodeError):
        return None
