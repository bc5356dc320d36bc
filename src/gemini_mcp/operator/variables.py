"""Which variables of a shell reach a server that a client starts, and which it may need. Pure.

Clients that are built with the MCP SDKs pass on a few variables and those that their configuration names.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase

OWN = "GEMINI_MCP_"
"""How the variables of the server's own options begin."""

PASSED_ON = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
"""What `getDefaultEnvironment` of the MCP SDKs for TypeScript and Python passes on, on systems other than Windows."""

NEEDED = ("GEMINI_*", "GOOGLE_*", "CLOUD_SHELL", "*_PROXY", "*_proxy", "NODE_EXTRA_CA_CERTS")
"""What may decide whether gemini works, and the server's own options."""


def kept_by_clients(environ: Mapping[str, str]) -> dict[str, str]:
    """What is left of the variables in a client that passes on only the usual ones."""
    return {name: value for name, value in environ.items() if name in PASSED_ON}


def lost_in_clients(environ: Mapping[str, str]) -> list[str]:
    """The names of variables that may be needed and are not passed on."""
    return sorted(name for name in environ if any(fnmatchcase(name, pattern) for pattern in NEEDED))
