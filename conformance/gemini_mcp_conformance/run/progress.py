"""Progress: shows on a stream what runs, how many there are and how long they will take. Effect.

A terminal has one line that is overwritten. Anything else gets a line for each phase when it begins, and one at least
every HEARTBEAT seconds, because a log that stands still looks like a run that hangs.
"""

from __future__ import annotations

import math
import os
import shutil
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol, TextIO

CLEAR = "\r\x1b[K"
HEARTBEAT = 15.0
LOOK = 1.0
"""Seconds between two looks whether a line is due."""

TOO_EARLY = 1 / 20
"""The share below which no time is estimated: the first conversations are few, and slow ones are among them."""


class OnProgress(Protocol):
    """Takes what is waited for: its name, its phase, how many have ended, and the number of all."""

    def __call__(self, name: str, phase: str, number: int, count: int) -> None: ...


def unseen(name: str, phase: str, number: int, count: int) -> None:
    """Show no progress."""


class Progress:
    """Shows on a stream what begins; after `budget` seconds the run ends, whatever is left."""

    def __init__(
        self,
        stream: TextIO,
        is_on: bool = True,
        budget: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream, self._is_on, self._budget, self._clock = stream, is_on, budget, clock
        self._is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._began = self._told = clock()
        self._name, self._number, self._count = "", 0, 0
        self._phases = set[str]()
        self._lock = threading.Lock()

    def __call__(self, name: str, phase: str, number: int, count: int) -> None:
        with self._lock:
            is_new = phase not in self._phases
            self._phases.add(phase)
            self._name, self._number, self._count = name, number, count
            if self._is_terminal:
                self._write(CLEAR + self._line(name)[: shutil.get_terminal_size().columns - 1])
            elif is_new:
                self._write(f"{self._place()}  {phase}\n")

    def beat(self) -> None:
        """Tell what runs if nothing was told for HEARTBEAT seconds."""
        with self._lock:
            if self._count and not self._is_terminal and self._clock() - self._told >= HEARTBEAT - LOOK:
                self._write(f"{self._line(self._name)}\n")

    def note(self, text: str) -> None:
        """Tell something that stays, on a line of its own."""
        with self._lock:
            self._write(f"{CLEAR if self._is_terminal else ''}{text}\n")

    @contextmanager
    def beating(self) -> Generator[Progress]:
        """Tell what runs for as long as it runs, and leave the terminal's line empty for what follows."""
        ended = threading.Event()
        beats = threading.Thread(target=self._beat_until, args=(ended,), daemon=True)
        beats.start()
        try:
            yield self
        finally:
            ended.set()
            beats.join()
            self.end()

    def end(self) -> None:
        """Leave the terminal's line empty for what follows."""
        if self._is_terminal:
            self._write(CLEAR)

    def _beat_until(self, ended: threading.Event) -> None:
        while not ended.wait(LOOK):
            self.beat()

    def _write(self, text: str) -> None:
        if not self._is_terminal:
            self._told = self._clock()
        if self._is_on:
            self._stream.write(text)
            self._stream.flush()

    def _line(self, name: str) -> str:
        return f"{self._place()}  {name}{self._left()}"

    def _place(self) -> str:
        # Conversations that are played side by side may all have ended before the last one is asked for.
        return f"{min(self._number + 1, self._count)}/{self._count}"

    def _left(self) -> str:
        if self._number <= self._count * TOO_EARLY:
            return ""
        passed = self._clock() - self._began
        left = passed / self._number * (self._count - self._number)
        seconds = max(0.0, min(left, self._budget - passed))
        return f"  about {seconds:.0f} s left" if seconds < 100 else f"  about {seconds / 60:.0f} min left"
