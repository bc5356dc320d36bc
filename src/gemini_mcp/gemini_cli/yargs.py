"""Reads a command line with a table of options, as the parser of yargs 17 does. Pure.

Gemini CLI reads its arguments with that parser, in its default configuration. Only what options of the kinds in Option
need is taken over from yargs-parser 21; what a value means is for understanding.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import Literal

Scalar = str | bool
Value = Scalar | list[Scalar]

ANY = "[^\n\r\u2028\u2029]"
"""The dot of a JavaScript pattern. `$` is written `\\Z`: only there does it end the string."""

NEGATIVE = re.compile(r"^-([0-9]+(\.[0-9]+)?|\.[0-9]+)\Z")
NEGATION = re.compile(rf"^--no-({ANY}+)")
DASHES_ONLY = re.compile(r"^---+(=|\Z)")
LONG_WITH_VALUE = re.compile(rf"^--{ANY}+=")
LONG = re.compile(rf"^--{ANY}+")
KEY_AND_VALUE = re.compile(r"^--?([^=]+)=([\s\S]*)\Z")
KEY = re.compile(rf"^--?({ANY}+)")
DOTTED_WITH_VALUE = re.compile(rf"^-{ANY}\.{ANY}+=")
DOTTED = re.compile(rf"^-({ANY}\.{ANY}+)")
CLUSTER = re.compile(r"^-[^-]+")
NUMBER_AFTER_LETTER = re.compile(r"^-?[0-9]+(\.[0-9]*)?(e-?[0-9]+)?\Z")
NOT_A_WORD = re.compile(r"[^A-Za-z0-9_]")
DECIMAL = re.compile(r"^-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]+)?\Z")
HEXADECIMAL = re.compile(r"^0x[0-9a-f]+\Z", re.IGNORECASE)
LARGEST_SAFE = 2**53 - 1
"""`Number.MAX_SAFE_INTEGER`: yargs leaves larger numbers as they are written."""


@dataclass(frozen=True)
class Option:
    """One option: `boolean` takes no value, `string` one or none, `one` exactly one, `array` one each time."""

    name: str
    kind: Literal["boolean", "string", "one", "array"]
    letter: str | None = None

    def spellings(self) -> Iterable[str]:
        head, *tail = self.name.split("-")
        camel = head + "".join(part.capitalize() for part in tail)
        return {self.name, camel, *([self.letter] if self.letter else [])}


@dataclass
class Parsed:
    """The values by the name of their option, unknown keys as they were written, what is no option, the last error."""

    values: dict[str, Value] = field(default_factory=dict[str, Value])
    unknown: list[str] = field(default_factory=list[str])
    positionals: list[str] = field(default_factory=list[str])
    error: str | None = None


def parse(argv: Sequence[str], options: Iterable[Option]) -> Parsed:
    """Parse `argv`, without the program's name. What follows `--` is dropped, as yargs drops it for gemini."""
    parser = _Parser(argv, _by_spelling(tuple(options)))
    parser.run()
    return parser.parsed


@cache
def _by_spelling(options: tuple[Option, ...]) -> Mapping[str, Option]:
    return {spelling: option for option in options for spelling in option.spellings()}


