"""The checks, a room for each part of a call's life; pure. A module that is put into one of them is loaded."""

import importlib
import pkgutil
from importlib.metadata import entry_points

GROUP = "gemini_mcp_conformance.checks"
"""The entry points by which other distributions add checks: each names a module that registers them."""


def load() -> None:
    """Register every check of the suite, and those that installed distributions add."""
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        importlib.import_module(module.name)
    for point in entry_points(group=GROUP):
        point.load()
