"""What an odd port is: one that conforms in a way its author is free to choose, its name, and what is odd about it.

A row registers each, as one of `defects/record.py` does a defect.
"""

from dataclasses import dataclass
from pathlib import Path

from http_port import HttpPort
from port import Port
from steps import Registers, Step, port_with


@dataclass(frozen=True)
class Odd:
    """An odd port: a class of ours, or a program in another language."""

    name: str
    sentence: str
    port: type[Port] | Path

    @property
    def is_over_http(self) -> bool:
        return isinstance(self.port, type) and issubclass(self.port, HttpPort)


ODD: dict[str, Odd] = {}


def odd(name: str, sentence: str) -> Registers:
    """A row without its steps."""

    def register(base: type[Port] = Port, /, **steps: Step) -> None:
        ODD[name] = Odd(name, sentence, port_with(name, base, **steps))

    return register


def program(file: Path) -> None:
    """Register a program; the first line of its opening comment says what is odd. One in Go is all of its folder."""
    first = file.read_text(encoding="utf-8").splitlines()[0]
    port = file.parent if file.suffix == ".go" else file
    ODD[port.stem] = Odd(port.stem, first.removeprefix("//").strip(), port)
