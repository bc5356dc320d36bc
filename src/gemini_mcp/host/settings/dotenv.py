"""Reads the variables of a `.env` file as the npm package `dotenv` does, with its oddities. Pure.

Only the form of the file belongs here. Which files count, and which variables, is decided where they are read.
"""

import re

from gemini_mcp.host.rules.javascript import SPACES, trim

_S = f"[{SPACES}]"
_LINE = re.compile(
    rf"^{_S}*(?:export{_S}+)?([A-Za-z0-9_.-]+)(?:{_S}*?=|:{_S}+?)"
    rf"""({_S}*'(?:\\'|[^'])*'|{_S}*"(?:\\"|[^"])*"|{_S}*`(?:\\`|[^`])*`|[^#\r\n]+)?"""
    # JavaScript's `.` ends at U+2028 and U+2029 too.
    rf"{_S}*(?:#[^\n\u2028\u2029]*)?$",
    re.MULTILINE,
)
_QUOTED = re.compile(r"""^(['"`])([\s\S]*)\1$""", re.MULTILINE)


def variables(text: str) -> dict[str, str]:
    """The variables of the file, later ones over earlier ones."""
    lines = re.sub(r"\r\n?", "\n", text)
    return {found[1]: _value(trim(found[2] or "")) for found in _LINE.finditer(lines)}


def _value(text: str) -> str:
    bare = _QUOTED.sub(r"\2", text)
    return bare.replace("\\n", "\n").replace("\\r", "\r") if text.startswith('"') else bare
