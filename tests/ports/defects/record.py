"""What a defect is: a port with one fault, its name, what is wrong, and the requirements whose checks must fail."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from port import Port


@dataclass(frozen=True)
class Defect:
    """A fault and the port that has it. The check of the first requirement must find it."""

    name: str
    sentence: str
    kills: tuple[str, ...]
    port: type[Port]


DEFECTS: dict[str, Defect] = {}


def breaks(*requirements: str) -> Callable[[type[Port]], type[Port]]:
    """Register a port under the name of its class; its docstring says what is wrong."""

    def register(port: type[Port]) -> type[Port]:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", port.__name__).lower()
        assert name not in DEFECTS, f"Two defects are named {name}."
        DEFECTS[name] = Defect(name, str(port.__doc__), requirements, port)
        return port

    return register


def variant(base: type[Port], name: str, sentence: str, kills: tuple[str, ...], **steps: Callable[..., Any]) -> None:
    """Register a port that differs from `base` in steps alone; a step is a method, or static."""
    breaks(*kills)(type(name, (base,), {"__doc__": sentence, **steps}))
