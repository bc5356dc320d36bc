"""The checks, one module for each area of the requirements; pure. A module that is put here is loaded."""

import importlib
import pkgutil
from importlib.metadata import entry_points

GROUP = "gemini_mcp_conformance.judge.checks"
"""The entry points by which other distributions add checks: each names a module that registers them."""


def load() -> None:
    """Register every check of the suite, and those that installed distributions add."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    for point in entry_points(group=GROUP):
        point.load()
