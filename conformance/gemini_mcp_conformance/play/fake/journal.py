"""Journal: reads the files that the fake gemini writes about each call into a Call. Reads files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from stat import filemode
from typing import cast

from gemini_mcp_conformance.see.call import Call, Given, Kind, Stat, StdinKind


class Journal:
    """A folder of these files. A call that has ended is read once."""

    def __init__(self, folder: Path, variables: tuple[str, ...]) -> None:
        self.prefix = f"{folder}{os.sep}"
        """What the paths of the files begin with."""
        self._variables = variables
        self.expected: Mapping[str, str] = {}
        """What a call was given, if it says that this was there."""
        self._ended: dict[int, Call] = {}
        self._last = 0

    def read(self, since: int = 0) -> tuple[Call, ...]:
        """Every journalled call after number `since`, in the order of their start."""
        calls = (self._call(number) for number in range(since + 1, self.last() + 1))
        return tuple(call for call in calls if call is not None)

    def last(self) -> int:
        """The greatest number so far; 0 before the first call."""
        # Another Fake for the same directory may have cleared the journal.
        if self._last and not self._has_started(self._last):
            self._last = 0
        while self._has_started(self._last + 1):
            self._last += 1
        return self._last

    def clear(self) -> None:
        """Forget every call."""
        self._ended.clear()
        # For thousands of files, objects that hold their paths would take as long as the files themselves.
        for name in os.listdir(self.prefix):
            os.unlink(f"{self.prefix}{name}")

    def _has_started(self, number: int) -> bool:
        return os.path.exists(f"{self.prefix}{number}.start")

    def _call(self, number: int) -> Call | None:
        call = self._ended.get(number)
        if call is None:
            call = _read_call(f"{self.prefix}{number}", number, self._variables, self.expected)
        if call is not None and call.ended is not None:
            self._ended[number] = call
        return call


def _read_call(files: str, number: int, variables: tuple[str, ...], expected: Mapping[str, str]) -> Call | None:
    # Asked first: the journal of an ended call is kept, so all of it must have been written before it is read.
    ended = _time(files, "end")
    head = _bytes(files, "head")
    # The fake ends the head with a full stop; without that it is still being written.
    if head is None or not head.endswith(b"\n."):
        return None
    stat, summary, rest = head.split(b"\n", 2)
    kind, stdin_kind, count, *own = summary.decode("ascii").split()
    *argv, cwd = rest.split(b"\0", int(count))
    environ = {**(expected if "expected" in own else {}), **_environ(files)}
    return Call(
        number=number,
        kind=cast("Kind", kind),
        argv=tuple(argv),
        cwd=os.fsdecode(cwd.removesuffix(b"\n.")),
        environ=environ,
        stdin=_bytes(files, "stdin"),
        stdin_kind=cast("StdinKind", stdin_kind),
        stdin_eof=_exists(files, "eof"),
        stdin_inherited="inherited" in own,
        stdin_saved="saved" in own,
        given={name: _given(files, name, environ[name]) for name in variables if name in environ},
        stat=Stat.parse(stat.decode("utf-8", "replace")),
        children=tuple(int(pid) for pid in (_bytes(files, "children") or b"").split()),
        started=_time(files, "start") or 0,
        ended=ended,
        files=files,
        is_prepared=ended is None and _exists(files, "prepared"),
        is_unplayed=kind == "call" and ended is not None and not _exists(files, "play"),
    )


def _given(files: str, variable: str, path: str) -> Given:
    content, modes = _bytes(files, f"file-{variable}"), _modes(_bytes(files, f"modes-{variable}"))
    at_end = content if _exists(files, f"unchanged-{variable}") else _bytes(files, f"file-end-{variable}")
    return Given(path, content, at_end, *modes)


def _environ(files: str) -> Mapping[str, str]:
    # Only with /proc or `env -0` can a newline in a value be told from the end of the value.
    exact = _bytes(files, "environ")
    entries = exact.split(b"\0") if exact else (_bytes(files, "environ-lines") or b"").split(b"\n")
    pairs = (os.fsdecode(entry).partition("=") for entry in entries if entry)
    return {name: value for name, _, value in pairs}


def _modes(listing: bytes | None) -> tuple[int | None, int | None]:
    """The modes of the file and of its directory in the output of `ls -ld`."""
    # POSIX has no program that prints the mode as a number.
    letters = [line[:10].decode("ascii", "replace") for line in (listing or b"").split(b"\n") if line]
    files = [_mode(line) for line in letters if not line.startswith("d")]
    directories = [_mode(line) for line in letters if line.startswith("d")]
    return (files or [None])[0], (directories or [None])[0]


def _mode(letters: str) -> int | None:
    return _modes_by_letters().get(letters[1:])


@cache
def _modes_by_letters() -> Mapping[str, int]:
    return {filemode(mode)[1:]: mode for mode in range(0o10000)}


def _bytes(files: str, suffix: str) -> bytes | None:
    try:
        with open(f"{files}.{suffix}", "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _exists(files: str, suffix: str) -> bool:
    return os.path.exists(f"{files}.{suffix}")


def _time(files: str, suffix: str) -> int | None:
    try:
        return os.stat(f"{files}.{suffix}").st_mtime_ns
    except FileNotFoundError:
        return None
