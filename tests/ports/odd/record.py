"""What an odd port is: one that conforms in a way its author is free to choose, its name, and what is odd about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from port import Port


@dataclass(frozen=True)
class Odd:
    """An odd port: a class of ours, or a program in another language."""

    name: str
    sentence: str
    port: type[Port] | Path


ODD: dict[str, Odd] = {}


def odd(port: type[Port]) -> type[Port]:
    """Register a port under the name of its class; its docstring says what is odd."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", port.__name__).lower()
    ODD[name] = Odd(name, str(port.__doc__), port)
    return port


def program(file: Path) -> None:
    """Register a program; the first line of its opening comment says what is odd."""
    first = file.read_text(encoding="utf-8").splitlines()[0]
    ODD[file.stem] = Odd(file.stem, first.removeprefix("//").strip(), file)
