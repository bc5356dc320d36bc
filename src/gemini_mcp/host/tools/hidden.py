"""Text that a person does not see and a model reads: invisible characters, and orders in descriptions. Pure.

It finds candidates for a reader to judge; that nothing is found proves nothing.
"""

import json
import re
import unicodedata
from collections.abc import Iterator

from gemini_mcp.spec.values import Json, items, table

_VISIBLE_CONTROLS = "\n\r\t"
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_JOINERS = "\u200c\u200d\ufe0e\ufe0f"
"""Characters that emoji and several scripts need; they count only beside plain ASCII."""

_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+|the\s+)?(?:previous|prior|other|earlier|above)\b"
    r"|\b(?:do\s+not|don't|never)\s+(?:tell|mention|inform|reveal|show)\b.{0,40}\buser\b"
    r"|\bsystem\s+prompt\b|<\s*/?\s*(?:important|system|secret)\s*>",
    re.IGNORECASE | re.DOTALL,
)
_COMMANDING = re.compile(r"\b(?:must|always|never|before|instead of|after)\b", re.IGNORECASE)


def texts(value: Json, at: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a value, names of members too, with its place."""
    if isinstance(value, str):
        yield at, value
    for name, inner in table(value).items():
        yield f"{at}.{name}".removeprefix("."), name
        yield from texts(inner, f"{at}.{name}".removeprefix("."))
    for index, inner in enumerate(items(value)):
        yield from texts(inner, f"{at}[{index}]")


def invisible(text: str) -> tuple[str, ...]:
    """The code points of the text that are not seen, each once."""
    found = (character for place, character in enumerate(text) if _is_invisible(text, place))
    return tuple(dict.fromkeys(f"U+{ord(character):04X}" for character in found))


def visible(text: str) -> str:
    """The text with what nobody sees written as JSON writes it, so that a terminal or a review shows it."""
    if text.isascii() and _CONTROL.search(text) is None:
        return text
    return "".join(
        _escaped(character) if _is_invisible(text, place) else character for place, character in enumerate(text)
    )


def printed(text: str) -> str:
    """The text as a terminal may get it: nothing in it moves the cursor, changes the colour or turns the direction."""
    return visible(text.replace("\r\n", "\n")).replace("\r", "\\r")


def _escaped(character: str) -> str:
    # JSON leaves DEL as it is.
    return "\\u007f" if character == "\x7f" else json.dumps(character)[1:-1]


def orders(text: str, foreign: frozenset[str]) -> str | None:
    """The words of the text that give an order to a model, or speak of tools that belong to others."""
    match = _ORDERS.search(text)
    if match is not None:
        return match.group()
    # A name without `_`, such as `glob`, may just be a word.
    named = next((name for name in re.findall(r"[\w.-]+", text) if "_" in name and name in foreign), None)
    return named if named is not None and _COMMANDING.search(text) else None


def _is_invisible(text: str, place: int) -> bool:
    character = text[place]
    # Between two ASCII characters a joiner joins nothing that could be seen.
    if character in _JOINERS:
        return text[place - 1 : place].isascii() and text[place + 1 : place + 2].isascii()
    is_selector = "\ufe00" <= character <= "\ufe0f" or "\U000e0000" <= character <= "\U000e01ef"
    kind = unicodedata.category(character)
    is_control = kind == "Cc" and character not in _VISIBLE_CONTROLS
    # Cf has the tags and marks of direction; the last four are letters of Hangul without a shape.
    return is_selector or is_control or kind in ("Cf", "Cs", "Zl", "Zp") or character in "\u115f\u1160\u3164\uffa0"
