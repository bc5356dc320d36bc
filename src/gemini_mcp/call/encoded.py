"""Text that stays in UTF-8: printed bytes in, text for the search in them and texts of its values out. Pure.

One emoji makes each copy of a text take four bytes a character in Python. So what gemini has printed is searched as
Latin-1, a character a byte, and a long answer stays encoded until it is sent. Only what lies between bytes and texts
belongs here.
"""

import codecs
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from gemini_mcp.call.surrogates import without_surrogates
from gemini_mcp.spec.values import Json

Printed: TypeAlias = bytes | bytearray
"""What gemini has printed."""

PIECE = 1 << 16
"""Bytes that are decoded at once, and characters that are encoded."""

ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
ASCII_ENCODER = json.JSONEncoder(separators=(",", ":"))

WIDE_ESCAPE = re.compile(rb"\\u(?!00[0-7])")
"""The beginning of an escape of a character that is not ASCII, unless its backslash is itself escaped."""

BACKSLASH = ord("\\")


@dataclass(frozen=True)
class Utf8:
    """A long text of a result."""

    data: bytes

    def pieces(self) -> Iterator[str]:
        """The text, a piece at a time; invalid UTF-8 becomes U+FFFD."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        for start in range(0, len(self.data), PIECE):
            yield decoder.decode(self.data[start : start + PIECE], start + PIECE >= len(self.data))

    def __str__(self) -> str:
        return self.data.decode("utf-8", "replace")


@dataclass(frozen=True)
class Reading:
    """How an output is decoded while JSON is looked for in it."""

    encoding: Literal["latin-1", "utf-8"]

    @classmethod
    def of(cls, printed: Printed | memoryview) -> "Reading":
        """The narrow one, unless the output holds escapes of characters that are not ASCII."""
        return cls("utf-8" if any(_is_escape(printed, match) for match in WIDE_ESCAPE.finditer(printed)) else "latin-1")

    def text(self, printed: Printed | memoryview) -> str:
        """The output as text."""
        return str(printed, self.encoding, "replace")

    def name(self, key: str) -> str:
        """How a key stands in the text."""
        return key.encode("utf-8", "replace").decode(self.encoding)

    def data(self, value: str) -> bytes:
        """The UTF-8 of a value that was found in the text."""
        return (without_surrogates(value) if self.encoding == "utf-8" else value).encode(self.encoding)

    def value(self, value: Json) -> Json:
        """A value that was found in the text, with what its texts say."""
        match value:
            case str():
                return str(Utf8(self.data(value)))
            case list():
                return [self.value(item) for item in cast("list[Json]", value)]
            case dict():
                return {self.value(key): self.value(item) for key, item in cast("dict[str, Json]", value).items()}
            case _:
                return value


AS_IT_IS = Reading("utf-8")
"""How values are read that were decoded before."""


def _is_escape(printed: Printed | memoryview, match: re.Match[bytes]) -> bool:
    start = match.start()
    while start and printed[start - 1] == BACKSLASH:
        start -= 1
    return (match.start() - start) % 2 == 0


def whole(value: Json) -> Json:
    """The value with each of its texts in one piece."""
    match value:
        case Utf8():
            return str(value)
        case list():
            return [whole(item) for item in cast("list[Json]", value)]
        case dict():
            return {key: whole(item) for key, item in cast("dict[str, Json]", value).items()}
        case _:
            return value


def written(value: Json) -> bytearray:
    """The JSON of a value in UTF-8."""
    data = bytearray()
    for piece in _pieces(value):
        data += piece
    return data


def _pieces(value: Json) -> Iterator[bytes]:
    """The JSON of a value. A long text comes in pieces, since one emoji makes each copy of it so wide."""
    if not _is_long(value):
        yield _json(value)
        return
    match value:
        case dict():
            yield b"{"
            for number, (name, item) in enumerate(cast("Mapping[str, Json]", value).items()):
                yield (b"," if number else b"") + _json(name) + b":"
                yield from _pieces(item)
            yield b"}"
        case list():
            yield b"["
            for number, item in enumerate(cast("Sequence[Json]", value)):
                yield b"," if number else b""
                yield from _pieces(item)
            yield b"]"
        case _:
            yield b'"'
            for piece in value.pieces() if isinstance(value, Utf8) else _cut(value):
                yield _json(piece)[1:-1]
            yield b'"'


def _cut(text: str) -> Iterator[str]:
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))


def _is_long(value: Json) -> bool:
    """Whether a text of the value is long."""
    if isinstance(value, str):
        return len(value) > PIECE
    if isinstance(value, dict):
        return any(map(_is_long, cast("Mapping[str, Json]", value).values()))
    if isinstance(value, list):
        return any(map(_is_long, cast("Sequence[Json]", value)))
    return isinstance(value, Utf8)


def _json(value: Json) -> bytes:
    """The JSON of a small value. Where it has lone surrogates, which UTF-8 cannot encode, it is written in escapes."""
    try:
        return ENCODER.encode(value).encode("utf-8")
    except UnicodeEncodeError:
        return ASCII_ENCODER.encode(value).encode("ascii")
