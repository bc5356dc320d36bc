"""Runs gemini: a `Command` in, an `Outcome` out, and no process left. Effect; nothing else starts processes.

The child leads a process group, so that a signal reaches both processes of Gemini CLI at once. What gemini has started
outside the group is ended too; `descendants.py` finds it.
"""

import asyncio
import errno
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import IO, Any

from gemini_mcp.call import descendants, processes
from gemini_mcp.call.descendants import Descendants
from gemini_mcp.call.outcome import Completed, NotStarted, Outcome, Overflowed, Signalled, TimedOut
from gemini_mcp.call.paths import OPEN_FILES
from gemini_mcp.call.pipes import EndReader, WholeReader, Writer

PAUSE = 0.01
"""Seconds between two checks of processes that were asked to end."""

NO_PROGRAM = {
    errno.ENOENT: "its interpreter was not found",
    errno.ENOEXEC: "it is neither a program of this system nor a script whose first line begins with #!",
}
"""What is wrong with a file that exists."""

LEFTOVER_GRACE = 1.0
"""Seconds that processes which gemini left behind get to end; the answer waits for them."""


@dataclass(frozen=True)
class Command:
    """A program, and everything it is given. Its working directory is a path or an open directory.

    `on_stdout` is called with each piece of its stdout.
    """

    argv: tuple[str, ...]
    cwd: str | int
    environ: Mapping[str, str]
    stdin: bytes | None = None
    stdout_limit: int | None = None
    stderr_limit: int = 1 << 20
    on_stdout: Callable[[bytes], None] | None = None


@dataclass(frozen=True)
class Limits:
    """Seconds that a run may take, and that it gets to end; the grace gets shorter once the server closes."""

    timeout: float
    grace: Callable[[], float]


async def run(command: Command, limits: Limits) -> Outcome:
    """Run a command to its end. When the caller is cancelled, the processes are ended before this returns."""
    descendants.adopt()
    try:
        child = _Child(command)
    except OSError as error:
        return _not_started(command, error)
    timer = asyncio.get_running_loop().call_later(limits.timeout, child.give_up)
    try:
        await child.is_over.wait()
    finally:
        timer.cancel()
        await _all_of(child.end(limits.grace))
    if child.is_given_up:
        return TimedOut(limits.timeout, child.stderr.text(), child.stdout.data())
    return child.outcome()


async def _all_of(work: Coroutine[Any, Any, None]) -> None:
    """Do the work to its end. It goes on when the caller is cancelled meanwhile, who learns of it afterwards."""
    task, cancelled = asyncio.create_task(work), None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled


def _not_started(command: Command, error: OSError) -> NotStarted:
    if error.errno == errno.E2BIG:
        return NotStarted("too-long-for-the-system")
    reason = os.strerror(error.errno) if error.errno else str(error)
    # The program itself was found before, so ENOENT means the interpreter that its first line names.
    if error.filename == command.argv[0] and error.errno in (errno.ENOENT, errno.EACCES, errno.ENOEXEC):
        reason = NO_PROGRAM.get(error.errno, reason)
        return NotStarted("not-executable", {"program": repr(command.argv[0]), "reason": reason})
    return NotStarted("not-started", {"reason": reason})


class _Child:
    """A running child, its pipes, and events for its end and for what else ends the run."""

    def __init__(self, command: Command) -> None:
        mark = descendants.new_mark()
        path, enter = _way_into(command.cwd)
        # The clock is asked, not the child: its entry in /proc can be read only when it has executed the program.
        began = processes.now()
        # Not asyncio's: it reaps the child at once, and then the child's id may belong to another process.
        self._process = subprocess.Popen(
            command.argv,
            cwd=path,
            preexec_fn=enter,
            env={**command.environ, descendants.MARK: mark},
            # An open pipe would cost time: Gemini CLI waits half a second for its first byte.
            stdin=subprocess.DEVNULL if command.stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self._descendants = Descendants(self._process.pid, mark, began)
        self.is_over = asyncio.Event()
        self.is_given_up = False
        self.ended = _end_of(self._process.pid, self.is_over.set)
        self._stdin = Writer(_open(self._process.stdin), command.stdin) if command.stdin is not None else None
        self._stdout_limit = command.stdout_limit or 0
        stdout = _open(self._process.stdout)
        self.stdout = WholeReader(stdout, command.stdout_limit, self.is_over.set, command.on_stdout)
        # Never left unread: Gemini CLI fails when it cannot write to stderr.
        self.stderr = EndReader(_open(self._process.stderr), command.stderr_limit)

    def give_up(self) -> None:
        """End the run, unless something else has ended it: its time is over."""
        self.is_given_up = not self.is_over.is_set()
        self.is_over.set()

    async def end(self, grace: Callable[[], float]) -> None:
        """End the child and all that it has started. SIGKILL is sent even when the event loop stops meanwhile."""
        try:
            await self._end_child(grace)
            await self._end_descendants(grace)
        finally:
            self._descendants.kill()
            self._descendants.forget()

    async def _end_child(self, grace: Callable[[], float]) -> None:
        # Once gemini has ended, its output is complete. What the processes that it left behind write is no part of it.
        if self.ended.is_set():
            self._close()
        else:
            self._descendants.ask()
            await _until(self.ended.is_set, grace)
        if not self.ended.is_set():
            self._descendants.kill()
            await self.ended.wait()
        self._close()
        self._process.wait()

    async def _end_descendants(self, grace: Callable[[], float]) -> None:
        if not self._descendants.are_gone():
            self._descendants.ask()
            await _until(self._descendants.are_gone, lambda: min(grace(), LEFTOVER_GRACE))
            self._descendants.kill()
            await _until(self._descendants.are_gone, lambda: LEFTOVER_GRACE)

    def outcome(self) -> Outcome:
        """How the child ended."""
        if self.stdout.has_overflowed:
            return Overflowed(self._stdout_limit, self.stderr.text())
        code = self._process.returncode
        if code < 0:
            return Signalled(_signal_name(-code), self.stderr.text())
        return Completed(code, self.stdout.data(), self.stderr.text())

    def _close(self) -> None:
        if self._stdin is not None:
            self._stdin.close()
        self.stdout.drain()
        self.stderr.drain()


def _way_into(directory: str | int) -> tuple[str | None, Callable[[], None] | None]:
    """A path into a directory, or else what the child calls to enter it."""
    if isinstance(directory, str):
        return directory, None
    return (f"{OPEN_FILES}/{directory}", None) if os.path.isdir(OPEN_FILES) else (None, partial(os.fchdir, directory))


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _end_of(pid: int, on_end: Callable[[], None]) -> asyncio.Event:
    """An event that is set when the process has ended, then `on_end` is called. The process is not reaped."""
    ended, loop = asyncio.Event(), asyncio.get_running_loop()

    def note() -> None:
        ended.set()
        on_end()

    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):  # macOS has no pidfd, and some sandboxes forbid it
        threading.Thread(target=_wait_for, args=(pid, loop, note), daemon=True).start()
        return ended

    def close_and_note() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        note()

    loop.add_reader(descriptor, close_and_note)
    return ended


def _wait_for(pid: int, loop: asyncio.AbstractEventLoop, note: Callable[[], None]) -> None:
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    loop.call_soon_threadsafe(note)


async def _until(condition: Callable[[], bool], grace: Callable[[], float]) -> None:
    began = monotonic()
    while not condition() and monotonic() - began < grace():  # noqa: ASYNC110 - nothing tells when an orphan ends
        await asyncio.sleep(PAUSE)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
