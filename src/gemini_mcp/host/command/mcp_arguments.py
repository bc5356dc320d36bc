"""Reads the words of `gemini mcp` in a profile whose `addWords` is `command-ends-flags`. Pure.

Only reading the words belongs here; what they do to a settings file is in `mcp_commands`.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gemini_mcp.host.rules.javascript import number_text, stringify, trim
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json

SCOPES = ("user", "project")
TRANSPORTS = ("stdio", "sse", "http")

_REMOVE_FLAGS = {"s": "scope", "scope": "scope", "h": "help", "help": "help"}
_LIST_FLAGS = {"h": "help", "help": "help", "d": "debug", "debug": "debug"}
_SWITCHES = frozenset({"trust", "help", "debug"})
_LISTS = frozenset({"include-tools", "exclude-tools"})
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?")
_NEGATIVE = re.compile(r"-[0-9]+(\.[0-9]+)?")


class Misused(Exception):
    """The words are no valid command; the message says why."""


@dataclass(frozen=True)
class Words:
    """What the command line says: flags by their long name, the words that are none, and what follows `--`."""

    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    words: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    def last(self, flag: str) -> str | None:
        """The value of a flag that counts."""
        return self.flags[flag][-1] if flag in self.flags else None

    def with_flag(self, flag: str, *values: str) -> "Words":
        return replace(self, flags={**self.flags, flag: (*self.flags.get(flag, ()), *values)})

    def with_word(self, *words: str) -> "Words":
        return replace(self, words=(*self.words, *words))


def read_add(arguments: Sequence[str], rules: Rules) -> Words:
    """The words of `add`; raises Misused."""
    words = _read_flags_before_command(arguments, rules.add_flags)
    if "help" in words.flags:
        return words
    _check_count(words, 2)
    _check_choice(words, "scope", SCOPES)
    _check_choice(words, "transport", TRANSPORTS)
    timeout = words.last("timeout")
    if rules.checks_timeout and timeout is not None and not isinstance(number(timeout), int | float):
        raise Misused(f'Invalid values:\n  Argument: timeout, Given: "{timeout}", Choices: a number of milliseconds')
    return words


def read_remove(arguments: Sequence[str], rules: Rules) -> Words:
    """The words of `remove`; raises Misused."""
    words = _read_flags_anywhere(arguments, _REMOVE_FLAGS)
    words = words.with_word(*words.after)
    if "help" not in words.flags:
        _check_count(words, 1)
        _check_choice(words, "scope", SCOPES)
    return words


def read_list(arguments: Sequence[str]) -> Words:
    """The words of `list`, which takes none; raises Misused."""
    return _counted(_read_flags_anywhere(arguments, _LIST_FLAGS), 0)


def _counted(words: Words, needed: int) -> Words:
    """The words, when they are as many as are needed and no flag that is not known."""
    words = words.with_word(*words.after)
    if "help" not in words.flags:
        _check_count(words, needed)
        if len(words.words) > needed:
            raise Misused(unknown_said([word.lstrip("-").partition("=")[0] for word in words.words[needed:]]))
    return words


def unknown_said(names: Sequence[str]) -> str:
    """The complaint about names that mean nothing."""
    return f"Unknown argument{'s' if len(names) > 1 else ''}: {', '.join(names)}"


def unknown_names(arguments: Sequence[str], commands: Sequence[str]) -> list[str]:
    """What a line without a command complains of: its flags, then its words; of nothing when it has no words."""
    flags: list[str] = []
    words: list[str] = []
    rest = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    while rest:
        word = rest.pop(0)
        name, value = _flag(word)
        if not name:
            words.append(word if trim(word) else f'"{word}"')
        elif name.startswith("no-") and word.startswith("--"):
            flags.append(name.removeprefix("no-"))
        else:
            letters = [name] if word.startswith("--") or value is not None else list(name)
            flags += [spelling for letter in letters for spelling in _spellings(letter)]
            if value is None and letters[-1] not in _LIST_FLAGS and rest and not rest[0].startswith("-"):
                rest.pop(0)
    known = {*_LIST_FLAGS, *commands}
    return [name for name in (*dict.fromkeys(flags), *words) if name not in known] if words else []


def _spellings(name: str) -> tuple[str, ...]:
    """The name of a flag, and without hyphens."""
    joined = re.sub(r"-+(.)", lambda match: match[1].upper(), name)
    return (name,) if joined == name else (name, joined)


def number(text: str) -> Json:
    """The number the text is, or nothing."""
    try:
        value = float(text)
    except ValueError:
        return None
    return None if not math.isfinite(value) else int(value) if value.is_integer() else value


def coerced(word: str) -> str:
    """The word as it comes back from a parser that reads numbers: `1e3` is `1000`, `007` stays."""
    if re.fullmatch(r"0x[0-9a-fA-F]+", word):
        return number_text(int(word, 16))
    if re.match(r"0[^.]", word) or not _NUMBER.fullmatch(word):
        return word
    value = float(word)
    # yargs-parser leaves a number beyond 2^53, which would lose digits, as it is written.
    return number_text(value) if abs(math.floor(value)) < 2**53 else word


def _read_flags_before_command(arguments: Sequence[str], known: Mapping[str, str]) -> Words:
    """Known flags before a stdio command are ours; everything after the command belongs to the server."""
    words, rest = Words(), list(arguments)
    while rest:
        word = rest.pop(0)
        if len(words.words) == 2 and (words.last("transport") or "stdio") == "stdio":
            rest = [word, *rest]
            if "--" in rest:
                rest.remove("--")
            return words.with_word(*map(coerced, rest))
        if word == "--":
            return words.with_word(*rest)
        name, value = _flag(word)
        if name is None:
            words = words.with_word(word)
        elif name in known:
            words = _take_one(words, known[name], value, rest)
        else:
            raise Misused(f"Unknown argument: {name}")
    return words


def _take_one(words: Words, flag: str, value: str | None, rest: list[str]) -> Words:
    if flag in _SWITCHES:
        return words.with_flag(flag, value or "true")
    if value is None:
        if not rest:
            raise Misused(f"Not enough arguments following: {flag}")
        value = rest.pop(0)
    names = [name.strip() for name in value.split(",") if name.strip()]
    return words.with_flag(flag, *(names if flag in _LISTS else [value]))


def _flag(word: str) -> tuple[str | None, str | None]:
    """The name and value of a word that looks like a flag."""
    if not word.startswith("-") or word == "-" or _NEGATIVE.fullmatch(word):
        return None, None
    name, equals, value = word.lstrip("-").partition("=")
    return name, value if equals else None


def _read_flags_anywhere(arguments: Sequence[str], known: Mapping[str, str]) -> Words:
    """Known flags are ours wherever they stand; unknown ones are words."""
    words, rest = Words(), list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return replace(words, after=tuple(rest))
        name, value = _flag(word)
        if name is not None and name.startswith("no-") and known.get(name[3:]) in _SWITCHES:
            words = words.with_flag(known[name[3:]], "false")
        elif name is not None and name in known:
            words = _take_anywhere(words, name, value, rest, known)
        elif len(words.words) >= 2:
            words = words.with_word(coerced(word))
        else:
            # The parser reads the first two words again, as values of flags, and a flag is none.
            words = words.with_word("" if name is not None else word)
    return words


def _take_anywhere(words: Words, typed: str, value: str | None, rest: list[str], known: Mapping[str, str]) -> Words:
    flag = known[typed]
    if flag in _SWITCHES:
        is_given = value is None and rest[:1] in (["true"], ["false"])
        return words.with_flag(flag, value or (rest.pop(0) if is_given else "true"))
    if value is not None:
        return words.with_flag(flag, value)
    return words.with_flag(flag, rest.pop(0) if rest and not _is_ours(rest[0], known) else "")


def _is_ours(word: str, known: Mapping[str, str]) -> bool:
    name, _ = _flag(word)
    return word == "--" or (name is not None and name in known)


def _check_count(words: Words, needed: int) -> None:
    if len(words.words) < needed:
        raise Misused(f"Not enough non-option arguments: got {len(words.words)}, need at least {needed}")


def _check_choice(words: Words, flag: str, choices: Sequence[str]) -> None:
    value = words.last(flag)
    if value is not None and value not in choices:
        listed = ", ".join(f'"{choice}"' for choice in choices)
        raise Misused(f"Invalid values:\n  Argument: {flag}, Given: {stringify(value)}, Choices: {listed}")
