"""The text of an `.env` file to its variables, and which of them Gemini CLI takes. Pure.

How a file may be written is the rule of the dotenv package, which Gemini CLI uses.
"""

import re
from collections.abc import Collection, Mapping

_LINE = re.compile(
    r"^\s*(?:export\s+)?([A-Za-z0-9_.-]+)(?:\s*=\s*?|:\s+?)"
    r"""(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$""",
    re.MULTILINE,
)
_QUOTED = re.compile(r"^(['\"`])([\s\S]*)\1$", re.MULTILINE)

IN_UNTRUSTED = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION")
"""The only variables that a file gives to a gemini which does not trust its folder."""

_ODD = re.compile(r"[^a-zA-Z0-9\-_./]")
"""What is dropped from their values there."""


def parse(text: str) -> dict[str, str]:
    """The variables of the file; of two with one name the last counts."""
    lines = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))
    return {match[1]: _value((match[2] or "").strip()) for match in _LINE.finditer(lines)}


def taken(variables: Mapping[str, str], is_trusted: bool, excluded: Collection[str]) -> dict[str, str]:
    """The variables that gemini takes from the file."""
    return {
        name: value if is_trusted else _ODD.sub("", value)
        for name, value in variables.items()
        if name not in excluded and (is_trusted or name in IN_UNTRUSTED)
    }


def _value(written: str) -> str:
    value = _QUOTED.sub(r"\2", written)
    return value.replace("\\n", "\n").replace("\\r", "\r") if written.startswith('"') else value
