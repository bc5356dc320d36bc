"""Documents: what the bytes of a file hold, or why they cannot be read. Pure.

Whatever makes a file unreadable belongs here; what is wrong with a file that can be read is a rule of `lint`.
"""

import json
import math

from gemini_mcp.report.positions import Path, Position, at, locate, repeated
from gemini_mcp.report.values import shown
from gemini_mcp.spec.values import Json, items, table, type_of
from gemini_mcp_spec.files.kinds import kind_of

MOST_BYTES = 10_000_000
_DEEPEST = 64
"""Readers of documents go into them by recursion, which a hostile file could exhaust."""

_BOM = b"\xef\xbb\xbf"
_START = Position(1, 1)
_ARRAYS = ("vector",)
"""The kinds of files that hold an array; all others hold an object."""


class Unreadable(Exception):
    """A file that holds no document: what is wrong with it, where, and whether its text or its JSON is at fault."""

    def __init__(self, message: str, position: Position = _START, rule: str = "json") -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        self.rule = rule


def document(path: str, content: bytes) -> Json:
    """What the file at `path` holds; raises `Unreadable` where it is not one document of its kind."""
    text = _text(content)
    held = _parsed(text)
    if deepest := _too_deep(held):
        raise Unreadable(f"The file nests more than {_DEEPEST} values.", locate(text, deepest))
    wanted = "array" if kind_of(path) in _ARRAYS else "object"
    if type_of(held) != wanted:
        raise Unreadable(f"The file holds a JSON {type_of(held)}, and should hold an {wanted}.")
    return held


def _text(content: bytes) -> str:
    if len(content) > MOST_BYTES:
        raise Unreadable(f"The file is longer than {MOST_BYTES} bytes.", rule="text")
    if content.startswith(_BOM):
        raise Unreadable("The file begins with a byte order mark (BOM).", rule="text")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        position = at(content.decode("utf-8", "replace"), len(content[: error.start].decode("utf-8", "replace")))
        raise Unreadable(f"Byte {error.start} is no UTF-8.", position, "text") from None


def _parsed(text: str) -> Json:
    twice: list[str] = []

    def members(pairs: list[tuple[str, Json]]) -> Json:
        # Counted here, where it costs nothing; the place is sought only in a file that has a key twice.
        held = dict(pairs)
        if len(held) < len(pairs):
            twice.append("")
        return held

    def constant(name: str) -> Json:
        raise Unreadable(f"The file is no JSON: {name} is no JSON value.", at(text, text.find(name)))

    try:
        held = json.loads(
            text, object_pairs_hook=members, parse_constant=constant, parse_float=_number, parse_int=_number
        )
    except json.JSONDecodeError as error:
        said = error.msg.replace("'", "`")
        raise Unreadable(f"The file is no JSON: {said}.", Position(error.lineno, error.colno)) from None
    except (ValueError, OverflowError):
        raise Unreadable("The file holds a number that is larger than most programs can read.") from None
    except RecursionError:
        raise Unreadable(f"The file nests more than {_DEEPEST} values.") from None
    for key, offset in repeated(text) if twice else ():
        raise Unreadable(f"An object holds the key {shown(key)} twice, and only the last one counts.", at(text, offset))
    return held


def _number(digits: str) -> int | float:
    value = int(digits) if digits.lstrip("-").isdigit() else float(digits)
    # JSON allows any number; most programs read doubles.
    if not math.isfinite(float(value)):
        raise OverflowError
    return value


def _too_deep(value: Json) -> Path | None:
    """The path of a value that lies too deep, where there is one."""
    waiting: list[tuple[Path, Json]] = [((), value)]
    while waiting:
        path, inner = waiting.pop()
        if len(path) > _DEEPEST:
            return path
        members = [*table(inner).items(), *enumerate(items(inner))]
        waiting += [((*path, name), held) for name, held in members if isinstance(held, dict | list)]
    return None
