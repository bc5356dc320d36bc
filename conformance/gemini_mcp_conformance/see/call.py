"""Call: one start of gemini, as the fake has journalled it; pure.

The journal of the fake fills the records. What a start means for a request is for `attribution` to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["call", "list", "version"]
PIPES = ("pipe", "socket")
"""Kinds of stdin that somebody writes while gemini reads."""

StdinKind = Literal["null", "pipe", "socket", "file", "terminal", "closed"]


class Stat(NamedTuple):
    """The fields of /proc/PID/stat that identify a process."""

    pid: int
    state: str
    pgid: int
    starttime: int | None

    @classmethod
    def parse(cls, line: str) -> Stat:
        pid, rest = line.split(" ", 1)
        # The name of the program stands in parentheses, and may itself hold blanks and parentheses.
        fields = rest[rest.rindex(")") + 1 :].split()
        # Where there is no /proc, the fake writes no more than the fields up to the group.
        return cls(int(pid), fields[0], int(fields[2]), int(fields[19]) if len(fields) > 19 else None)

    def is_same(self, other: Stat) -> bool:
        # The system gives the pid of an ended process to another one.
        return self.pid == other.pid and self.starttime == other.starttime


@dataclass(frozen=True)
class Given:
    """A file that a variable names: its content at the start and at the end of gemini, and its modes."""

    path: str
    content: bytes | None
    at_end: bytes | None
    mode: int | None
    directory_mode: int | None


@dataclass(frozen=True)
class Call:
    """One start of gemini, as the fake saw it.

    `started` and `ended` are nanoseconds, exact to a tick of the kernel (about 4 ms). `ended` is None while gemini
    runs, and when a signal has ended it. `stdin_inherited` is a stdin that is the port's own, and `stdin_saved`
    says that another descriptor is. `given` are the files that variables name. `is_prepared` says that it runs and
    has done what makes it harder to end, `is_unplayed` that it ended because none of the plays was for its command
    line.
    """

    number: int
    kind: Kind
    argv: tuple[bytes, ...]
    cwd: str
    environ: Mapping[str, str]
    stdin: bytes | None
    stdin_kind: StdinKind
    stdin_eof: bool
    stdin_inherited: bool
    stdin_saved: bool
    given: Mapping[str, Given]
    stat: Stat
    children: tuple[int, ...]
    started: int
    ended: int | None
    files: str
    is_prepared: bool
    is_unplayed: bool

    @property
    def file(self) -> Given:
        """The first file that a variable names; empty when there is none."""
        return next(iter(self.given.values()), NOTHING)

    @property
    def pid(self) -> int:
        return self.stat.pid

    @property
    def pgid(self) -> int:
        return self.stat.pgid


NOTHING = Given("", None, None, None, None)
