"""The variables of an `.env` file to those of them that Gemini CLI takes. Pure.

How a file is read is in `host/settings/dotenv`.
"""

import re
from collections.abc import Collection, Mapping

IN_UNTRUSTED = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION")
"""The only variables that a file gives to a gemini which does not trust its folder."""

_ODD = re.compile(r"[^a-zA-Z0-9\-_./]")
"""What is dropped from their values there."""


def taken(variables: Mapping[str, str], is_trusted: bool, excluded: Collection[str]) -> dict[str, str]:
    """The variables that gemini takes from the file."""
    return {
        name: value if is_trusted else _ODD.sub("", value)
        for name, value in variables.items()
        if name not in excluded and (is_trusted or name in IN_UNTRUSTED)
    }
