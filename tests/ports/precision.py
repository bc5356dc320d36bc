"""Precision: how many requirements each defective port fails in a strict run, and what is told of it.

A fault in one place should be told by few requirements. `broad.json` holds the ports whose fault is in many places.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.run import run
from proof import BUDGET, IMPATIENT, conversations, known
from trials import Trial

FILE = Path(__file__).with_name("broad.json")
PRECISE = 3
"""Requirements that a port with one fault should fail at most."""


@dataclass(frozen=True)
class Accused:
    """A defective port and the requirements that it fails."""

    trial: Trial
    requirements: tuple[str, ...]

    @property
    def is_precise(self) -> bool:
        return len(self.requirements) <= PRECISE


def accused(trial: Trial, is_all: bool) -> Accused:
    """Judge a defective port by all requirements: in every conversation, or in its own and those that kill any port."""
    own = known().kills[trial.name].conversations if trial.name in known().kills else ()
    chosen = None if is_all else [each for id, each in conversations().items() if id in {*own, *known().cover}]
    with trial.target() as target:
        report = run(Options(target, strict=True, examples=0, budget=BUDGET, patience=IMPATIENT), chosen)
    return Accused(trial, tuple(judged.id for judged in report.judgements if judged.verdict == "fail"))


def tell(found: Iterable[Accused]) -> None:
    """Print the ports that fail more than they should, with the reason where one is known, and the figures."""
    reasons = json.loads(FILE.read_text(encoding="utf-8"))
    every: list[Accused] = []
    for each in found:
        every.append(each)
        if not each.is_precise or each.trial.killer not in each.requirements:
            reason = f" ({reasons[each.trial.name]})" if each.trial.name in reasons else ""
            print(
                f"{each.trial.name}: {len(each.requirements)} fail{reason}: {', '.join(each.requirements)}", flush=True
            )
    counts = [len(each.requirements) for each in every]
    unnamed = sum(each.trial.killer not in each.requirements for each in every)
    share = sum(each.is_precise for each in every) / len(every)
    print(
        f"Requirements that fail: median {median(counts):g}, at most {PRECISE} for {share:.1%} of {len(every)} ports."
    )
    print(f"Ports that do not fail the requirement that they name first: {unnamed}.")
