"""Finds every process that a run has started, in whatever group or session it is now, and ends it. Effect.

On Linux the server adopts orphans, so all that a run has started stays below the server in the tree of processes. A
mark in the environment tells from which run an orphan comes; one that has cleared its environment comes from a run that
was there when it started, and its brand names the server. Elsewhere, only what was seen as a descendant before it
became an orphan is found.
"""

import os
import signal
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import count

from gemini_mcp.call import brand, processes
from gemini_mcp.call.processes import Process

MARK = "MCP_SERVER_RUN"
"""The variable that names the runs to which a process belongs: more than one where a server runs below another."""

SET_CHILD_SUBREAPER = 36
"""The number of PR_SET_CHILD_SUBREAPER in Linux."""

MAX_PASSES = 100
"""How often the processes are looked for while they are killed. One that is being killed starts no others."""

_numbers = count()
_running: dict[int, "Descendants"] = {}
"""The runs of this process by their leaders; a process can have only one parent, so they share the orphans."""


@dataclass
class _Adoption:
    """Whether this process adopts orphans, and whether all of them come from its runs: it had no child before."""

    is_on: bool = False
    is_exclusive: bool = False


_adoption = _Adoption()


def adopt() -> None:
    """Become the parent of every orphan that a run leaves behind, where the system knows how."""
    if _adoption.is_on or not processes.has_proc():
        return
    import ctypes  # Importing it takes time, and a server that is not called needs it not.

    with suppress(OSError, AttributeError):
        _adoption.is_on = ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    _adoption.is_exclusive = _adoption.is_on and _has_no_child()
    brand.put_on(_server())


def new_mark() -> str:
    """The value of `MARK` for one run, which keeps that of the run to which the server itself belongs."""
    return f"{os.environ.get(MARK, '')} {_server()}:{next(_numbers)}".strip()


class Descendants:
    """The processes of one run: its leader, and all that it has started."""

    def __init__(self, leader: int, mark: str, began: int) -> None:
        self._leader = leader
        self._mark = mark.split()[-1]
        self._began = began
        self._known: Mapping[int, Process] = {}
        self._asked: set[int] = set()
        _running[leader] = self

    def are_gone(self) -> bool:
        """Whether nothing of the run lives. Zombies do not: in a container, process 1 may never reap them."""
        return _has_no_child() or not self._living()

    def ask(self) -> None:
        """Ask each process to end that has not been asked."""
        living = self._living()
        # Not one by one, where it can be done at once: Gemini CLI is two processes, and the first ignores SIGTERM.
        if self._leader in living and self._leader not in self._asked:
            _send_to_group(self._leader, signal.SIGTERM)
            self._asked |= {pid for pid, process in living.items() if process.group == self._leader}
        for pid in living.keys() - self._asked:
            _send(pid, signal.SIGTERM)
        self._asked |= living.keys()

    def kill(self) -> None:
        """Kill each process."""
        if _has_no_child():
            return
        if not _adoption.is_on:
            _send_to_group(self._leader, signal.SIGKILL)
        killed: set[int] = set()
        for _ in range(MAX_PASSES):
            living = self._living().keys() - killed
            if not living:
                break
            for pid in living:
                _send(pid, signal.SIGKILL)
            killed |= living

    def forget(self) -> None:
        """The run is over."""
        _running.pop(self._leader, None)

    def _living(self) -> dict[int, Process]:
        table = self._table()
        roots = [pid for pid, process in table.items() if self._is_root(process)]
        # Remembered, because their children are found through them only while they live.
        self._known = processes.with_descendants(roots, table)
        if _adoption.is_on:
            _reap(table.values() if _adoption.is_exclusive else self._known.values())
        return {pid: process for pid, process in self._known.items() if not process.is_zombie}

    def _table(self) -> Mapping[int, Process]:
        """The processes among which those of this run are."""
        if _adoption.is_on and processes.has_children():
            return processes.below(os.getpid(), _running.keys() - {self._leader})
        return processes.table()

    def _is_root(self, process: Process) -> bool:
        pid, parent, group, started, _ = process
        known = self._known.get(pid)
        if pid == self._leader or (known is not None and known.started == started):
            return True
        if pid in _running or (_adoption.is_on and parent != os.getpid()):
            return False
        return group == self._leader if group in _running else self._has_left(process)

    def _has_left(self, process: Process) -> bool:
        """Whether a process outside all groups comes from this run."""
        marks = processes.variable(process.pid, MARK).split()
        marked = [run for run in _running.values() if run._mark in marks]
        if marked:
            return self in marked
        if any(_server_of(mark) == _server() for mark in marks):
            return True  # from a run that is over
        others = (run for run in _running.values() if run is not self)
        is_from_others = process.started < self._began or any(run._began <= process.started for run in others)
        return _adoption.is_exclusive and not is_from_others


def sweep() -> None:
    """Kill what the runs of killed servers of this user left behind."""
    if not processes.has_proc():
        return
    table = processes.table()
    spared = {os.getpid(), *_ancestors(os.getpid(), table)}
    others = table.keys() - spared
    abandoned = {pid for pid in others if _is_abandoned(pid)} | _branded_by_the_dead(others)
    for pid in processes.with_descendants(abandoned, table).keys() - spared:
        _send(pid, signal.SIGKILL)


def _is_abandoned(pid: int) -> bool:
    """Whether a process belongs to a run whose server is gone. Of servers in other containers nothing can be known."""
    named = (_server_of(mark).split(":") for mark in processes.variable(pid, MARK).split())
    return any(
        len(server) == 3 and server[0] == _namespace() and server[1].isdigit() and ":".join(server) != _name(server[1])
        for server in named
    )


def _branded_by_the_dead(pids: Iterable[int]) -> set[int]:
    """Those with the brand of a server that does not live."""
    brands = {pid: seen for pid in pids if (seen := brand.seen_on(pid)) and _namespace_of(pid) == _namespace()}
    # Looked for after their processes were found: a server that is not there now has not just been started.
    living = {brand.brand(_name_of(process)) for process in processes.table().values() if not process.is_zombie}
    return {pid for pid, seen in brands.items() if seen not in living}


def _ancestors(pid: int, table: Mapping[int, Process]) -> Iterable[int]:
    while pid in table and (pid := table[pid].parent):
        yield pid


@cache
def _server() -> str:
    return _name(os.getpid())


def _name(pid: int | str) -> str:
    """A living process in words that no other process will ever have."""
    process = processes.read(pid)
    return _name_of(process) if process and not process.is_zombie else f"{_namespace()}:{pid}:0"


def _name_of(process: Process) -> str:
    return f"{_namespace()}:{process.pid}:{process.started}"


@cache
def _namespace() -> str:
    """What tells the ids of this container's processes from those of others."""
    return _namespace_of("self")


def _namespace_of(pid: int | str) -> str:
    with suppress(OSError):
        return os.readlink(processes.PROC / str(pid) / "ns/pid").strip("pid:[]")
    return ""


def _server_of(mark: str) -> str:
    return mark.rpartition(":")[0]


def _has_no_child() -> bool:
    """Whether this process has no child at all; then nothing is left of any run."""
    if not _adoption.is_on:
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def _reap(table: Iterable[Process]) -> None:
    for process in table:
        if process.is_zombie and process.parent == os.getpid() and process.pid not in _running:
            with suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _send_to_group(group: int, number: signal.Signals) -> None:
    # macOS refuses with EPERM when only zombies are left in the group.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
