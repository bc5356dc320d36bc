"""What a defect is: a port with one fault, its name, what is wrong, and the requirements whose checks must fail.

A row registers each: what is wrong, then the steps that are. It goes into the room where its fault hides, in the module
named after the requirement it breaks first: `error:stderr` is in `error_stderr.py`, where there is one, or `error.py`.

    defect("ping-answers-pong", "Answers ping with something.", "lifecycle:ping")(ping=always({"pong": True}))
"""

from dataclasses import dataclass

from port import Port
from steps import Registers, Step, port_with


@dataclass(frozen=True)
class Defect:
    """A fault and the port that has it. The check of the first requirement must find it."""

    name: str
    sentence: str
    kills: tuple[str, ...]
    port: type[Port]


DEFECTS: dict[str, Defect] = {}


def defect(name: str, sentence: str, *requirements: str) -> Registers:
    """A row without its steps."""

    def register(base: type[Port] = Port, /, **steps: Step) -> None:
        assert name not in DEFECTS, f"Two defects are named {name}."
        DEFECTS[name] = Defect(name, sentence, requirements, port_with(name, base, **steps))

    return register
