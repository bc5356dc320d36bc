"""Reads which processes there are: from /proc, or where there is none, as on macOS, from `ps`. Effect.

What is to be done with a process is decided by others.
"""

import os
import subprocess
import time
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
PS = ("ps", "-A", "-o", "pid=,ppid=,pgid=,stat=")

PATIENCE = 5.0
"""Seconds that `ps` may take."""


MAX_WALKS = 10
"""How often a tree of processes is walked that grows meanwhile."""


class Process(NamedTuple):
    """A process as it was a moment ago. `started` tells it from a later one with the same id; `ps` leaves it 0."""

    pid: int
    parent: int
    group: int
    started: int
    is_zombie: bool


def table() -> dict[int, Process]:
    """Every process, by its id."""
    if not has_proc():
        return from_ps()
    found = (read(name) for name in os.listdir(PROC) if name.isdigit())
    return {process.pid: process for process in found if process}


def below(root: int, spared: Container[int]) -> dict[int, Process]:
    """Every process below one of them, but for those that are spared and what is below them.

    That is much less to read than every process there is. One whose parent ends meanwhile appears below `root`, so the
    tree is walked until nothing new is found.
    """
    found: dict[int, Process] = {}
    for _ in range(MAX_WALKS):
        new = [pid for pid in _walk(root, spared) if pid not in found]
        found |= {process.pid: process for process in map(read, new) if process}
        if not new:
            break
    return found


@cache
def has_children() -> bool:
    """Whether this system tells which children a process has; some kernels are built without that."""
    return os.path.exists(PROC / "thread-self/children")


def now() -> int:
    """The time as /proc tells when a process started: in ticks since the system was booted."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return int(time.clock_gettime(clock) * os.sysconf("SC_CLK_TCK")) if clock is not None else 0


def has_proc() -> bool:
    """Whether this system tells about processes in files."""
    return os.path.exists(PROC / "self/stat")


def read(pid: int | str) -> Process | None:
    """One process, if it is there."""
    try:
        with open(f"{PROC}/{pid}/stat", "rb", buffering=0) as file:
            stat = file.read()
    except OSError:
        return None
    # The second field is the program's name in parentheses, which may itself hold blanks and parentheses.
    state, parent, group, *more = stat.rpartition(b")")[2].split(maxsplit=20)
    # The state is that of the first thread; while others live, so does the process.
    is_zombie = state in b"ZX" and int(more[14]) < 2
    return Process(int(pid), int(parent), int(group), int(more[16]), is_zombie)


def _walk(root: int, spared: Container[int]) -> Iterator[int]:
    waiting, seen = [root], {root}
    while waiting:
        for child in _children(waiting.pop()):
            if child not in spared and child not in seen:
                seen.add(child)
                waiting.append(child)
                yield child


def _children(pid: int) -> Iterator[int]:
    """The children of a process. Each of its threads has its own."""
    with suppress(OSError):
        for thread in os.listdir(f"{PROC}/{pid}/task"):
            with suppress(OSError), open(f"{PROC}/{pid}/task/{thread}/children", "rb", buffering=0) as file:
                yield from map(int, file.read().split())


def from_ps() -> dict[int, Process]:
    """Every process, as `ps` shows it."""
    with suppress(OSError, subprocess.SubprocessError):
        shown = subprocess.run(PS, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=True).stdout
        rows = (line.split() for line in shown.splitlines())
        return {
            int(pid): Process(int(pid), int(parent), int(group), 0, state[:1] == b"Z")
            for pid, parent, group, state in rows
        }
    return {}


def variable(pid: int, name: str) -> str:
    """A variable in the environment that a process was started with; empty where it cannot be read."""
    with suppress(OSError):
        for entry in (PROC / str(pid) / "environ").read_bytes().split(b"\0"):
            if entry.startswith(os.fsencode(name) + b"="):
                return os.fsdecode(entry.partition(b"=")[2])
    return ""


def with_descendants(roots: Iterable[int], processes: Mapping[int, Process]) -> dict[int, Process]:
    """The processes with these ids, and all that they have started."""
    children: dict[int, list[int]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process.pid)
    found: dict[int, Process] = {}
    waiting = list(roots)
    while waiting:
        pid = waiting.pop()
        if pid in processes and pid not in found:
            found[pid] = processes[pid]
            waiting += children.get(pid, ())
    return found
