"""The registry of properties; pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.host.searching import Holds, PropertyBroken


@dataclass(frozen=True)
class Property:
    """A function, its inputs, the requirements that it decides, and the profile that it binds."""

    holds: Holds
    inputs: st.SearchStrategy[Json]
    requirements: tuple[str, ...]
    profile: str


PROPERTIES: list[Property] = []


def holds(inputs: st.SearchStrategy[Json], *requirements: str, profile: str = "both") -> Callable[[Holds], Holds]:
    """Register a property."""

    def register(function: Holds) -> Holds:
        PROPERTIES.append(Property(function, inputs, requirements, profile))
        return function

    return register


def demand(condition: bool, message: str) -> None:
    """Break the property with this message unless the condition is true."""
    if not condition:
        raise PropertyBroken(message)
