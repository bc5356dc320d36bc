"""How many calls and connections the system's limit of open files leaves room for. Effect: reads the limit.

A server that takes on more would fail in the middle of a call; one that knows its limit lets the next wait.
"""

import os
import resource

FOR_A_CALL = 6
"""Files that are open during a call: two or three pipes, the process, a directory, and the lock of another."""

RESERVE = 20
"""Files that are open for a moment, while gemini is started or its processes are looked for."""

PLENTY = 1 << 20
"""What counts as no limit."""


def free() -> int:
    """How many files calls and connections may open."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    limit = PLENTY if limit == resource.RLIM_INFINITY else limit
    return max(0, limit - len(os.listdir("/dev/fd")) - RESERVE)


def calls(wanted: int, files: int) -> int:
    """How many calls may run at once, of those that are wanted. One always may."""
    return max(1, min(wanted, files // FOR_A_CALL))


def connections(wanted: int, files: int) -> int:
    """How many connections may be open, of those that are wanted. Two always may: one carries a call, one its end."""
    return max(2, min(wanted, files))
