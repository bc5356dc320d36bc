"""The words of a command line as yargs-parser reads them, for the kinds of options that `gemini mcp` declares. Pure.

A value that is there but undefined is None. What no option of `gemini mcp` reaches does not belong here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gemini_mcp.host.rules.javascript import LINE_ENDS, joined, units
from gemini_mcp.host.rules.yargs_values import Options, Values
from gemini_mcp.spec.values import Json

_ANY = f"[^{LINE_ENDS}]"
_NEGATIVE = re.compile(r"-([0-9]+(\.[0-9]+)?|\.[0-9]+)\Z")
_NEGATED = re.compile(rf"--no-({_ANY}+)")
_DIGITS_BEHIND = re.compile(r"-?\d+(\.\d*)?(e-?\d+)?\Z", re.ASCII)
_NO_WORD = re.compile(r"\W", re.ASCII)
_KNOWN_BY = (
    re.compile(r"-+([^=]+?)=[\s\S]*\Z"),
    _NEGATED,
    re.compile(r"-+([^=]+?)\Z"),
    re.compile(r"-+([^=]+?)-\Z"),
    re.compile(r"-+([^=]+?\d+)\Z", re.ASCII),
    re.compile(rf"-+([^=]+?)\W+{_ANY}*\Z", re.ASCII),
)
"""Where the name stands in a word that may be a known option."""


@dataclass(frozen=True)
class Parsed:
    """The values by name, the words under `_` and those behind `--` under `--`."""

    values: dict[str, Json]
    aliases: Mapping[str, Sequence[str]]
    new_aliases: frozenset[str]
    error: str | None


def parse(words: Sequence[str], options: Options, *, reads_numbers: bool = False) -> Parsed:
    """The values of the words; `reads_numbers` is whether words that are no option may be numbers."""
    reading = _Reading(words, options, reads_numbers)
    reading.read()
    return Parsed(reading.kept.held, reading.kept.aliases, frozenset(reading.kept.new_aliases), reading.error)


class _Reading:
    """One pass over the words."""

    def __init__(self, words: Sequence[str], options: Options, reads_numbers: bool) -> None:
        self.words = list(words)
        self.options = options
        self.kept = Values(options, reads_numbers)
        self.error: str | None = None

    def read(self) -> None:
        place = 0
        while place < len(self.words):
            if self.words[place] == "--":
                if place + 1 < len(self.words):
                    self.kept.held["--"] = self.words[place + 1 :]
                break
            place = self._take(place) + 1
        self.kept.fill()

    def _take(self, place: int) -> int:
        """Read the word there; the place of the last word that belongs to it."""
        word = self.words[place]
        # The order of these tests is that of yargs-parser 21: `-x.y=1` and `-xy=1` fit several of them.
        if (word.startswith("-") and self._stays(word)) or re.match(r"---+(=|\Z)", word):
            return self._push(place)
        if re.match(rf"--{_ANY}+=", word):
            split = re.match(r"--?([^=]+)=([\s\S]*)\Z", word)
            return self._take_given(place, split[1], split[2], strips=True) if split else place
        # `--no-NAME=VALUE` does not get here: the test for `=` stands before.
        if negated := _NEGATED.match(word):
            self.kept.set(negated[1], [False] if self.kept.is_a(negated[1], self.options.arrays) else False)
            return place
        if named := re.match(rf"--({_ANY}+)", word):
            return self._take_named(place, named[1], r"-")
        if re.match(rf"-{_ANY}\.{_ANY}+=", word):
            split = re.match(r"-([^=]+)=([\s\S]*)\Z", word)
            if split:
                self.kept.set(split[1], split[2])
            return place
        if re.match(rf"-{_ANY}\.{_ANY}+", word) and not _NEGATIVE.match(word):
            return self._take_dotted(place, word[1:])
        if re.match(r"-[^-]+", word) and not _NEGATIVE.match(word):
            return self._take_letters(place)
        return self._push(place)

    def _push(self, place: int) -> int:
        self.kept.held["_"].append(self.kept.as_number("_", self.words[place]))
        return place

    def _take_given(self, place: int, name: str, value: str, *, strips: bool) -> int:
        """An option whose value stands in its word."""
        if self.kept.is_a(name, self.options.arrays):
            return self._eat_array(place, name, value)
        if self.kept.is_a(name, self.options.single):
            self.kept.set(name, value)
        else:
            self.kept.set(name, _unquoted(value) if strips else value)
        return place

    def _take_named(self, place: int, name: str, stops: str) -> int:
        """An option whose value may be the next word, unless that matches `stops`."""
        if self.kept.is_a(name, self.options.arrays):
            return self._eat_array(place, name, None)
        following = self.words[place + 1] if place + 1 < len(self.words) else None
        is_free = following is not None and (not re.match(stops, following) or _NEGATIVE.match(following))
        if (is_free and not self.kept.is_a(name, self.options.booleans)) or following in ("true", "false"):
            self.kept.set(name, following)
            return place + 1
        self.kept.set(name, self.kept.default(name))
        return place

    def _take_dotted(self, place: int, name: str) -> int:
        following = self.words[place + 1] if place + 1 < len(self.words) else None
        if following is not None and not following.startswith("-") and not self.kept.is_a(name, self.options.booleans):
            self.kept.set(name, following)
            return place + 1
        self.kept.set(name, self.kept.default(name))
        return place

    def _take_letters(self, place: int) -> int:
        """Short options in one word, the last of which may have a value."""
        word = "".join(units(self.words[place]))
        letters = word[1:-1]
        for index, letter in enumerate(letters):
            rest = word[index + 2 :]
            following = letters[index + 1 : index + 2]
            if following == "=":
                return self._take_given(place, letter, joined(word[index + 3 :]), strips=False)
            if rest == "-":
                self.kept.set(letter, rest)
                continue
            has_digits = re.match("[A-Za-z]", letter) and _DIGITS_BEHIND.match(rest)
            if (has_digits and not self.kept.is_a(rest, self.options.booleans)) or (
                following and _NO_WORD.match(following)
            ):
                self.kept.set(letter, joined(rest))
                return place
            self.kept.set(letter, self.kept.default(letter))
        return place if word[-1] == "-" else self._take_named(place, word[-1], r"(-|--)[^-]")

    def _eat_array(self, place: int, name: str, given: str | None) -> int:
        """As many words as the array takes."""
        is_nothing = given is None or (given == "" and place + 1 == len(self.words))
        found: list[Json] = [] if is_nothing else [self.kept.value(name, _unquoted(given or ""))]
        is_single = self.kept.is_a(name, self.options.single)
        while place + 1 < len(self.words) and not (is_single and found):
            if self._ends_array(self.words[place + 1]):
                break
            place += 1
            found.append(self.kept.value(name, self.words[place]))
        if is_single and not found:
            self.error = f"Not enough arguments following: {name}"
        self.kept.set(name, found)
        return place

    def _ends_array(self, word: str) -> bool:
        return word.startswith("-") and not _NEGATIVE.match(word) and not self._stays(word)

    def _stays(self, word: str) -> bool:
        """Whether the word is an option that nobody declared, and so a word like others."""
        if not self.options.keeps_unknown:
            return False
        # yargs-parser takes three hyphens and more for two when it asks whether an option is known.
        word = re.sub(r"^-{3,}", "--", word)
        if _NEGATIVE.match(word) or self._has_known_letters(word):
            return False
        found = (pattern.match(word) for pattern in _KNOWN_BY)
        return not any(match is not None and self.kept.is_known(match[1]) for match in found)

    def _has_known_letters(self, word: str) -> bool:
        if not re.match(r"-[^-]+", word):
            return False
        word = "".join(units(word))
        letters = word[1:]
        for index, letter in enumerate(letters):
            rest, following = word[index + 2 :], letters[index + 1 : index + 2]
            if not self.kept.is_known(letter):
                return False
            has_digits = re.match("[A-Za-z]", letter) and _DIGITS_BEHIND.match(rest)
            if following == "=" or rest == "-" or has_digits or (following and _NO_WORD.match(following)):
                break
        return True


def _unquoted(value: str) -> str:
    is_quoted = value[:1] in ("'", '"') and value[-1:] == value[0]
    return value[1:-1] if is_quoted else value
