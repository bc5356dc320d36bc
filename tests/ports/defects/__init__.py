"""Ports with one defect each.

A row goes into the room where its fault hides, in the module named after the requirement it breaks first: see
record.py. A room's `others.py` holds the requirements that have few rows there, a `shared.py` what rows of several
modules use.
"""

from collections.abc import Mapping
from pathlib import Path

import rows
from defects.record import DEFECTS, Defect

__all__ = ["Defect", "all_defects", "defect_named"]

HERE = Path(__file__).parent


def all_defects() -> Mapping[str, Defect]:
    return rows.every(__name__, HERE, DEFECTS)


def defect_named(name: str) -> Defect:
    return rows.named(name, __name__, HERE, DEFECTS)
