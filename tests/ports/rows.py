"""Loads the modules that hold the rows of a package: all of them, or the one with a certain row.

A port is a process that needs its own row only, and starts several times as fast with it alone.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

Row = TypeVar("Row")


def every(package: str, place: Path, rows: Mapping[str, Row]) -> Mapping[str, Row]:
    """All rows, which the modules of the package at this place have registered."""
    for module in pkgutil.walk_packages([str(place)], f"{package}."):
        importlib.import_module(module.name)
    return rows


def named(name: str, package: str, place: Path, rows: Mapping[str, Row]) -> Row:
    """The row of that name; where the name stands in no module as it is, among all."""
    text = f'"{name}"'.encode()
    for file in (file for file in sorted(place.rglob("*.py")) if text in file.read_bytes()):
        importlib.import_module(".".join((package, *file.relative_to(place).with_suffix("").parts)))
        if name in rows:
            return rows[name]
    return every(package, place, rows)[name]
