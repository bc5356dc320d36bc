"""`mcp.serverCommand`: a command line, split into words as Gemini CLI's shell parser does it. Pure.

Only the splitting belongs here: operators, globs and comments make a line unusable, so none of them is interpreted.
"""

from collections.abc import Mapping
from dataclasses import dataclass

SERVER_NAME = "mcp"

_OPERATORS = "&|;<>()"
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_SPECIAL = frozenset("*@#?$!-")


class UnusableCommand(Exception):
    """The line is more than one command with its words."""

    def __init__(self, line: str) -> None:
        super().__init__(f"failed to parse mcpServerCommand: {line}")


@dataclass
class _Reader:
    line: str
    environment: Mapping[str, str]
    at: int = 0

    def take(self) -> str:
        self.at += 1
        return self.line[self.at - 1]

    @property
    def ahead(self) -> str:
        return self.line[self.at : self.at + 1]


def split(line: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The words of the line; variables that are not set are empty."""
    reader = _Reader(line, environment)
    words: list[str] = []
    while reader.at < len(line):
        if reader.ahead.isspace():
            reader.take()
        else:
            words.append(_word(reader))
    return tuple(words)


def server_config(line: str, environment: Mapping[str, str]) -> dict[str, object]:
    """The configuration of the server that the line starts."""
    words = split(line, environment)
    return {"command": words[0], "args": list(words[1:])} if words else {"args": []}


def _word(reader: _Reader) -> str:
    if reader.ahead == "#":
        raise UnusableCommand(reader.line)
    text = ""
    while reader.ahead and not reader.ahead.isspace():
        character = reader.take()
        if character in _OPERATORS or character in "*?":
            raise UnusableCommand(reader.line)
        text += _piece(reader, character)
    return text


def _piece(reader: _Reader, character: str) -> str:
    if character == "'":
        return _until(reader, "'")
    if character == '"':
        return _double_quoted(reader)
    if character == "\\":
        return reader.take() if reader.ahead else ""
    return _variable(reader) if character == "$" else character


def _until(reader: _Reader, end: str) -> str:
    text = ""
    while reader.ahead:
        character = reader.take()
        if character == end:
            break
        text += character
    return text


def _double_quoted(reader: _Reader) -> str:
    text = ""
    while reader.ahead:
        character = reader.take()
        if character == '"':
            break
        if character == "\\" and reader.ahead:
            following = reader.take()
            text += following if following in '"$\\' else character + following
        else:
            text += _variable(reader) if character == "$" else character
    return text


def _variable(reader: _Reader) -> str:
    if reader.ahead == "{":
        reader.take()
        name = _until(reader, "}")
        return reader.environment.get(name, "")
    if reader.ahead in _SPECIAL and reader.ahead:
        return reader.environment.get(reader.take(), "")
    name = ""
    while reader.ahead in _NAME and reader.ahead:
        name += reader.take()
    return reader.environment.get(name, "") if name else "$"
