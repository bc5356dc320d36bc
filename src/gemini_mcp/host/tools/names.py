"""The name a tool is registered under: normalisation, qualification, and reading a name back; pure.

Rules about one name belong here; what happens when two names meet is in `registry`.
"""

import re

from gemini_mcp.host.rules.javascript import length
from gemini_mcp.host.rules.profiles import Profile

LIMIT = 63
SEPARATOR = "__"
PREFIX = "mcp_"

_INVALID = {Profile.DOCUMENTED: re.compile(r"[^a-zA-Z0-9_.-]"), Profile.CURRENT: re.compile(r"[^a-zA-Z0-9_.:-]")}
_PARSED = re.compile(r"([^_]+)_([^\n\r\u2028\u2029]+)")


def normalise(name: str, profile: Profile) -> str:
    """The name with what the Gemini API refuses replaced, cut in the middle to 63 characters."""
    if profile is Profile.DOCUMENTED:
        return _cut(_replace_invalid(name, profile), 28, "___", 32)
    prefixed = name if name.startswith(PREFIX) else PREFIX + name
    return _cut(_replace_invalid(prefixed, profile), 30, "...", 30)


def registered_name(server: str, tool: str, profile: Profile) -> str:
    """The name a tool is registered under while nothing else has it."""
    if profile is Profile.DOCUMENTED:
        return normalise(tool, profile)
    return normalise(f"{server}_{tool}", profile)


def prefixed_name(server: str, tool: str) -> str:
    """The name of the documented profile for a tool whose first choice is taken; not normalised again."""
    return f"{server}{SEPARATOR}{tool}"


def parse(name: str) -> tuple[str, str] | None:
    """The server and tool a current name seems to mean, split at the first underscore after the prefix."""
    match = _PARSED.fullmatch(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    return (match.group(1), match.group(2)) if match else None


def _replace_invalid(name: str, profile: Profile) -> str:
    return _INVALID[profile].sub(lambda match: "_" * length(match.group()), name)


def _cut(name: str, head: int, marker: str, tail: int) -> str:
    return name if len(name) <= LIMIT else name[:head] + marker + name[-tail:]
