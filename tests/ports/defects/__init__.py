"""Ports with one defect each, a room for each area. A new defect is a row of a module there: see record.py."""

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
