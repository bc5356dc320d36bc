"""Printable: makes text of a port safe to show; pure.

A port can write any text, and reports show it in terminals, in logs that obey commands, in XML and in pages. So control
characters, lone surrogates, marks that change the direction of writing, and what XML forbids are written as escapes.
"""

import re

_ACTS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def printable(text: str) -> str:
    """`text` with these characters escaped; tabs and newlines stay."""
    return _ACTS.sub(_escape, text)


def one_line(text: str, width: int | None = None) -> str:
    """The same on one line, cut to `width` characters."""
    line = printable(text).replace("\t", "\\t").replace("\n", "\\n")
    return line if width is None or len(line) <= width else f"{line[: width - 1]}…"


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
