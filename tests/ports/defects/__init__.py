"""Ports with one defect each, by area. A new defect is a class in the module of its area: the step that is wrong.

Where many ports differ in the value of one step, a row of a table registers each.
"""

import importlib
import pkgutil

from defects.record import DEFECTS, Defect

__all__ = ["DEFECTS", "Defect"]

for module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{module.name}")
