"""Which servers are used and which of their tools: allow and exclude lists. Pure.

Every rule that drops a server or a tool because of configuration belongs here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, items


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


def excluded(value: Json) -> Sequence[str]:
    """What `excludeTools` names; as in JavaScript, a text instead of a list excludes whatever is a part of it."""
    return value if isinstance(value, str) else tuple(name for name in items(value) if isinstance(name, str))


def is_enabled(tool: str | None, include: Sequence[str] | None, exclude: Sequence[str]) -> bool:
    """Whether a tool passes its server's lists; they hold the tool's own name, and exclusion wins."""
    if not tool or tool in exclude:
        return False
    # Gemini CLI compares `includeTools` so, with the rest of `name(...)` unread; `excludeTools` takes whole names.
    return include is None or any(entry == tool or entry.startswith(f"{tool}(") for entry in include)


def select_servers(names: Sequence[str], lists: ServerLists, rules: Rules) -> Selection:
    """Which of the servers are used, in their order."""
    allowed, excluded = lists.allowed, lists.excluded or ()
    if lists.named is not None:
        allowed, excluded = lists.named, ()
    # An empty list blocked every server in 0.1.19 and means no list in 0.61.
    if not allowed and rules.empty_allow_list_allows_all:
        allowed = None
    not_allowed = {name for name in names if allowed is not None and name not in allowed}
    left_out = not_allowed.union(excluded)
    blocked = left_out if rules.blocks_excluded else not_allowed
    return Selection(
        tuple(name for name in names if name not in left_out), tuple(name for name in names if name in blocked)
    )
