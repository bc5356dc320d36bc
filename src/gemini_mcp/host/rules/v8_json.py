"""The message of the error with which `JSON.parse` of Node 20 refuses a text. Pure."""

import re

from gemini_mcp.host.rules.javascript import units

_CONTEXT = 10
"""Characters that V8 shows on each side of a fault."""

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_LITERALS = {"t": "true", "f": "false", "n": "null"}


class _Refused(Exception):
    """The message."""


def complaint(text: str) -> str | None:
    """What is wrong with the text; nothing when it is JSON. A lone surrogate is shown as U+FFFD."""
    # V8 counts positions in UTF-16 code units.
    said = _complaint("".join(units(text)))
    return None if said is None else said.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _complaint(text: str) -> str | None:
    try:
        end = _space(text, _value(text, _space(text, 0)))
        if end < len(text):
            raise _Refused(f"Unexpected non-whitespace character after JSON at position {end}")
    except _Refused as refused:
        return str(refused)
    except RecursionError:
        return "Maximum call stack size exceeded"
    return None


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int) -> int:
    """The place after the value that begins there."""
    if at >= len(text):
        raise _Refused("Unexpected end of JSON input")
    first = text[at]
    if first == "{":
        return _object(text, at)
    if first == "[":
        return _array(text, at)
    if first == '"':
        return _string(text, at)
    if first == "-" or first.isdecimal():
        return _number(text, at)
    word = _LITERALS.get(first, "")
    if not word:
        raise _unexpected(text, at)
    for index, letter in enumerate(word):
        if text[at + index : at + index + 1] != letter:
            raise _unexpected(text, at + index)
    return at + len(word)


def _object(text: str, at: int) -> int:
    at = _space(text, at + 1)
    if text[at : at + 1] == "}":
        return at + 1
    wanted = "Expected property name or '}'"
    while True:
        if text[at : at + 1] != '"':
            raise _Refused(f"{wanted} in JSON at position {at}")
        at = _space(text, _string(text, at))
        if text[at : at + 1] != ":":
            # V8 has this sentence for the first name of an object only.
            is_first = wanted.endswith("'}'")
            expected = _Refused(f"Expected ':' after property name in JSON at position {at}")
            raise expected if is_first else _unexpected(text, at)
        at = _space(text, _value(text, _space(text, at + 1)))
        if text[at : at + 1] == "}":
            return at + 1
        if text[at : at + 1] != ",":
            raise _Refused(f"Expected ',' or '}}' after property value in JSON at position {at}")
        at, wanted = _space(text, at + 1), "Expected double-quoted property name"


def _array(text: str, at: int) -> int:
    at = _space(text, at + 1)
    if text[at : at + 1] == "]":
        return at + 1
    while True:
        at = _space(text, _value(text, at))
        if text[at : at + 1] == "]":
            return at + 1
        if text[at : at + 1] != ",":
            raise _Refused(f"Expected ',' or ']' after array element in JSON at position {at}")
        at = _space(text, at + 1)


def _string(text: str, at: int) -> int:
    at += 1
    while at < len(text) and text[at] != '"':
        if text[at] < " ":
            raise _Refused(f"Bad control character in string literal in JSON at position {at}")
        if text[at] == "\\":
            at += 1
            escape = text[at : at + 1]
            if escape == "u" and not re.fullmatch(r"[0-9a-fA-F]{4}", text[at + 1 : at + 5]):
                bad = next(
                    place for place in range(at + 1, at + 6) if not re.match(r"[0-9a-fA-F]", text[place : place + 1])
                )
                raise _Refused(f"Bad Unicode escape in JSON at position {bad}")
            if escape not in '"\\/bfnrtu' and escape:
                raise _Refused(f"Bad escaped character in JSON at position {at}")
        at += 1
    if at >= len(text):
        raise _Refused(f"Unterminated string in JSON at position {len(text)}")
    return at + 1


def _number(text: str, at: int) -> int:
    match = _NUMBER.match(text, at)
    if match is None:
        raise _Refused(f"No number after minus sign in JSON at position {at + 1}")
    end, rest = match.end(), text[match.end() : match.end() + 1]
    if rest == ".":
        raise _Refused(f"Unterminated fractional number in JSON at position {end + 1}")
    if rest in ("e", "E"):
        sign = 1 if text[end + 1 : end + 2] in ("+", "-") else 0
        raise _Refused(f"Exponent part is missing a number in JSON at position {end + 1 + sign}")
    if rest.isdecimal() and rest:
        raise _Refused(f"Unexpected number in JSON at position {end}")
    return end


def _unexpected(text: str, at: int) -> _Refused:
    if at >= len(text):
        return _Refused("Unexpected end of JSON input")
    if text[at] == '"' or text[at] in "-0123456789":
        return _Refused(f"Unexpected {'string' if text[at] == chr(34) else 'number'} in JSON at position {at}")
    token = f"Unexpected token '{text[at]}', "
    if len(text) <= 2 * _CONTEXT:
        return _Refused(f'{token}"{text}" is not valid JSON')
    start, end = max(0, at - _CONTEXT), at + _CONTEXT
    if at < _CONTEXT:
        return _Refused(f'{token}"{text[:end]}"... is not valid JSON')
    if at >= len(text) - _CONTEXT:
        return _Refused(f'{token}..."{text[start:]}" is not valid JSON')
    return _Refused(f'{token}..."{text[start:end]}"... is not valid JSON')
