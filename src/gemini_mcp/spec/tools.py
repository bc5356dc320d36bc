"""A tool as `tools/list` serves it, as a frozen record. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from gemini_mcp.spec.values import Json


@dataclass(frozen=True)
class ToolSpec:
    """A tool as `tools/list` serves it."""

    name: str
    definition: Mapping[str, Json]

    @property
    def properties(self) -> Mapping[str, Json]:
        return self.definition["inputSchema"].get("properties", {})

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(self.definition["inputSchema"].get("required", ()))

    @property
    def optional(self) -> tuple[str, ...]:
        return tuple(name for name in self.properties if name not in self.required)
