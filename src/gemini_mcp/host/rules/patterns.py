"""Patterns of JavaScript, as Python's `re` reads them. Pure.

Not read: `\\p`, `\\c`, `\\k`, `\\u{…}`, and what looks behind for texts of unequal length. A pattern with one of these
counts as refused.
"""

import re

_SPACE = r"\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What `\\s` is to JavaScript; to `re` it is more than that, or with `re.ASCII` less."""

_WRITTEN = {
    r"\s": f"[{_SPACE}]",
    r"\S": f"[^{_SPACE}]",
    ".": r"[^\n\r\u2028\u2029]",
    # `$` of `re` also stands before a newline that ends the text.
    "$": r"\Z",
    "(?<": "(?P<",
    # Without a first number, braces stand for themselves.
    "{": r"\{",
    "[]": "(?!)",
    "[^]": r"[\s\S]",
}
_PART = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\(\?<(?![=!])|\$|\.|\{(?=,\d*\})", re.DOTALL)

_OTHER = re.compile(r"\(\?(?![:=!]|<[=!])|(?:[*+?]|\{\d+(?:,\d*)?\})\+")
"""What only `re` knows: a group such as `(?i)` or `(?P<name>`, and `a++`, which gives nothing back."""

_ESCAPE = r"\\(?:[bBdDsSwWfnrtv^$\\.*+?()\[\]{}|/]|0(?!\d)|[1-9]\d*|x[\da-fA-F]{2}|u[\da-fA-F]{4})"
_CLASS = rf"\[(?:{_ESCAPE}|\\-|[^\]\\])*\]"
_REPEATED = r"(?:[*+?]|\{\d+(?:,\d*)?\})\??(?![*+?{])"
_GROUP = r"\((?:(?!\?)|\?(?:[:=!]|<[=!]|<\w+>))"
_UNICODE = re.compile(rf"(?:{_ESCAPE}|{_CLASS}|{_GROUP}|{_REPEATED}|[^\\\[\](){{}}*+?]|\))*", re.DOTALL)
"""What JavaScript compiles with the flag `u`: no needless escape such as `\\-`, and no brace that stands for itself."""


class Uncompilable(Exception):
    """JavaScript, or Ajv, refuses the pattern or the schema."""


def compiled(pattern: str, is_unicode: bool = False) -> re.Pattern[str]:
    """The pattern as JavaScript reads it; with the flag `u`, as Ajv sets it, JavaScript refuses more."""
    if is_unicode and _UNICODE.fullmatch(pattern) is None:
        raise Uncompilable
    if _OTHER.search(_PART.sub("x", pattern)) is not None:
        raise Uncompilable
    try:
        return re.compile(_PART.sub(_written, pattern), re.ASCII)
    except re.error:
        raise Uncompilable from None


def _written(found: re.Match[str]) -> str:
    part = found[0]
    if part in _WRITTEN or not part.startswith("["):
        return _WRITTEN.get(part, part)
    # `re` warns of these characters in a class, because a later version may read them as operations on sets.
    inner = re.sub(r"\\.|[\[&~|]", lambda one: {r"\s": _SPACE}.get(one[0], one[0].rjust(2, "\\")), part[1:], flags=re.S)
    return "[" + inner
