"""Script: what the fake gemini does when it is called, step by step, as the specification and the suite write it; pure.

`play/fake/script.py` translates the steps into shell.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gemini_mcp.spec.values import Json


class ScriptError(ValueError):
    """A script that the fake cannot play, which is a mistake of its author."""


@dataclass(frozen=True)
class Script:
    """What one call of gemini does, step by step, and what a listing of its sessions answers afterwards."""

    id: str
    play: tuple[Mapping[str, Json], ...]
    list_sessions: tuple[Mapping[str, Json], ...] | None = None

    @property
    def steps(self) -> tuple[Mapping[str, Json], ...]:
        """All that it may do: what the call does, and what the listing answers."""
        return (*self.play, *(self.list_sessions or ()))

    def behind(self, *steps: Json) -> Script:
        """The same behind these steps."""
        return replace(self, play=(*steps, *self.play))

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


PREPARATIONS = ("child", "ignore")
"""Kinds of steps that make gemini harder to end."""


def prepares(steps: Sequence[Mapping[str, Json]]) -> bool:
    """Whether steps begin with such a kind."""
    return bool(steps) and next(iter(steps[0]), "") in PREPARATIONS


def written(step: Mapping[str, Json]) -> tuple[str, bytes] | None:
    """The stream that a step writes to, and what it writes there; None for a step that writes nothing."""
    kind = next(iter(step), "")
    value: Json = step.get(kind)
    if kind == "fill":
        text, size = _full(value["text"]).encode(), int(value["bytes"])
        return value["stream"], (text * (size // len(text) + 1))[:size]
    stream = kind.removesuffix("Base64")
    if stream not in ("stdout", "stderr"):
        return None
    is_text = stream == kind
    return stream, _full(value).encode("utf-8", "surrogatepass") if is_text else base64.b64decode(value, validate=True)


def _full(value: Json) -> str:
    """A text, or one in its long form {"repeat", "times"}."""
    return value if isinstance(value, str) else value["repeat"] * value["times"]
