"""JavaScript as far as Gemini CLI's behaviour shows it: lengths, JSON texts, templates, sort order. Pure.

Only what an observed behaviour needs belongs here.
"""

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator

from gemini_mcp.spec.values import SURROGATE, Json, JsonObject, items, list_of, object_of, table

_COLLATION = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789"
"""Punctuation and digits in the order of ICU's root collation, which `localeCompare` of Node uses."""


SPACES = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
"""What `\\s` and `trim` take for space."""


_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")

_LARGEST_EXACT = 2**53

STACK = 20_000
"""Frames of Python in which values of thousands of levels can be walked, as the stack of V8 lets Gemini CLI do."""

LINE_ENDS = r"\n\r\u2028\u2029"
"""What `.` does not stand for in a regular expression."""


PROTOTYPE = "__proto__"
"""To put a value under this name into an object of JavaScript by its brackets changes no member of it."""

INHERITED = frozenset(
    (
        *(PROTOTYPE, "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString"),
        *("toString", "valueOf", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"),
    )
)
"""Names that every object of JavaScript has a member for."""


class Undefined:
    """The value of a property that is not there, which JavaScript prints as `undefined`."""


UNDEFINED = Undefined()


def length(text: str) -> int:
    """The length of the text in UTF-16 code units."""
    return len(text) + sum(1 for character in text if ord(character) > 0xFFFF)


def units(text: str) -> Iterator[str]:
    """The UTF-16 code units of the text, each as one character."""
    data = text.encode("utf-16-le", "surrogatepass")
    return (chr(int.from_bytes(data[place : place + 2], "little")) for place in range(0, len(data), 2))


def joined(text: str) -> str:
    """The text that these UTF-16 code units are."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def cut_units(text: str, start: int, end: int) -> str:
    """The text between two places, counted in UTF-16 code units; a cut inside a pair leaves a lone surrogate."""
    units = text.encode("utf-16-le", "surrogatepass")[2 * start : 2 * end]
    return units.decode("utf-16-le", "surrogatepass")


def number_of_text(text: str) -> float:
    """`Number(text)` of a text that is a number."""
    bare = trim(text)
    return int(bare, 0) if bare[:2].lower() in ("0x", "0o", "0b") else float(bare)


def number_text(number: float) -> str:
    """The number as `String(number)` writes it."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    if float(number).is_integer() and abs(number) < 1e21:
        digits, _, power = repr(float(number)).partition("e")
        return f"{int(float(number))}" if not power else _padded(digits, int(power))
    return _exponent(repr(float(number)))


def _padded(mantissa: str, power: int) -> str:
    """A whole number that Python writes with an exponent; after its shortest digits JavaScript writes zeros."""
    whole, _, fraction = mantissa.partition(".")
    return whole + fraction.ljust(power, "0")


def _exponent(text: str) -> str:
    mantissa, mark, exponent = text.partition("e")
    mantissa = mantissa.removesuffix(".0")
    if not mark:
        return mantissa
    power = int(exponent)
    # JavaScript writes exponents from 21 up and from -7 down, Python from 16 and from -5.
    if -7 < power < 0:
        digits = mantissa.replace(".", "").lstrip("-")
        return f"{'-' if mantissa.startswith('-') else ''}0.{'0' * (-power - 1)}{digits}"
    return f"{mantissa}e{'+' if power > 0 else '-'}{abs(power)}"


def stringify(value: Json, indent: int | str | None = None) -> str:
    """The text of `JSON.stringify(value, null, indent)`."""
    step = indent if isinstance(indent, str) else " " * (indent or 0)
    return _written(value, step, "\n" if step else "")


def _written(value: Json, step: str, line: str) -> str:
    """The text of a value; `line` begins a line of what surrounds it, and is empty where all stays on one."""
    members, listed = object_of(value), items(value)
    inner = line + step
    if members is not None:
        colon = ": " if line else ":"
        kept = ((key, members[key]) for key in in_key_order(members) if not isinstance(members[key], Undefined))
        written = [f"{_quoted(key)}{colon}{_written(member, step, inner)}" for key, member in kept]
        return f"{{{inner}{f',{inner}'.join(written)}{line}}}" if written else "{}"
    if isinstance(value, list | tuple):
        return f"[{inner}{f',{inner}'.join(_written(item, step, inner) for item in listed)}{line}]" if listed else "[]"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "null"
    return "null" if isinstance(value, Undefined) else template(value)


def _quoted(text: str) -> str:
    # Since ES2019 `JSON.stringify` writes lone surrogates as escapes.
    return SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", json.dumps(text, ensure_ascii=False))


def template(value: Json) -> str:
    """What `${value}` puts into a template string."""
    if isinstance(value, Undefined):
        return "undefined"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return number_text(value)
    listed = list_of(value)
    if listed is not None:
        return ",".join("" if item is None else template(item) for item in listed)
    return value if isinstance(value, str) else "[object Object]"


def truthy(value: Json) -> bool:
    """Whether JavaScript takes the value for true; empty arrays and objects are."""
    if isinstance(value, list | dict):
        return True
    return not isinstance(value, Undefined) and bool(value)


def entries(value: Json) -> JsonObject:
    """What `Object.entries` lists of the value."""
    if isinstance(value, str):
        return {str(place): unit for place, unit in enumerate(units(value))}
    listed = list_of(value)
    return {str(place): one for place, one in enumerate(listed)} if listed is not None else dict(table(value))


def in_key_order(names: Iterable[str]) -> list[str]:
    """Names of properties as JavaScript orders them: array indices by size, then the others as they came."""
    listed = list(names)
    # ECMA-262: an array index is less than 2^32 - 1, and written without leading zeros.
    indices = {name for name in listed if _INDEX.fullmatch(name) and int(name) < 2**32 - 1}
    return [*sorted(indices, key=int), *(name for name in listed if name not in indices)] if indices else listed


def as_parsed(value: Json) -> Json:
    """The value as JavaScript holds it once it has parsed it: its order of keys, and numbers that are doubles."""
    members, listed = object_of(value), list_of(value)
    if members is not None:
        return {key: as_parsed(members[key]) for key in in_key_order(members)}
    if listed is not None:
        return [as_parsed(item) for item in listed]
    return value if isinstance(value, bool) or not isinstance(value, int | float) else _double(value)


def _double(number: float) -> float:
    """The number that JavaScript writes for this one; a whole one is an integer, and minus zero is zero."""
    if isinstance(number, int) and abs(number) <= _LARGEST_EXACT:
        return number
    try:
        text = number_text(float(number))
    except OverflowError:
        return math.inf if number > 0 else -math.inf
    return int(text) if text.lstrip("-").isdecimal() else float(text.replace("Infinity", "inf"))


def trim(text: str) -> str:
    """`text.trim()`: other characters count as space than in Python."""
    return text.strip(SPACES)


def replace_first(text: str, part: str, replacement: str) -> str:
    """`text.replace(part, replacement)`, with the patterns `$$`, `$&`, `` $` `` and `$'` of the replacement."""
    before, found, after = text.partition(part)
    if not found:
        return text
    meaning = {"$$": "$", "$&": part, "$`": before, "$'": after}
    return before + re.sub(r"\$[$&`']", lambda match: meaning[match.group()], replacement) + after


def locale_key(text: str) -> tuple[list[tuple[int, str]], list[str], list[bool]]:
    """A sort key close to `localeCompare`: letters before their case, accents between."""
    plain = [character for character in unicodedata.normalize("NFD", text) if not unicodedata.combining(character)]
    marks = [character for character in unicodedata.normalize("NFD", text) if unicodedata.combining(character)]
    return [_rank(character) for character in plain], marks, [character.isupper() for character in plain]


def _rank(character: str) -> tuple[int, str]:
    place = _COLLATION.find(character)
    if character.isspace():
        return (0, character)
    if place < 0 and unicodedata.category(character)[0] in "SP":
        return (1, f"{_COLLATION.index('$') - 1:03d}{character}")
    return (1, f"{place:03d}") if place >= 0 else (2, character.casefold())
