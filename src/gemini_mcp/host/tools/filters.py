"""Which servers are used and which of their tools: allow and exclude lists. Pure.

Every rule that drops a server or a tool because of configuration belongs here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gemini_mcp.host.rules.javascript import truthy
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, items, list_of


@dataclass(frozen=True)
class ServerLists:
    """`mcp.allowed`, `mcp.excluded`, and the names given on the command line, which replace both."""

    allowed: Sequence[Json] | None = None
    excluded: Sequence[Json] | None = None
    named: tuple[str, ...] | None = None


def names_of(value: Json) -> Sequence[Json] | None:
    """The names of a list; what is no text is the name of no server, but makes the list no shorter.

    A text instead of a list names whatever is a part of it.
    """
    if isinstance(value, str):
        return value
    listed = list_of(value)
    return None if listed is None else tuple(listed)


@dataclass(frozen=True)
class Selection:
    """The servers that are used, and those shown as blocked."""

    used: tuple[str, ...]
    blocked: tuple[str, ...]


def is_enabled(tool: str | None, include: Json, exclude: Json) -> bool:
    """Whether a tool passes its server's lists; they hold the tool's own name, and exclusion wins.

    Gemini CLI fails at values of the wrong type, and leaves out the tool that it compares with them.
    """
    if not tool or (truthy(exclude) and _excludes(exclude, tool)):
        return False
    return not truthy(include) or _includes(include, tool)


def _excludes(exclude: Json, tool: str) -> bool:
    # A text instead of a list excludes whatever is a part of it.
    is_searchable = isinstance(exclude, str) or list_of(exclude) is not None
    return not is_searchable or tool in exclude


def _includes(include: Json, tool: str) -> bool:
    # Gemini CLI compares `includeTools` so, with the rest of `name(...)` unread; `excludeTools` takes whole names.
    for entry in items(include):
        if entry == tool or not isinstance(entry, str):
            return entry == tool
        if entry.startswith(f"{tool}("):
            return True
    return False


def select_servers(names: Sequence[str], lists: ServerLists, rules: Rules) -> Selection:
    """Which of the servers are used, in their order."""
    allowed, excluded = lists.allowed, lists.excluded or ()
    if lists.named is not None:
        allowed, excluded = lists.named, ()
    # An empty list blocked every server in 0.1.19 and means no list in 0.61.
    if not allowed and rules.empty_allow_list_allows_all:
        allowed = None
    not_allowed = {name for name in names if allowed is not None and name not in allowed}
    left_out = not_allowed.union(name for name in names if name in excluded)
    blocked = left_out if rules.blocks_excluded else not_allowed
    return Selection(
        tuple(name for name in names if name not in left_out), tuple(name for name in names if name in blocked)
    )
