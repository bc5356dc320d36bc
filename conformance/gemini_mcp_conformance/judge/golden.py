"""Goldens: what the reference answered in each scenario, as files of the suite in, and by the call out. Reads files.

They are written by the suite's own tests, and never in a run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gemini_mcp.spec.values import Json

FOLDER = Path(__file__).with_name("goldens")
"""One file for each scenario, named after it."""


@dataclass(frozen=True)
class Golden:
    """The canonical answer to a call, and the digest of that call."""

    asked: str
    answer: Mapping[str, Json]


def load() -> Mapping[str, Golden]:
    """Every golden, by the label of its exchange."""
    return {
        f"scenario-{file.stem}, {step}": Golden(**golden)
        for file in sorted(FOLDER.glob("*.json"))
        for step, golden in json.loads(file.read_bytes()).items()
    }
