"""Which configured servers are started, and why the others are not: lists, disabled servers, folder trust. Pure.

The lists alone are in `tools/filters`, the rules of trust in `trust`; the files that say what is disabled and trusted
are read in `files`.
"""

import enum
from dataclasses import dataclass

from gemini_mcp.host.settings.loading import ServerConfig, Settings
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, inside, table

UNTRUSTED = (
    "Warning: MCP servers are configured but disabled because this folder is untrusted.\n"
    "User-level servers are also suppressed in untrusted folders to prevent accidental side-effects.\n"
)
"""What Gemini CLI's `mcp list` prints in such a folder."""


NOT_TRUSTED = "this folder is not trusted; trust it in gemini, or pass --trust-folder"


class Standing(enum.Enum):
    """Whether a server is started."""

    STARTED = "started"
    BLOCKED = "blocked"
    DISABLED = "disabled"


@dataclass(frozen=True)
class Circumstances:
    """What decides about servers besides the settings: the folder's trust, and who was disabled by the user."""

    is_trusted: bool = True
    disabled: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Placed:
    """A configured server, whether it is started, and why it is not."""

    server: ServerConfig
    standing: Standing
    reason: str = ""


def placed(settings: Settings, circumstances: Circumstances, rules: Rules) -> tuple[Placed, ...]:
    """Every configured server, in order."""
    used = settings.selection(rules).used
    return tuple(_placed(server, server.name in used, settings, circumstances, rules) for server in settings.servers)


def disabled_in(enablement: Json) -> frozenset[str]:
    """The servers that the file of `mcp disable` names as disabled."""
    return frozenset(name for name, state in table(enablement).items() if inside(state, "enabled") is False)


def identifier(name: str) -> str:
    """The name by which a server is enabled, disabled, and looked for in a list of `mcp list`."""
    return name.lower().strip()


def _placed(
    server: ServerConfig, is_chosen: bool, settings: Settings, circumstances: Circumstances, rules: Rules
) -> Placed:
    name = server.name
    if not is_chosen:
        is_excluded = settings.lists.named is None and name in (settings.lists.excluded or ())
        flag = "`--allowed-mcp-server-names` does" if settings.lists.named is not None else "`mcp.allowed` does"
        return Placed(server, Standing.BLOCKED, "`mcp.excluded` names it" if is_excluded else f"{flag} not name it")
    # 0.1.19 knows neither `mcp disable` nor trust of folders for servers.
    if not rules.trust_needs_folder:
        return Placed(server, Standing.STARTED)
    if identifier(name) in circumstances.disabled:
        return Placed(server, Standing.DISABLED, f"`gemini mcp enable {name}` would enable it")
    if not circumstances.is_trusted:
        return Placed(server, Standing.DISABLED, NOT_TRUSTED)
    if server.origin is not None and not server.origin.is_active:
        return Placed(server, Standing.DISABLED, f"the extension {server.origin.extension!r} is disabled here")
    return Placed(server, Standing.STARTED)
