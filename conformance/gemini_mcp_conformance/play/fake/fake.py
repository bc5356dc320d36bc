"""The fake gemini: a program, first on PATH, that journals how it is called and plays a script. Effect.

A Fake writes the program and the scripts, reads the journal, and ends the processes that still live.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.play.fake import processes, program
from gemini_mcp_conformance.play.fake.journal import Journal
from gemini_mcp_conformance.play.fake.script import Play, to_shell
from gemini_mcp_conformance.play.fake.watched import Watched, usual
from gemini_mcp_conformance.see.call import Call, Stat
from gemini_mcp_conformance.spec.script import Script

PAUSE = 0.005
"""Seconds between two looks at the journal."""

MOMENT = 0.2
"""Seconds in which a process that a call has left behind may go unseen: it has the marker once it runs a program."""

OF_SHELLS = ("PWD", "OLDPWD", "SHLVL", "_")
"""Variables that shells change."""

CLOSED = "finish 70\n"
"""The last playlist: a gemini that starts after it ends at once."""


class Fake:
    """A fake gemini under a directory of its own."""

    def __init__(self, root: Path, watched: Watched | None = None) -> None:
        self.root = root
        self.watched = watched or usual()
        self.bin = root / "bin"
        self.program = self.bin / self.watched.program
        self._aside = root / "aside"
        self._plays = root / "plays"
        self._releases = root / "releases"
        self._journal = Journal(root / "journal", self.watched.variables)
        self._loads = 0
        self._is_idle = False
        self._released: set[str] = set()
        self._gone: dict[Stat, float] = {}

    @classmethod
    def create(cls, root: Path, watched: Watched | None = None) -> Fake:
        """Write the program into `root`, with no play loaded; existing files stay."""
        fake = cls(root.resolve(), watched)
        for folder in (fake.bin, fake.root / "journal", fake._plays, fake._releases):
            folder.mkdir(parents=True, exist_ok=True)
        fake.load(())
        fake.program.write_text(program.text(fake.root, fake.watched), encoding="utf-8", errors="surrogateescape")
        fake.program.chmod(0o755)
        return fake

    def __enter__(self) -> Fake:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def environ(self, base: Mapping[str, str]) -> dict[str, str]:
        """`base` with the fake first on PATH."""
        return {**base, "PATH": os.pathsep.join(filter(None, (str(self.bin), base.get("PATH"))))}

    def take_away(self) -> None:
        """Leave no program on PATH, until it is put back."""
        self.program.rename(self._aside)

    def put_back(self) -> None:
        self._aside.rename(self.program)

    def expect(self, environ: Mapping[str, str]) -> None:
        """Tell what every call should be given. Of a call that is, only that and the watched variables are kept."""
        # A shell changes some of its variables itself, and takes no others than those with such names.
        others = (*OF_SHELLS, *self.watched.variables)
        names = [name for name in environ if name.isascii() and name.isidentifier() and name not in others]
        self._journal.expected = {name: environ[name] for name in names}
        found = "\n".join(f"${{{name}+.}}${{{name}-}}" for name in self._journal.expected)
        expected = "\n".join(f".{value}" for value in self._journal.expected.values())
        _replace(self.root / "expected", f'[ "{found}" = {shlex.quote(expected)} ]\n')

    def load(self, plays: Sequence[Play], since: int | None = None) -> None:
        """Set what the next calls play; calls that play already are not changed.

        The calls after number `since`, or those that are still to come, may ask for their list of sessions.
        """
        if self._is_idle and not plays:
            return
        self._is_idle = not plays
        sequence = [play for play in plays if play.match is None]
        matched = [play for play in plays if play.match is not None]
        named = [(str(n), play) for n, play in enumerate(sequence, 1)]
        named += [(f"match{n}", play) for n, play in enumerate(matched, 1)]
        matches = [(name, play.match) for name, play in named if play.match is not None]
        scripts = [(name, play.resolved()) for name, play in named]
        since = self._journal.last() if since is None else since
        head = _head(named[0][0] if named else "", since, len(sequence), matches)
        self._tell_late_reader(scripts)
        lists = [(name, script.list_sessions) for name, script in scripts if script.list_sessions is not None]
        performing = self._function("perform", [arm for name, script in scripts for arm in self._arms(name, script)])
        self._write_playlist("\n".join((*head, *performing, *self._function("list_sessions", lists), "")))

    def know_stdin(self, pid: int) -> None:
        """Let the fake recognise a stdin that is inherited from the process `pid`, where there is /proc."""
        (self.root / "stdin").symlink_to(f"/proc/{pid}/fd/0")

    def release(self, name: str) -> None:
        """Let plays that wait for `name` continue, now and later, until the releases are forgotten."""
        self._released.add(name)
        path = self._releases / name
        # Calls that wait have opened the FIFO, or hang in opening it until somebody writes. This end lets them in, and
        # closing it ends their `read`. Calls that come later find an empty file instead.
        waiting = os.open(path, os.O_RDWR | os.O_NONBLOCK) if path.exists() else None
        _replace(path, "")
        if waiting is not None:
            os.close(waiting)

    def forget_releases(self) -> None:
        """From the next load on, plays wait again for names that have been released."""
        self._released.clear()

    def reset(self) -> None:
        """Forget all calls and plays, and number calls from 1 again."""
        self.forget_releases()
        self._end_everything()
        self._journal.clear()
        self.load(())

    def calls(self, since: int = 0) -> tuple[Call, ...]:
        """The calls and listings after number `since`, in order; questions for the version are left out."""
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
        """Wait until no process of `call` lives; TimeoutError if one still does."""
        _wait(lambda: not self.alive(call), timeout, f"call {call.number} of gemini did not end")
        return self.call(call.number)

    def alive(self, *calls: Call) -> bool:
        """Whether a process of any of `calls` lives: itself, its group when it leads one, what it started."""
        return any(processes.is_running(call.stat) or self.living(call) for call in calls)

    def living(self, call: Call) -> frozenset[int]:
        """The pids of `call` that live; zombies do not. A call that has had none for a while will not get one again."""
        now = time.monotonic()
        if now - self._gone.get(call.stat, now) > MOMENT:
            return frozenset()
        found = processes.living(call.stat, call.files, call.children)
        if found:
            self._gone.pop(call.stat, None)
        else:
            self._gone.setdefault(call.stat, now)
        return found

    def close(self) -> None:
        """End every process of the fake; later starts of it fail. The files stay."""
        self.program.unlink(missing_ok=True)
        self._write_playlist(CLOSED)
        self._end_everything()

    def _end_everything(self) -> None:
        # What is ended may just have started something else.
        deadline = time.monotonic() + 2
        while (pids := self._all_living()) and time.monotonic() < deadline:
            processes.end(pids)
            time.sleep(PAUSE)

    def _all_living(self) -> frozenset[int]:
        starts = self.starts()
        if not starts:
            return frozenset()
        return processes.living_below([call.stat for call in starts], self._journal.prefix)

    def _write_playlist(self, text: str) -> None:
        """Write the next playlist in one step; another Fake for the same directory may have written some."""
        new = f"{self._plays}/new"
        with open(new, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        os.rename(new, self._playlist(self._next()))

    def _next(self) -> int:
        """The number of the next playlist."""
        while os.path.exists(self._playlist(self._loads + 1)):
            self._loads += 1
        return self._loads + 1

    def _playlist(self, number: int) -> str:
        return f"{self._plays}/{number}"

    def _function(self, name: str, parts: Sequence[tuple[str, Sequence[Mapping[str, Json]]]]) -> list[str]:
        """A shell function that plays the steps of the part that its argument names; `a|b` is a part with two names."""
        first = {part: part.partition("|")[0] for part, _ in parts}
        lines = {part: self._lines(f"{name}-{first[part]}", steps) for part, steps in parts}
        arms = [line for part in lines for line in (f"{part})", *lines[part], ";;")]
        return [f"{name}() {{", *(['case "$1" in', *arms, "esac"] if arms else ["return 0"]), "}"]

    def _tell_late_reader(self, scripts: Sequence[tuple[str, Script]]) -> None:
        """Write down what a call does before it reads its stdin, if a script says so; no name is no reading."""
        late = [script.play for _, script in scripts if any("unread" in step for step in script.play)]
        if late:
            told = {key: value for step in late[0] for key, value in step.items()}
            (self._releases / ".taken").unlink(missing_ok=True)
            _replace(self.root / "unread", f"{self._releases}/{told['unread']}\n{told.get('flood', 0)}\n")
        else:
            (self.root / "unread").unlink(missing_ok=True)

    def _arms(self, name: str, script: Script) -> Sequence[tuple[str, Sequence[Mapping[str, Json]]]]:
        """What is played, and what to a call that asks for a stream: mostly the same where nothing is answered."""
        streamed = script.play if self.watched.streams is None else self.watched.streams.steps(script.play)
        if streamed is script.play:
            return ((f"{name}|{name}-stream", script.play),)
        return ((name, script.play), (f"{name}-stream", streamed))

    def _lines(self, name: str, steps: Sequence[Mapping[str, Json]]) -> Sequence[str]:
        data = f"{self._playlist(self._next())}.{name}"
        translation = to_shell(steps, data, str(self._releases))
        for file, content in translation.files.items():
            os.makedirs(data, exist_ok=True)
            Path(data, file).write_bytes(content)
        for release in translation.releases - self._released:
            self._hold(self._releases / release)
        return translation.lines

    def _hold(self, release: Path) -> None:
        """Let plays wait for what has not been released. A released call may not have reached its wait yet."""
        if not release.is_fifo():
            release.with_name(f"{release.name}.taken").unlink(missing_ok=True)
            new = release.with_name(f"{release.name}.new")
            os.mkfifo(new)
            new.replace(release)


def _head(first: str, since: int, sequence: int, matches: Sequence[tuple[str, str]]) -> list[str]:
    """The shell lines by which a call finds its play."""
    arms = [f"*{shlex.quote(match)}*) play={name}; return ;;" for name, match in matches]
    # Some shells warn of a NUL in what they read, and all of them drop newlines at its end: a dot is put behind it.
    # 4096 bytes hold more than the characters by which a prompt is recognised (`RECOGNISED` in `play/gemini.py`).
    read = '[ ! -s "$call.stdin" ] || { start=$("$head" -c 4096 "$call.stdin"; printf .); } 2>/dev/null'
    return [
        f"first={first}",
        f"since={since}",
        f"sequence={sequence}",
        "choose() {",
        "play= start=",
        *([read, 'case "$* $start" in', *arms, "esac"] if matches else []),
        "return 0",
        "}",
    ]


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
