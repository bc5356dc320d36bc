"""Effort: how much work a comparison may still do. Pure: it counts steps and reads no clock.

Whatever searches or proves spends from one `Effort` for each pair of schemas. When it is used up, nothing more is
proven.
"""

from dataclasses import dataclass


@dataclass
class Effort:
    """The steps that are left."""

    # Counted, so that every machine gives the same verdicts; a limit in seconds would not.
    left: int = 2_000_000

    @property
    def is_spent(self) -> bool:
        return self.left <= 0

    def spend(self, steps: int) -> bool:
        """Whether there were steps left for this."""
        self.left -= steps
        return self.left > 0


def cost(size: int) -> int:
    """What it costs to try a value on schemas that hold so many values."""
    return 4 + size // 5
