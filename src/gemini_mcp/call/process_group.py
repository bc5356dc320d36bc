"""Signals a process group, and tells whether it is alive. Effect.

Zombies do not count as alive: in a container, process 1 may never reap them.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")


def send(group: int, number: signal.Signals) -> None:
    """Send a signal to every process of the group, if there is one."""
    # macOS refuses with EPERM when only zombies are left in the group.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def is_alive(group: int) -> bool:
    """Whether the group has a process that is not a zombie. Without /proc, as on macOS, zombies count as alive."""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return not PROC.is_dir() or any(_is_living_member(entry, group) for entry in PROC.iterdir() if entry.name.isdigit())


def _is_living_member(entry: Path, group: int) -> bool:
    with suppress(OSError):
        # The second field is the program's name in parentheses, which may itself hold blanks and parentheses.
        state, _, member_of = (entry / "stat").read_bytes().rpartition(b")")[2].split()[:3]
        return state not in b"ZX" and int(member_of) == group
    return False
