"""Which servers are used and which of their tools: allow and exclude lists; pure.

Every rule that drops a server or a tool because of configuration belongs here.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gemini_mcp.host.rules.profiles import Profile


@dataclass(frozen=True)
class ServerLists:
    """`mcp.allowed`, `mcp.excluded`, and the names given on the command line, which replace both."""

    allowed: tuple[str, ...] | None = None
    excluded: tuple[str, ...] | None = None
    named: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Selection:
    """The servers that are used, and those shown as blocked."""

    used: tuple[str, ...]
    blocked: tuple[str, ...]


def is_enabled(tool: str | None, include: Sequence[str] | None, exclude: Sequence[str] | None) -> bool:
    """Whether a tool passes its server's lists; they hold the tool's own name, and exclusion wins."""
    if not tool or tool in (exclude or ()):
        return False
    return include is None or any(entry == tool or entry.startswith(f"{tool}(") for entry in include)


def select_servers(names: Sequence[str], lists: ServerLists, profile: Profile) -> Selection:
    """Which of the servers are used, in their order."""
    if lists.named is not None:
        return _split(names, lists.named, ())
    excluded = lists.excluded or ()
    if profile is Profile.CURRENT:
        return _split(names, lists.allowed or None, excluded)
    chosen = _split(names, lists.allowed, ())
    return Selection(tuple(name for name in chosen.used if name not in excluded), chosen.blocked)


def _split(names: Sequence[str], allowed: Collection[str] | None, excluded: Collection[str]) -> Selection:
    used = tuple(name for name in names if (allowed is None or name in allowed) and name not in excluded)
    return Selection(used, tuple(name for name in names if name not in used))
