"""Ports with one defect each, by area. A new defect is a row of the table of its area: see record.py."""

import importlib
import pkgutil

from defects.record import DEFECTS, Defect

__all__ = ["DEFECTS", "Defect"]

for module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{module.name}")
