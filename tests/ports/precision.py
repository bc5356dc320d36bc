"""Precision: how many requirements each defective port fails in a strict run, and what is told of it.

A fault in one place should be told by few requirements. `broad.json` holds the ports whose fault is in many places,
each with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.run import run
from proof import BUDGET, IMPATIENT, conversations, known
from trials import Trial

BROAD: Mapping[str, str] = json.loads(Path(__file__).with_name("broad.json").read_text(encoding="utf-8"))
PRECISE, SHARE = 3, 0.95
"""Requirements that a port with one fault should fail at most, and the share of ports of which that must be true."""
PATIENCE = replace(IMPATIENT, answer=10, start=10, end=10, first=30, launch=30)
"""More time, so that a port which answers or ends late is told from one that never does."""


@dataclass(frozen=True)
class Accused:
    """A defective port and the requirements that it fails."""

    trial: Trial
    requirements: tuple[str, ...]

    @property
    def is_precise(self) -> bool:
        return len(self.requirements) <= PRECISE

    @property
    def is_unnamed(self) -> bool:
        """Whether it does not fail the requirement that it names first."""
        return self.trial.killer not in self.requirements

    def __str__(self) -> str:
        reason = f" ({BROAD[self.trial.name]})" if self.trial.name in BROAD else ""
        return f"{self.trial.name}: {len(self.requirements)} fail{reason}: {', '.join(self.requirements)}"


def accused(trial: Trial, is_all: bool) -> Accused:
    """Judge a defective port by all requirements: in every conversation, or in those that kill a port."""
    killing = {id for kill in known().values() for id in kill.conversations}
    chosen = None if is_all else [each for id, each in conversations().items() if id in killing]
    with trial.target() as target:
        report = run(Options(target, strict=True, examples=0, budget=BUDGET, patience=PATIENCE), chosen)
    return Accused(trial, tuple(judged.id for judged in report.judgements if judged.verdict == "fail"))


def tell(found: Iterable[Accused]) -> int:
    """Print the ports that fail more than they should, and the figures; 1 when too few ports are precise."""
    every: list[Accused] = []
    for each in found:
        every.append(each)
        if not each.is_precise or each.is_unnamed:
            print(each, flush=True)
    narrow = [each for each in every if each.trial.name not in BROAD]
    print(f"All {len(every)} ports: {_figures(every)}.")
    print(f"Without the {len(every) - len(narrow)} listed in broad.json: {_figures(narrow)}.")
    print(f"Ports that do not fail the requirement that they name first: {sum(each.is_unnamed for each in every)}.")
    return 0 if _share(narrow) >= SHARE else 1


def _figures(every: Sequence[Accused]) -> str:
    middle = median([len(each.requirements) for each in every] or [0])
    return f"median {middle:g} requirements that fail, at most {PRECISE} for {_share(every):.1%}"


def _share(every: Sequence[Accused]) -> float:
    return sum(each.is_precise for each in every) / len(every) if every else 1.0