def number(text: str) -> float | None:
    """The number that yargs makes of a positional, if it takes it for one."""
    if HEXADECIMAL.match(text):
        return float(int(text, 16)) if len(text) < 200 else math.inf
    # yargs takes `007` for a text, since a number would lose its zeros.
    if re.match(r"^0[^.]", text) or not DECIMAL.match(text):
        return None
    value = float(text)
    return value if abs(value // 1) <= LARGEST_SAFE else None


def number_text(value: float) -> str:
    """A number as JavaScript prints it."""
    if math.isinf(value):
        return "Infinity"
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        return format(abs(Decimal(repr(value))) if value == 0 else Decimal(repr(value)), "f").removesuffix(".0")
    digits, _, exponent = repr(value).partition("e")
    return f"{digits}e{int(exponent):+d}"


class _Parser:
    """A parse on its way: `at` is the position in `argv`. What `eat` takes is behind an option, and not read again."""

    def __init__(self, argv: Sequence[str], options: Mapping[str, Option]) -> None:
        self.argv = argv
        self.options = options
        self.parsed = Parsed()
        self.at = 0

    def run(self) -> None:
        while self.at < len(self.argv):
            argument = self.argv[self.at]
            if argument == "--":
                return
            self.take(argument)
            self.at += 1

    def take(self, argument: str) -> None:
        if DASHES_ONLY.match(argument):
            self.parsed.positionals.append(argument)
        elif LONG_WITH_VALUE.match(argument):
            if match := KEY_AND_VALUE.match(argument):
                self.take_with_value(match[1], match[2], is_long=True)
        elif match := NEGATION.match(argument):
            self.set(match[1], [False] if self.kind(match[1]) == "array" else False)
        elif LONG.match(argument) and (match := KEY.match(argument)):
            self.take_key(match[1], is_long=True)
        elif DOTTED_WITH_VALUE.match(argument) and (match := re.match(r"^-([^=]+)=([\s\S]*)\Z", argument)):
            self.set(match[1], match[2])
        elif (match := DOTTED.match(argument)) and not NEGATIVE.match(argument):
            self.take_dotted(match[1])
        elif CLUSTER.match(argument) and not NEGATIVE.match(argument):
            self.take_cluster(argument)
        else:
            self.parsed.positionals.append(argument)

    def kind(self, key: str) -> str | None:
        return option.kind if (option := self.options.get(key)) else None

    def next(self) -> str | None:
        return self.argv[self.at + 1] if self.at + 1 < len(self.argv) else None

    def take_with_value(self, key: str, value: str, *, is_long: bool) -> None:
        if self.kind(key) == "array":
            self.eat_array(key, value)
        else:
            self.set(key, _unquoted(value) if is_long and self.kind(key) != "one" else value)

    def take_key(self, key: str, *, is_long: bool) -> None:
        if self.kind(key) == "array":
            self.eat_array(key, None)
        elif self.kind(key) == "one":
            self.eat_one(key)
        elif (following := self.next()) is not None and self.is_value(key, following, is_long):
            self.eat(key, following)
        else:
            self.set(key, self.default(key))

    def is_value(self, key: str, following: str, is_long: bool) -> bool:
        if following in ("true", "false"):
            return True
        is_option = following.startswith("-") if is_long else re.match(r"^(-|--)[^-]", following)
        return self.kind(key) != "boolean" and (not is_option or NEGATIVE.match(following) is not None)

    def take_dotted(self, key: str) -> None:
        following = self.next()
        if following is not None and not following.startswith("-") and self.kind(key) != "boolean":
            self.eat(key, following)
        else:
            self.set(key, self.default(key))

    def take_cluster(self, argument: str) -> None:
        for index, letter in enumerate(argument[1:-1]):
            rest = argument[index + 2 :]
            if rest.startswith("=") and len(rest) > 1:
                self.take_with_value(letter, rest[1:], is_long=False)
                return
            if rest == "-":
                self.set(letter, rest)
            elif self.is_number_of(letter, rest) or (len(rest) > 1 and NOT_A_WORD.match(rest)):
                self.set(letter, rest)
                return
            else:
                self.set(letter, self.default(letter))
        if argument[-1] != "-":
            self.take_key(argument[-1], is_long=False)

    def is_number_of(self, letter: str, rest: str) -> bool:
        is_letter = re.match("[A-Za-z]", letter) is not None
        return is_letter and NUMBER_AFTER_LETTER.match(rest) is not None and self.kind(rest) != "boolean"

    def eat_one(self, key: str) -> None:
        following = self.next()
        if following is None or (re.match(r"^-[^0-9]", following) and not NEGATIVE.match(following)):
            self.parsed.error = f"Not enough arguments following: {key}"
        else:
            self.eat(key, following)

    def eat(self, key: str, following: Value) -> None:
        self.set(key, following)
        self.at += 1

    def eat_array(self, key: str, value: str | None) -> None:
        following = self.next()
        if value is not None and (value or following is not None):
            self.set(key, [_unquoted(value)])
        elif value is None and following is not None and (following[:1] != "-" or NEGATIVE.match(following)):
            self.eat(key, [following])
        else:
            self.parsed.error = f"Not enough arguments following: {key}"

    def default(self, key: str) -> Value:
        return {"string": "", "one": "", "array": list[Scalar]()}.get(self.kind(key) or "", True)

    def set(self, key: str, value: Value) -> None:
        option = self.options.get(key)
        if key == "_":
            self.parsed.positionals += [_text(item) for item in _listed(value)]
            return
        if option is None:
            self.set_unknown(key)
            return
        if option.kind == "boolean":
            self.parsed.values[option.name] = value == "true" if isinstance(value, str) else value
            return
        if option.kind == "array":
            value = _listed(value)
        if (old := self.parsed.values.get(option.name)) is not None:
            value = [*_listed(old), *_listed(value)]
        self.parsed.values[option.name] = value

    def set_unknown(self, key: str) -> None:
        root = self.options.get(key.split(".")[0])
        if root is not None and root.kind == "boolean":
            self.parsed.values[root.name] = True
        elif root is not None:
            # yargs reads `--model.a x` as an object under `model`.
            self.parsed.error = f"The option {root.name} is given as the object {key}"
        elif key not in self.parsed.unknown:
            self.parsed.unknown.append(key)


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] in ("'", '"') and value[-1] == value[0]
    return value[1:-1] if is_quoted else value


def _listed(value: Value) -> list[Scalar]:
    return value if isinstance(value, list) else [value]


def _text(value: Scalar) -> str:
    return value if isinstance(value, str) else str(value).lower()
