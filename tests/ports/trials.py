"""Trials: the ports that are judged, and for each defective one the requirement on which it must fail.

What is known of a port before it is started belongs here. Starts the ports that serve HTTP.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import killers
import oddity
from defects import all_defects
from gemini_mcp_conformance.play.target import Target
from http_port import HttpPort
from odd import all_odd
from serving import served

HERE = Path(__file__).resolve().parent
CORRECT = (sys.executable, str(HERE / "port.py"))
"""What a port over HTTP is compared with."""


@dataclass(frozen=True)
class Trial:
    """A port to be judged. `killer` is the requirement on which a defective one must fail; an odd one has none."""

    name: str
    command: tuple[str, ...]
    killer: str | None = None
    over_http: bool = False

    @contextmanager
    def target(self) -> Generator[Target]:
        """The port as a target of the suite."""
        if not self.over_http:
            yield Target(self.command)
            return
        with served(self.command, beside=CORRECT) as target:
            yield target


def defective(names: Sequence[str]) -> list[Trial]:
    """Every defective port that is known to be killed, or those that are named."""
    left_out = killers.unseen()
    return [
        Trial(
            defect.name,
            (sys.executable, str(HERE / "defective.py"), defect.name),
            defect.kills[0],
            issubclass(defect.port, HttpPort),
        )
        for defect in all_defects().values()
        if (defect.name in names if names else defect.name not in left_out)
    ]


def odd(names: Sequence[str]) -> list[Trial]:
    """Every odd port, or those that are named."""
    return [
        Trial(odd.name, tuple(oddity.command(odd)), over_http=odd.is_over_http)
        for odd in all_odd().values()
        if not names or odd.name in names
    ]
