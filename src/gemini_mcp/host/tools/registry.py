"""The registry of tools: who gets a name that two tools want, and in which order all are declared. Pure.

Rules about two or more tools belong here; rules about one name are in `names`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gemini_mcp.host.rules.javascript import locale_key
from gemini_mcp.host.tools.names import registered_name
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json


@dataclass(frozen=True)
class OfferedTool:
    """A tool as its server offers it."""

    server: str
    name: str
    description: str = ""
    schema: Json = field(default_factory=dict[str, object])
    output_schema: Json = None
    annotations: Json = None


@dataclass(frozen=True)
class RegisteredTool:
    """A tool under the name the model calls it by; built-in tools have no offer."""

    name: str
    offer: OfferedTool | None = None


@dataclass(frozen=True)
class Registry:
    """The registered tools in the order they are declared to the model, and what was said of each server's."""

    tools: tuple[RegisteredTool, ...] = ()
    log: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def said(self) -> tuple[str, ...]:
        """Everything that was said, server by server."""
        return tuple(line for lines in self.log.values() for line in lines)

    def find(self, name: str) -> RegisteredTool | None:
        """The tool of that registered name."""
        return next((tool for tool in self.tools if tool.name == name), None)


def build(builtins: Sequence[str], offers: Iterable[OfferedTool], rules: Rules) -> Registry:
    """Register the built-in tools, then the offers in their order."""
    tools = {name: RegisteredTool(name) for name in builtins}
    log: dict[str, tuple[str, ...]] = {}
    for offer in offers:
        name = _name(offer, tools, rules)
        if name in tools and rules.overwritten:
            log[offer.server] = (*log.get(offer.server, ()), rules.overwritten.format(name=name))
        tools[name] = RegisteredTool(name, offer)
    return Registry(_ordered(tools.values(), rules), log)


def _name(offer: OfferedTool, taken: Mapping[str, RegisteredTool], rules: Rules) -> str:
    name = registered_name(offer.server, offer.name, rules)
    # As 0.1.18 does it: neither normalised nor cut, and where this name is taken too, its tool is overwritten.
    if name in taken and rules.tool_name_when_taken:
        return rules.tool_name_when_taken.format(server=offer.server, tool=offer.name)
    return name


def _ordered(tools: Iterable[RegisteredTool], rules: Rules) -> tuple[RegisteredTool, ...]:
    if not rules.sorts_tools_by_server:
        return tuple(tools)
    builtin = [tool for tool in tools if tool.offer is None]
    offered = [(tool, tool.offer) for tool in tools if tool.offer is not None]
    return (*builtin, *(tool for tool, _ in sorted(offered, key=lambda pair: locale_key(pair[1].server))))
