"""`mcp.serverCommand`: a command line, split into words as Gemini CLI's shell parser does it. Pure.

It follows the package `shell-quote`, its oddities too. Only the splitting belongs here: a line with operators, globs or
comments cannot be used.
"""

import re
from collections.abc import Mapping

from gemini_mcp.host.rules.javascript import SPACES

SERVER_NAME = "mcp"

_CONTROL = r"(?:\|\||&&|;;|\|&|<\(|<<<|>>|>&|<&|[&;()|<>])"
_BAREWORD = rf"""(?:\\['"|&;()<> \t]|[^{SPACES}'"|&;()<> \t])+"""
_CHUNK = re.compile(rf"""({_CONTROL})|(?:{_BAREWORD}|"(?:(?:\\"|[^"])*?)"|'(?:(?:\\'|[^'])*?)')+""")
_SPECIAL = "*@#?$!_-"
_NAME = re.compile(r"\w*", re.ASCII)


class UnusableCommand(Exception):
    """The line is more than one command with its words, or its variables cannot be read."""


def split(line: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The words of the line; variables that are not set are empty."""
    words: list[str | None] = []
    for chunk in _CHUNK.finditer(line):
        word = _Word(chunk[0], environment)
        words.append(None if chunk[1] else word.read())
        if word.is_comment:
            break
    known = tuple(word for word in words if word is not None)
    # shell-quote gives objects for operators, globs and comments; Gemini CLI takes nothing but texts.
    if len(known) < len(words):
        raise UnusableCommand(f"failed to parse mcpServerCommand: {line}")
    return known


def server_config(line: str, environment: Mapping[str, str]) -> dict[str, object]:
    """The configuration of the server that the line starts."""
    words = split(line, environment)
    return {"command": words[0], "args": list(words[1:])} if words else {"args": []}


class _Word:
    """One stretch of the line while it is read, from a place that moves on."""

    def __init__(self, text: str, environment: Mapping[str, str]) -> None:
        self._text = text
        self._environment = environment
        self._at = 0
        self.is_comment = False

    def read(self) -> str | None:
        """The word; nothing when it is an operator, a glob or a comment."""
        out, quote, is_glob = "", "", False
        while self._at < len(self._text):
            letter = self._text[self._at]
            is_glob = is_glob or (not quote and letter in "*?")
            if quote and letter == quote:
                quote = ""
            elif quote == "'":
                out += letter
            elif quote:
                out += self._quoted(letter)
            elif letter in "\"'":
                quote = letter
            elif letter == "#" or re.fullmatch(_CONTROL, letter):
                self.is_comment = letter == "#"
                return None
            elif letter == "\\":
                self._at += 1
                escaped = self._text[self._at : self._at + 1]
                is_glob = is_glob or escaped in ("*", "?")
                out += escaped
            else:
                out += self._variable() if letter == "$" else letter
            self._at += 1
        return None if is_glob else out

    def _quoted(self, letter: str) -> str:
        """What a character stands for between double quotes."""
        if letter == "$":
            return self._variable()
        if letter != "\\":
            return letter
        self._at += 1
        escaped = self._text[self._at : self._at + 1]
        return escaped if escaped and escaped in '"\\$' else f"\\{escaped}"

    def _variable(self) -> str:
        """The value of the variable that begins here; the place is then at its last character."""
        self._at += 1
        first = self._text[self._at : self._at + 1]
        if first == "{":
            return self._braced()
        if first and first in _SPECIAL:
            # The parser also skips what follows such a name.
            self._at += 1
            return self._value(first)
        match = _NAME.match(self._text, self._at)
        name = match[0] if match else ""
        self._at = len(self._text) if self._at + len(name) == len(self._text) else self._at + len(name) - 1
        return self._value(name)

    def _braced(self) -> str:
        self._at += 1
        end = self._text.find("}", self._at)
        if end == self._at:
            raise UnusableCommand("Bad substitution: ${}")
        if end < 0:
            raise UnusableCommand(f"Bad substitution: {self._text[self._at :]}")
        name, self._at = self._text[self._at : end], end
        return self._value(name)

    def _value(self, name: str) -> str:
        # A `$` without a name stays.
        return self._environment.get(name, "" if name else "$")
