"""Ports that conform and look odd: the suite must accuse none of them. A new one is a class here, or a program."""

from pathlib import Path

from odd import commands, messages, results
from odd.record import ODD, Odd, program

for file in sorted(Path(__file__).parent.glob("*.mjs")):
    program(file)

__all__ = ["ODD", "Odd", "commands", "messages", "results"]
