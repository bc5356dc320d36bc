"""Options: the options of a run in either direction. An option is added here together with its flag."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gemini_mcp_conformance.play.patience import Patience
from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.play.tracks import JOBS
from gemini_mcp_conformance.run.progress import OnProgress, unseen
from gemini_mcp_conformance.run.selection import Selection
from gemini_mcp_conformance.see.observation import Observation


def unwatched(observation: Observation) -> None:
    """Keep no observation."""


@dataclass(frozen=True)
class Options:
    """The options of a run. `profile` is for hosts; `jobs` and `patience` are for servers."""

    target: Target
    selection: Selection = field(default_factory=Selection)
    strict: bool = False
    fail_fast: bool = False
    examples: int = 100
    thorough: bool = False
    seed: int | None = None
    budget: float | None = None
    jobs: int = JOBS
    known: frozenset[str] = frozenset()
    on_progress: OnProgress = unseen
    on_played: Callable[[Observation], None] = unwatched
    patience: Patience = field(default_factory=Patience)
    profile: str = "documented"
