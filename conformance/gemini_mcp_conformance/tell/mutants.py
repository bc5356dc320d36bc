"""Mutants: the defective ports on which the suite was last proven. Reads one file.

`tests/ports/prove.py --write` writes it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

from gemini_mcp_conformance.tell.report import Mutants


@dataclass(frozen=True)
class Mutant:
    """A defective port, the requirements that it breaks, and whether the check of the first one found it."""

    name: str
    sentence: str
    kills: tuple[str, ...]
    is_killed: bool


@cache
def mutants() -> tuple[Mutant, ...]:
    """Every mutant, in the order of the proof."""
    text = resources.files("gemini_mcp_conformance.tell").joinpath("mutants.json").read_text(encoding="utf-8")
    return tuple(
        Mutant(entry["name"], entry["sentence"], tuple(entry["kills"]), entry["killed"])
        for entry in json.loads(text)["mutants"]
    )


def score() -> Mutants:
    """How many of them were found."""
    return Mutants(sum(mutant.is_killed for mutant in mutants()), len(mutants()))


def killed_only_by(requirement: str) -> tuple[Mutant, ...]:
    """The mutants that break this requirement and no other."""
    return tuple(mutant for mutant in mutants() if mutant.kills == (requirement,))
