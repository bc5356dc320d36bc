"""Ports that conform and look odd. A new one is a class here, or a program in `../node` or `../go`."""

from collections.abc import Mapping
from pathlib import Path

import rows
from odd.record import ODD, Odd, program

__all__ = ["Odd", "all_odd", "odd_named"]

HERE = Path(__file__).parent

for file in (*sorted(HERE.parent.glob("node/*.mjs")), *sorted(HERE.parent.glob("go/*/main.go"))):
    program(file)


def all_odd() -> Mapping[str, Odd]:
    return rows.every(__name__, HERE, ODD)


def odd_named(name: str) -> Odd:
    return ODD[name] if name in ODD else rows.named(name, __name__, HERE, ODD)
