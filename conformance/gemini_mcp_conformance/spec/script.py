"""Script: what the fake gemini does when it is called, step by step, as the specification and the suite write it; pure.

What a step makes the fake do is told to the shell by `play/fake/script.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gemini_mcp.spec.values import Json


class ScriptError(ValueError):
    """A script that the fake cannot play, which is a mistake of its author."""


@dataclass(frozen=True)
class Script:
    """What one call of gemini does, step by step, and what a listing of its sessions answers afterwards."""

    id: str
    play: tuple[Mapping[str, Json], ...]
    list_sessions: tuple[Mapping[str, Json], ...] | None = None

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Script:
        if "play" not in value:
            raise ScriptError(f"The script {value.get('id', '')!r} has no `play`; it should be a list of steps.")
        listing = value.get("listSessions")
        return cls(
            id=str(value.get("id", "inline")),
            play=tuple(value["play"]),
            list_sessions=None if listing is None else tuple(listing),
        )
