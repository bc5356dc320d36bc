"""Patience: how long a port is waited for; pure."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Patience:
    """Seconds that the player waits for what should happen at once."""

    answer: float = 10
    start: float = 5
    end: float = 10
    files: float = 5

    def shortened(self) -> Patience:
        """For a port that has kept silent once."""
        return replace(self, answer=max(3.0, self.answer / 2), start=max(1.0, self.start / 3))

    def lost(self) -> Patience:
        """For the rest of a conversation that has failed already."""
        return replace(
            self,
            answer=min(2.0, self.answer),
            start=min(1.0, self.start),
            end=min(2.0, self.end),
            files=min(1.0, self.files),
        )
