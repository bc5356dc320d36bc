"""The fake gemini: a program put first on PATH that journals how it was called and plays a script.

Fake is the handle: it writes the program and the scripts, reads the journal, and ends what still lives.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from gemini_mcp_conformance.fake import processes, program
from gemini_mcp_conformance.fake.journal import Call, Journal, Kind, StdinKind
from gemini_mcp_conformance.fake.script import Play, Script, ScriptError, to_shell

__all__ = ["Call", "Fake", "Kind", "Play", "Script", "ScriptError", "StdinKind"]

PAUSE = 0.005
"""Seconds between two looks at the journal."""

CLOSED = "finish 70\n"


class Fake:
    """A fake gemini under a directory of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root / "bin"
        self.program = self.bin / "gemini"
        self._journal = Journal(root / "journal")
        self._loads = 0

    @classmethod
    def create(cls, root: Path) -> Fake:
        """Write the program into `root`, with no play loaded; what is there already stays."""
        fake = cls(root.resolve())
        for folder in (fake.bin, fake.root / "journal", fake.root / "plays", fake.root / "releases"):
            folder.mkdir(parents=True, exist_ok=True)
        fake._loads = len(list((fake.root / "plays").iterdir()))
        fake.load(())
        fake.program.write_text(program.text(fake.root), encoding="utf-8", errors="surrogateescape")
        fake.program.chmod(0o755)
        return fake

    def __enter__(self) -> Fake:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def environ(self, base: Mapping[str, str]) -> dict[str, str]:
        """`base` with the fake first on PATH."""
        return {**base, "PATH": os.pathsep.join(filter(None, (str(self.bin), base.get("PATH"))))}

    def load(self, plays: Sequence[Play]) -> None:
        """Set what the coming calls do; calls that run already go on with what they have."""
        folder = self._new_folder()
        sequence = [play for play in plays if play.match is None]
        matched = [play for play in plays if play.match is not None]
        named = [(str(n), play) for n, play in enumerate(sequence, 1)]
        named += [(f"match{n}", play) for n, play in enumerate(matched, 1)]
        for name, play in named:
            self._write_play(folder, name, play.resolved())
        matches = [(name, play.match) for name, play in named if play.match is not None]
        first = named[0][0] if named else ""
        text = _playlist(folder, first, self._journal.last(), len(sequence), matches)
        (folder / "playlist").write_text(text, encoding="utf-8", errors="surrogateescape")
        _point(self.root / "playlist", folder / "playlist")

    def know_stdin(self, pid: int) -> None:
        """Tell a stdin that the process `pid` has handed down from any other; where there is /proc."""
        (self.root / "stdin").symlink_to(f"/proc/{pid}/fd/0")

    def release(self, name: str) -> None:
        """Let the plays that wait, or will wait, for `name` go on."""
        path = self.root / "releases" / name
        waiting = os.open(path, os.O_RDWR | os.O_NONBLOCK) if path.exists() else None
        _replace(path, "")
        if waiting is not None:
            os.close(waiting)

    def reset(self) -> None:
        """Forget every call and play; numbering starts again at 1."""
        self._end_everything()
        self._journal.clear()
        self.load(())

    def calls(self, since: int = 0) -> tuple[Call, ...]:
        """The calls and listings after number `since`, as they started; questions for the version do not count."""
        return tuple(call for call in self._journal.read(since) if call.kind != "version")

    def last(self) -> int:
        """The number of the latest start; 0 before the first."""
        return self._journal.last()

    def starts(self) -> tuple[Call, ...]:
        """Every start of gemini so far, questions for the version included."""
        return self._journal.read()

    def call(self, number: int) -> Call:
        """The journal of one call as it is now."""
        return next(call for call in self.starts() if call.number == number)

    def wait_for_calls(self, count: int, timeout: float) -> tuple[Call, ...]:
        """Wait until at least `count` calls have started; TimeoutError if they do not."""
        _wait(lambda: len(self.calls()) >= count, timeout, f"{count} calls of gemini did not start")
        return self.calls()

    def wait_for_end(self, call: Call, timeout: float) -> Call:
        """Wait until nothing of `call` lives; TimeoutError if something still does."""
        _wait(lambda: not self.alive(call), timeout, f"call {call.number} of gemini did not end")
        return self.call(call.number)

    def alive(self, *calls: Call) -> bool:
        """Whether a process of any of `calls` lives: itself, its group when it leads one, what it started."""
        return any(processes.is_running(call.stat) or self.living(call) for call in calls)

    def living(self, call: Call) -> frozenset[int]:
        """The pids of `call` that live; zombies do not."""
        return processes.living(call.stat, str(call.files), call.children)

    def close(self) -> None:
        """End every process of the fake that still lives; later starts of it fail. The files stay."""
        self.program.unlink(missing_ok=True)
        _replace(self.root / "playlist", CLOSED)
        self._end_everything()

    def _end_everything(self) -> None:
        deadline = time.monotonic() + 2
        while (pids := self._all_living()) and time.monotonic() < deadline:
            processes.end(pids)
            time.sleep(PAUSE)

    def _all_living(self) -> frozenset[int]:
        starts = self.starts()
        if not starts:
            return frozenset()
        return processes.living_below([call.stat for call in starts], f"{self._journal.folder}{os.sep}")

    def _new_folder(self) -> Path:
        """A folder for a playlist; another handle of the same fake may have made some."""
        while True:
            self._loads += 1
            folder = self.root / "plays" / str(self._loads)
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                return folder

    def _write_play(self, folder: Path, name: str, script: Script) -> None:
        self._write_steps(folder, f"{name}.sh", script.play)
        if script.list_sessions is not None:
            self._write_steps(folder, f"{name}.list", script.list_sessions)

    def _write_steps(self, folder: Path, name: str, steps: Sequence[Mapping[str, object]]) -> None:
        data = folder / f"{name}.data"
        releases = self.root / "releases"
        translation = to_shell(steps, data, releases)
        for file, content in translation.files.items():
            data.mkdir(exist_ok=True)
            (data / file).write_bytes(content)
        for release in translation.releases:
            if not (releases / release).is_fifo():
                os.mkfifo(releases / f"{release}.new")
                (releases / f"{release}.new").replace(releases / release)
        (folder / name).write_text("\n".join((*translation.lines, "")), encoding="ascii")


def _playlist(folder: Path, first: str, since: int, sequence: int, matches: Sequence[tuple[str, str]]) -> str:
    arms = [f"*{shlex.quote(match)}*) play={name}; return ;;" for name, match in matches]
    greps = [f'"$grep" -qF -e {shlex.quote(match)} "$call.stdin" && play={name} && return' for name, match in matches]
    lines = [
        f"plays={shlex.quote(str(folder))}",
        f"first={first}",
        f"since={since}",
        f"sequence={sequence}",
        "choose() {",
        "play=",
        *(['case "$*" in', *arms, "esac", '[ -s "$call.stdin" ] || return 0', *greps] if matches else []),
        "return 0",
        "}",
    ]
    return "\n".join((*lines, ""))


def _point(link: Path, file: Path) -> None:
    """Let the link name another file, in one step; to replace a file would make some file systems flush it."""
    new = link.with_name(f"{link.name}.new")
    new.symlink_to(file.relative_to(link.parent))
    new.replace(link)


def _replace(path: Path, text: str) -> None:
    """Write a file in one step, so that a call that starts now reads the old one or the new one."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8", errors="surrogateescape")
    new.replace(path)


def _wait(condition: Callable[[], bool], timeout: float, complaint: str) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{complaint} within {timeout:g} s.")
        time.sleep(PAUSE)
