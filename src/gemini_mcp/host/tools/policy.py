"""What becomes of a call before anybody is asked: allowed, denied, or put to the user, by the first rule. Pure.

Where rules come from is in `settings/policies`; who is asked, and what the answer allows, is in `confirmation`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from gemini_mcp.host.rules.ajv_values import equal
from gemini_mcp.host.rules.javascript import stringify, units
from gemini_mcp.host.rules.patterns import compiled
from gemini_mcp.host.tools.registry import RegisteredTool, Registry
from gemini_mcp.spec.values import Json, JsonObject, list_of, object_of, table

ALLOW, DENY, ASK = "allow", "deny", "ask_user"
ANY = "*"
_PREFIX = "mcp_"


@dataclass(frozen=True)
class PolicyRule:
    """One rule: which calls it is about, what it decides, and where it stands."""

    tool: str
    decision: str
    priority: float
    source: str
    server: str | None = None
    modes: tuple[str, ...] = ()
    is_interactive: bool | None = None
    annotations: JsonObject = field(default_factory=dict[str, object])
    pattern: str | None = None
    message: str = ""


@dataclass(frozen=True)
class Judged:
    """What was decided, and the rule that did; without one it is the default."""

    decision: str
    rule: PolicyRule | None = None

    @property
    def why(self) -> str:
        return "no rule is about it" if self.rule is None else self.rule.source


@dataclass(frozen=True)
class Policy:
    """All rules, those that count more first, and how the session runs."""

    rules: tuple[PolicyRule, ...] = ()
    mode: str = "default"
    is_interactive: bool = True

    @property
    def default(self) -> str:
        return ASK if self.is_interactive else DENY

    def judge(self, tool: RegisteredTool, arguments: JsonObject) -> Judged:
        """What becomes of this call."""
        for rule in self.rules:
            if self._covers(rule, tool) and (rule.pattern is None or compiled(rule.pattern).search(_text(arguments))):
                return Judged(rule.decision, rule)
        return Judged(ALLOW if self.mode == "yolo" else self.default)

    def declares(self, tool: RegisteredTool) -> bool:
        """Whether the model gets to know the tool: not when every call of it is denied."""
        covering = (rule for rule in self.rules if self._covers(rule, tool))
        # A rule with a pattern that denies leaves other calls of the tool; the next rule decides about those.
        first = next((rule for rule in covering if rule.pattern is None or rule.decision != DENY), None)
        return self.default != DENY if first is None else first.pattern is not None or first.decision != DENY

    def declared(self, registry: Registry) -> Registry:
        """The registry as the model gets it; built-in tools are not judged."""
        kept = (tool for tool in registry.tools if tool.offer is None or self.declares(tool))
        return replace(registry, tools=tuple(kept))

    def _covers(self, rule: PolicyRule, tool: RegisteredTool) -> bool:
        """Whether the rule is about the tool, whatever the arguments."""
        assert tool.offer is not None
        given = table(tool.offer.annotations)
        return (
            (not rule.modes or self.mode in rule.modes)
            and rule.server in (None, ANY, tool.offer.server)
            and names(rule, tool.offer.server, tool.name)
            and all(key in given and equal(given[key], value) for key, value in rule.annotations.items())
            and rule.is_interactive in (None, self.is_interactive)
        )


def powerless(policy: Policy, tools: Sequence[RegisteredTool]) -> Iterator[PolicyRule]:
    """Rules about a server that offers tools, which none of its tools has the name for."""
    offered = [(tool.offer.server, tool.name) for tool in tools if tool.offer is not None]
    for rule in policy.rules:
        own = [name for server, name in offered if server == rule.server]
        if own and not any(names(rule, str(rule.server), name) for name in own):
            yield rule


def names(rule: PolicyRule, server: str, registered: str) -> bool:
    """Whether the rule's name for tools is that of the tool, under which it is registered."""
    if rule.tool in (ANY, f"{_PREFIX}{ANY}", registered):
        return True
    # Gemini CLI knows a `*` at the end of `mcp_SERVER_` only; anywhere else it stands for itself.
    if ANY in rule.tool:
        mine = f"{_PREFIX}{server}_"
        return rule.tool == f"{mine}{ANY}" and registered.startswith(mine)
    if rule.server and not rule.tool.startswith(_PREFIX):
        return registered == f"{_PREFIX}{rule.server}_{rule.tool}"
    return rule.tool.startswith(_PREFIX) and rule.tool == f"{_PREFIX}{server}_{registered}"


def _text(arguments: JsonObject) -> str:
    """The arguments as patterns see them: sorted, and each member between two NUL characters.

    JSON escapes a NUL in any text, so a pattern with NULs cannot be met by a text that looks like a member.
    """
    pairs = (f"\0{stringify(key)}:{_sorted_text(arguments[key])}\0" for key in _sorted(arguments))
    return "{" + ",".join(pairs) + "}"


def _sorted_text(value: Json) -> str:
    members, elements = object_of(value), list_of(value)
    if members is not None:
        return "{" + ",".join(f"{stringify(key)}:{_sorted_text(members[key])}" for key in _sorted(members)) + "}"
    if elements is not None:
        return "[" + ",".join(map(_sorted_text, elements)) + "]"
    return stringify(value)


def _sorted(members: JsonObject) -> Sequence[str]:
    # JavaScript sorts by UTF-16 code units, Python by code points.
    return sorted(members, key=lambda key: tuple(units(key)))
