"""Finds the processes of a fake gemini that still live, in /proc where there is one; zombies do not count. Effect."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from gemini_mcp_conformance.see.call import Stat

PROC = Path("/proc")
MARKER = b"GEMINI_FAKE_CALL="
"""The fake exports this variable, so that its descendants are recognised in any process group."""


def is_running(main: Stat) -> bool:
    """Whether the process `main` itself lives; False where that cannot be read."""
    stat = _read(main.pid)
    # A zombie has ended; in a container the first process may never collect it.
    return stat is not None and stat.is_same(main) and stat.state not in "ZX"


def living(main: Stat, call: str, children: Iterable[int]) -> frozenset[int]:
    """The pids of the call `main` that live: itself, what it started, and its group when it leads one."""
    if not (PROC / "self" / "stat").exists():
        return frozenset(pid for pid in (main.pid, *children) if _exists(pid))
    marker = MARKER + os.fsencode(call)
    return frozenset(stat.pid for stat in _processes() if _belongs(stat, main, marker))


def living_below(mains: Sequence[Stat], folder: str) -> frozenset[int]:
    """The pids that live of all calls whose files lie in `folder`; `mains` are the calls themselves."""
    if not (PROC / "self" / "stat").exists():
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
    if stat.state in "ZX" or _is_older(stat, main):
        return False
    if stat.is_same(main) or (main.pgid == main.pid and stat.pgid == main.pgid):
        return True
    return _has_marker(stat.pid, marker)


def _is_older(stat: Stat, main: Stat) -> bool:
    """Whether a process is older than a call, and so does not belong to it."""
    return stat.starttime is not None and main.starttime is not None and stat.starttime < main.starttime


def _is_one_of(stat: Stat, known: Mapping[int, Stat]) -> bool:
    return stat.pid in known and stat.is_same(known[stat.pid])


def _has_marker(pid: int, marker: bytes, prefix: bool = False) -> bool:
    try:
        variables = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return any(variable.startswith(marker) for variable in variables) if prefix else marker in variables


def _processes() -> Iterator[Stat]:
    for entry in os.listdir(PROC):
        if entry.isdecimal() and (stat := _read(int(entry))) is not None:
            yield stat


def _read(pid: int) -> Stat | None:
    try:
        with open(f"{PROC}/{pid}/stat", "rb", buffering=0) as file:
            return Stat.parse(file.read().decode("utf-8", "replace"))
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
