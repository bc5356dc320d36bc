"""Finds the processes of a fake gemini that still live, in /proc where there is one; zombies do not count. Effect."""

from __future__ import annotations

import contextlib
import math
import os
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from gemini_mcp_conformance.see.call import Stat

PROC = "/proc"
MARKER = b"GEMINI_FAKE_CALL="
"""The fake exports this variable, so that its descendants are recognised in any process group."""


def is_running(main: Stat) -> bool:
    """Whether the process `main` itself lives; False where that cannot be read."""
    stat = _read(main.pid)
    # A zombie has ended; in a container the first process may never collect it.
    return stat is not None and stat.is_same(main) and stat.state not in "ZX"


def living(main: Stat, call: str, children: Iterable[int]) -> frozenset[int]:
    """The pids of the call `main` that live: itself, what it started, and its group when it leads one."""
    if not os.path.exists(f"{PROC}/self/stat"):
        return frozenset(pid for pid in (main.pid, *children) if _exists(pid))
    marker = MARKER + os.fsencode(call)
    return frozenset(stat.pid for stat in _processes(main.starttime) if _belongs(stat, main, marker))


def living_below(mains: Sequence[Stat], folder: str) -> frozenset[int]:
    """The pids that live of all calls whose files lie in `folder`; `mains` are the calls themselves."""
    if not os.path.exists(f"{PROC}/self/stat"):
        return frozenset(main.pid for main in mains if _exists(main.pid))
    known = {main.pid: main for main in mains}
    groups = {main.pgid for main in mains if main.pgid == main.pid}
    marker = MARKER + os.fsencode(folder)
    return frozenset(
        stat.pid
        for stat in _processes()
        if stat.state not in "ZX"
        and (stat.pgid in groups or _is_one_of(stat, known) or _has_marker(stat.pid, marker, prefix=True))
    )


def end(pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _belongs(stat: Stat, main: Stat, marker: bytes) -> bool:
    if stat.state in "ZX":
        return False
    if stat.is_same(main) or (main.pgid == main.pid and stat.pgid == main.pgid):
        return True
    return _has_marker(stat.pid, marker)


def _is_one_of(stat: Stat, known: Mapping[int, Stat]) -> bool:
    return stat.pid in known and stat.is_same(known[stat.pid])


def _has_marker(pid: int, marker: bytes, prefix: bool = False) -> bool:
    try:
        with open(f"{PROC}/{pid}/environ", "rb", buffering=0) as file:
            variables = file.read().split(b"\0")
    except OSError:
        return False
    return any(variable.startswith(marker) for variable in variables) if prefix else marker in variables


def _processes(since: int | None = None) -> Iterator[Stat]:
    """Every process, without those that began before `since`."""
    for entry in os.scandir(PROC):
        if entry.name.isdecimal():
            pid = int(entry.name)
            is_older = since is not None and _begin(pid, entry.inode()) < since
            if not is_older and (stat := _read(pid)) is not None:
                yield stat


@lru_cache(4096)
def _begin(pid: int, inode: int) -> float:
    """When a process began; of one that has ended, late. To read it takes long, and each look meets most of them again.

    A process that is given the pid of an ended one has another inode.
    """
    stat = _read(pid)
    return math.inf if stat is None or stat.starttime is None else stat.starttime


def _read(pid: int) -> Stat | None:
    try:
        with open(f"{PROC}/{pid}/stat", "rb", buffering=0) as file:
            return Stat.parse(file.read().decode("latin-1"))
    except (OSError, ValueError):
        return None


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
