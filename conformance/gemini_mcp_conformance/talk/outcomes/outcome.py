"""Outcome: makes the script of a call from what is known of the call; pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from gemini_mcp_conformance.spec.script import Script


@dataclass(frozen=True)
class Turn:
    """A call for which an outcome is wanted. `private` are texts of its arguments; gemini reports `session`."""

    number: int
    session: str
    private: tuple[str, ...] = ()


Outcome: TypeAlias = Callable[[Turn], Script]
