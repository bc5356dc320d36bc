"""Ports that conform and look odd, none to be accused. A new one is a class here, or a program in `../node`."""

from pathlib import Path

from odd import commands, messages, results
from odd.record import ODD, Odd, program

for file in sorted((Path(__file__).parents[1] / "node").glob("*.mjs")):
    program(file)

__all__ = ["ODD", "Odd", "commands", "messages", "results"]
