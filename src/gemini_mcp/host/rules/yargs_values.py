"""The values that options of a command line have, put together as yargs-parser does. Pure.

A value that is there but undefined is None. How the words are read is in `yargs`.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gemini_mcp.host.rules.javascript import number_of_text, trim
from gemini_mcp.spec.values import Json, list_of, object_of

_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)(e[-+]?\d+)?\Z", re.ASCII)


@dataclass(frozen=True)
class Options:
    """What a command declares: its options by kind, their other names and their defaults."""

    names: tuple[str, ...] = ()
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    booleans: frozenset[str] = frozenset()
    strings: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    arrays: frozenset[str] = frozenset()
    single: frozenset[str] = frozenset()
    """Those that take one value at a time."""

    defaults: Mapping[str, Json] = field(default_factory=dict[str, Json])
    keeps_unknown: bool = False
    """Whether options that nobody declared are words."""


def camel_case(text: str) -> str:
    """The name of an option without its hyphens."""
    # A name that is all upper or all lower case loses its case; in any other, capitals stay.
    if text in (text.lower(), text.upper()):
        text = text.lower()
    if "-" not in text and "_" not in text:
        return text
    first = len(text) - len(text.lstrip("-"))
    name, is_next_upper = "", False
    for place, letter in enumerate(text[first:], first):
        if letter in "-_":
            is_next_upper = is_next_upper or place != 0
        else:
            name += letter.upper() if is_next_upper else letter
            is_next_upper = False
    return name


def number(value: Json) -> Json:
    """`Number(value)`."""
    if isinstance(value, bool) or not isinstance(value, str):
        return value if isinstance(value, int | float) and not isinstance(value, bool) else int(bool(value))
    bare = trim(value)
    if bare in ("Infinity", "+Infinity", "-Infinity"):
        return -math.inf if bare[0] == "-" else math.inf
    if not re.fullmatch(
        r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", bare, re.ASCII
    ):
        return math.nan if bare else 0
    found = float(number_of_text(bare))
    return int(found) if math.isfinite(found) and found.is_integer() else found


def maybe_number(word: str) -> Json:
    """The number that the word looks like, or the word."""
    return number(word) if _looks_like_number(word) and _is_safe(word) else word


def _looks_like_number(value: Json) -> bool:
    if not isinstance(value, str):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if re.match(r"0x[0-9a-f]+\Z", value, re.IGNORECASE):
        return True
    return not re.match(r"0[^.]", value) and _NUMBER.match(value) is not None


def _is_safe(value: Json) -> bool:
    if isinstance(value, str) and value[:2].lower() == "0x":
        # `parseFloat` stops at the x, and so finds a zero.
        return True
    found = float(value)
    return math.isfinite(found) and abs(math.floor(found)) < 2**53


class Values:
    """The values by name and, under `_`, the words that belong to no option."""

    def __init__(self, options: Options, reads_numbers: bool) -> None:
        self.options = options
        self.reads_numbers = reads_numbers
        self.held: dict[str, Json] = {"_": []}
        self.aliases: dict[str, list[str]] = {}
        self.new_aliases: set[str] = set()
        self._gather_aliases()
        self.defaults = dict(options.defaults)
        for name in options.defaults:
            self.defaults |= dict.fromkeys(self.aliases.get(name, ()), options.defaults[name])
        kinds = (options.booleans, options.strings, options.numbers, options.arrays, options.single)
        self._declared: frozenset[str] = frozenset[str]().union(*kinds)

    def _gather_aliases(self) -> None:
        for name in (*self.options.names, *self.options.aliases, *self.options.defaults, *self.options.arrays):
            if name in self.aliases:
                continue
            group = [*self.options.aliases.get(name, ())]
            for spelling in (*group, name):
                self._respell(group, name, camel_case(spelling) if "-" in spelling else spelling)
            for spelling in (*group, name):
                if len(spelling) > 1 and re.search("[A-Z]", spelling):
                    self._respell(group, name, re.sub(r"(?<!^)([A-Z])", r"-\1", spelling).lower())
            self.aliases[name] = group
            for alias in group:
                self.aliases[alias] = [name, *(other for other in group if other != alias)]

    def _respell(self, group: list[str], name: str, spelling: str) -> None:
        if spelling != name and spelling not in group:
            group.append(spelling)
            self.new_aliases.add(spelling)

    def is_known(self, name: str) -> bool:
        """Whether the name stands for an option that was declared, or was made up before."""
        return name in self.aliases or name in self._declared

    def is_a(self, name: str, kind: frozenset[str]) -> bool:
        """Whether the option is of the kind by any of its names."""
        return name in kind or any(alias in kind for alias in self.aliases.get(name, ()))

    def default(self, name: str) -> Json:
        """The value of an option that was given none."""
        if not self.is_a(name, self.options.booleans) and name in self.defaults:
            return self.defaults[name]
        if self.is_a(name, self.options.strings):
            return ""
        if self.is_a(name, self.options.numbers):
            return None
        is_array = self.is_a(name, self.options.arrays) and not self.is_a(name, self.options.booleans)
        return [] if is_array else True

    def value(self, name: str, value: Json) -> Json:
        """What is kept of a value that was given."""
        if self.is_a(name, self.options.booleans) and isinstance(value, str):
            value = value == "true"
        listed = list_of(value)
        return self.as_number(name, value) if listed is None else [self.as_number(name, one) for one in listed]

    def as_number(self, name: str, value: Json) -> Json:
        """The value, or the number that it looks like where no text is wanted."""
        is_text = self.is_a(name, self.options.strings) or self.is_a(name, self.options.booleans)
        if is_text or list_of(value) is not None or (name == "_" and not self.reads_numbers):
            return value
        if _looks_like_number(value) and _is_safe(value):
            return number(value)
        return number(value) if value is not None and self.is_a(name, self.options.numbers) else value

    def set(self, name: str, given: Json) -> None:
        """Give the option, and its other names, a value."""
        if "-" in name:
            self._add_alias(name, ".".join(map(camel_case, name.split("."))))
        value = self.value(name, given)
        head, *tail = name.split(".")
        self._put([head, *tail], value)
        for alias in self.aliases.get(name, ()):
            self._put(alias.split("."), value)
        for alias in self.aliases.get(head, ()) if tail else ():
            if ".".join([alias, *tail]) not in self.aliases.get(name, ()):
                self._put([*alias.split("."), *tail], value)

    def _add_alias(self, name: str, alias: str) -> None:
        if not self.aliases.get(name):
            self.aliases[name] = [alias]
            self.new_aliases.add(alias)
        if not self.aliases.get(alias):
            self._add_alias(alias, name)

    def fill(self) -> None:
        """Put the defaults where nothing is."""
        for name, value in self.defaults.items():
            if not self._has(name):
                self._put(name.split("."), value)

    def _has(self, name: str) -> bool:
        holder: Json = self.held
        *path, last = name.split(".")
        for key in path:
            holder = (object_of(holder) or {}).get(key) or {}
        return last in (object_of(holder) or {})

    def _put(self, path: Sequence[str], value: Json) -> None:
        """Put the value under the path; a second one makes an array where the option is no switch."""
        holder: Json = self.held
        for key in map(_harmless, path[:-1]):
            holder = _holder_in(holder, key)
        name, key = ".".join(path), _harmless(path[-1])
        before: Json = holder.get(key)
        is_array, listed = self.is_a(name, self.options.arrays), list_of(value)
        if list_of(before) is not None:
            holder[key] = [*before, *listed] if is_array and listed is not None else [*before, value]
        elif before is None and is_array:
            holder[key] = value if listed is not None else [value]
        elif before is None or self.is_a(path[-1], self.options.booleans):
            holder[key] = value
        else:
            holder[key] = [before, value]


def _holder_in(holder: Json, key: str) -> Json:
    """The object under a key, made where there is none."""
    before: Json = holder.get(key)
    if before is None:
        holder[key] = {}
    elif list_of(before) is not None:
        # yargs-parser adds an object to a list that a dotted name leads through.
        before.append({})
        return before[-1]
    elif object_of(before) is None:
        holder[key] = [before, {}]
        return holder[key][-1]
    return holder[key]


def _harmless(key: str) -> str:
    # yargs-parser renames the key, so that a command line cannot change the prototype of all objects.
    return "___proto___" if key == "__proto__" else key
