"""Restarts the fake with default signals and descriptors: `defaults.py ENVIRON PROGRAM ARGUMENT...`. Effect.

A shell cannot reset signals that its parent ignores, and its tools fail where a descriptor does not block. Gemini CLI
resets the signals when it starts, and copes with such descriptors.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

RESET = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGTERM)


def start_again(environ: str, argv: list[str]) -> None:
    """Become the program, with the environment in that file. The file is removed."""
    for number in RESET:
        signal.signal(number, signal.SIG_DFL)
    for descriptor in range(3):
        with suppress(OSError):
            os.set_blocking(descriptor, True)
    with open(environ, "rb") as file:
        entries = [entry.partition(b"=") for entry in file.read().split(b"\0") if entry]
    os.unlink(environ)
    os.execve(argv[0], argv, {name: value for name, _, value in entries})


if __name__ == "__main__":
    start_again(sys.argv[1], sys.argv[2:])
