"""Ports that conform and look odd. A new one is a class here, or a program in `../node` or `../go`."""

import importlib
import pkgutil
from pathlib import Path

from odd.record import ODD, Odd, program

__all__ = ["ODD", "Odd"]

for module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{module.name}")
for file in sorted((Path(__file__).parents[1] / "node").glob("*.mjs")):
    program(file)
for sources in sorted((Path(__file__).parents[1] / "go").glob("*/main.go")):
    program(sources)
