"""A process group: its id in, signals and the question whether it lives out. Effect.

A zombie does not live: the first process of a container may never reap it.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")


def send(group: int, number: signal.Signals) -> None:
    """Send a signal to every process of the group, if there is one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def lives(group: int) -> bool:
    """Whether a process of the group lives, zombies aside."""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return not PROC.is_dir() or any(_is_living_member(entry, group) for entry in PROC.iterdir() if entry.name.isdigit())


def _is_living_member(entry: Path, group: int) -> bool:
    with suppress(OSError):
        state, _, member_of = (entry / "stat").read_bytes().rpartition(b")")[2].split()[:3]
        return state not in b"ZX" and int(member_of) == group
    return False
