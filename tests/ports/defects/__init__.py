"""Ports with one defect each, a room for each area. A new defect is a row of a module there: see record.py."""

import importlib
import pkgutil

from defects.record import DEFECTS, Defect

__all__ = ["DEFECTS", "Defect"]

for module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(module.name)
