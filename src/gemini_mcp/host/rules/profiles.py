"""The two profiles of the host, and how each introduces itself to a server; pure.

Add a member only for a profile the spec describes.
"""

import enum
from dataclasses import dataclass, field

from gemini_mcp.spec.values import JsonObject

DEFAULT_TIMEOUT_MS = 600_000
"""What a server's `timeout` is when it is not configured."""


class Profile(enum.Enum):
    """Which host is meant: the one the documents describe, or the one that is shipped."""

    DOCUMENTED = "documented"
    CURRENT = "current"


@dataclass(frozen=True)
class Introduction:
    """What a client says of itself in `initialize`."""

    version: str
    capabilities: JsonObject = field(default_factory=dict[str, object])
    name: str = "gemini-cli-mcp-client"
    protocol_version: str = "2025-06-18"

    def to_json(self) -> JsonObject:
        return {
            "clientInfo": {"name": self.name, "version": self.version},
            "capabilities": self.capabilities,
            "protocolVersion": self.protocol_version,
        }


_ROOTS: JsonObject = {"roots": {"listChanged": True}}

INTRODUCTIONS = {
    "0.1.18": Introduction("0.0.1"),
    "0.21.3": Introduction("0.0.1", _ROOTS),
    "0.61.0": Introduction("0.61.0", _ROOTS),
}
"""By the version of Gemini CLI that was seen to send it."""


def introduction(profile: Profile) -> Introduction:
    """How the profile introduces itself."""
    return INTRODUCTIONS["0.1.18" if profile is Profile.DOCUMENTED else "0.61.0"]
