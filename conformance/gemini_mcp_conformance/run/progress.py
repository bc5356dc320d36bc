"""Progress: shows on a stream what runs, how many there are and how long they will take. Effect.

A terminal has one line that is overwritten; anything else gets a line for each phase.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Protocol, TextIO

CLEAR = "\r\x1b[K"


class OnProgress(Protocol):
    """Takes what begins: its name, its phase, its number and how many there are."""

    def __call__(self, name: str, phase: str, number: int, count: int) -> None: ...


def unseen(name: str, phase: str, number: int, count: int) -> None:
    """Show no progress."""


class Progress:
    """Shows on a stream what begins."""

    def __init__(self, stream: TextIO, is_on: bool = True, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._is_on, self._clock = stream, is_on, clock
        self._is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._began, self._phase = clock(), ""

    def __call__(self, name: str, phase: str, number: int, count: int) -> None:
        if not self._is_on:
            return
        if self._is_terminal:
            self._stream.write(f"{CLEAR}{number + 1}/{count}  {name}{self._left(number, count)}")
        elif phase != self._phase:
            self._stream.write(f"{number + 1}/{count}  {phase}\n")
        self._phase = phase
        self._stream.flush()

    def end(self) -> None:
        """Leave the terminal's line empty for what follows."""
        if self._is_on and self._is_terminal:
            self._stream.write(CLEAR)
            self._stream.flush()

    def _left(self, number: int, count: int) -> str:
        if not number:
            return ""
        seconds = (self._clock() - self._began) / number * (count - number)
        return f"  about {seconds:.0f} s left"
