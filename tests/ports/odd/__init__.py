"""Ports that conform and look odd. A new one is a class here, or a program in `../node` or `../go`."""

from pathlib import Path

from odd import (
    choices,
    commands,
    customs,
    endings,
    habits,
    messages,
    paces,
    results,
    streams,
    structures,
    surroundings,
    unseen,
)
from odd.record import ODD, Odd, program

for file in sorted((Path(__file__).parents[1] / "node").glob("*.mjs")):
    program(file)
for sources in sorted((Path(__file__).parents[1] / "go").glob("*/main.go")):
    program(sources)

__all__ = [
    "ODD",
    "Odd",
    "choices",
    "commands",
    "customs",
    "endings",
    "habits",
    "messages",
    "paces",
    "results",
    "streams",
    "structures",
    "surroundings",
    "unseen",
]
