"""`mcp.serverCommand`: a command line, split into words as Gemini CLI's shell parser does it. Pure.

Only the splitting belongs here: a line with operators, globs or comments cannot be used.
"""

import re
from collections.abc import Mapping

SERVER_NAME = "mcp"

_VARIABLE = r"\$(?:\{(?P<braced>[^}]*)\}?|(?P<special>[*@#?$!-])|(?P<name>[A-Za-z0-9_]*))"
_PIECE = re.compile(
    r"'(?P<single>[^']*)'?"
    r'|"(?P<double>(?:\\[\s\S]|\$\{[^}]*\}?|\$\$|[^"\\]|\\\Z)*)"?'
    r"|\\(?P<escaped>[\s\S]?)"
    rf"|(?P<variable>{_VARIABLE})"
    r"|(?P<space>\s+)"
    r"|(?P<refused>[&|;<>()*?])"
    r"|[\s\S]"
)
_QUOTED = re.compile(rf'\\(?P<escaped>["$\\])|{_VARIABLE}')


class UnusableCommand(Exception):
    """The line is more than one command with its words, or its variables cannot be read."""


def _refused(line: str) -> UnusableCommand:
    return UnusableCommand(f"failed to parse mcpServerCommand: {line}")


def split(line: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The words of the line; variables that are not set are empty."""
    words: list[str] = []
    is_inside = False
    for piece in _PIECE.finditer(line):
        if piece["refused"] or piece.group() == "#":
            raise _refused(line)
        if not is_inside and not piece["space"]:
            words.append("")
        is_inside = not piece["space"]
        if is_inside:
            words[-1] += _text(piece, environment)
    return tuple(words)


def server_config(line: str, environment: Mapping[str, str]) -> dict[str, object]:
    """The configuration of the server that the line starts."""
    words = split(line, environment)
    return {"command": words[0], "args": list(words[1:])} if words else {"args": []}


def _text(piece: re.Match[str], environment: Mapping[str, str]) -> str:
    """What a piece of a word stands for."""
    if piece["double"] is not None:
        return _QUOTED.sub(lambda inner: inner["escaped"] or _value(inner, environment), piece["double"])
    if piece["variable"] is not None:
        return _value(piece, environment)
    plain = (text for text in (piece["single"], piece["escaped"]) if text is not None)
    return next(plain, piece.group())


def _value(variable: re.Match[str], environment: Mapping[str, str]) -> str:
    if variable["name"] == "":
        return "$"
    if variable["braced"] is not None and not re.fullmatch(r"\$\{[^}]+\}", variable.group()):
        whole = variable.group()
        raise UnusableCommand(f"Bad substitution: {whole if whole == '${}' else whole[2:]}")
    return environment.get(variable["braced"] or variable["special"] or variable["name"] or "", "")
