"""Runs: starts gemini, waits for it, ends its process group, keeps and removes the file for the system prompt.

All that lives outside this process is here. Every step is a method, so that a defective port can replace just that one.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

from answering import Failure, Outcome
from planning import Plan

JSON = Any
Environment = dict[str, str]

LIST = "--list-sessions"
TIMEOUT = 600.0
LISTING_TIMEOUT = 5.0
GRACE = 0.5


class Cancelled(Exception):
    """The client does not want the answer any more."""


@dataclass(eq=False)
class Call:
    """A call that is being served. `lock` guards what the threads share; `ended` belongs to the latest process."""

    id: JSON
    tool: str
    arguments: Mapping[str, JSON]
    stateless: bool = False
    token: JSON = None
    process: subprocess.Popen[bytes] | None = None
    is_cancelled: bool = False
    is_answered: bool = False
    is_timed_out: bool = False
    deadline: float | None = None
    progress: int = 0
    next_progress: float = 0.0
    ended: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Runs:
    """gemini as processes."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: dict[str, list[Call]] = {}
        self.turn_changed = threading.Condition()

    def run_prompt(self, call: Call, plan: Plan) -> Outcome:
        path = None if plan.system is None else self.write_system(plan.system)
        outcome = None
        try:
            outcome = self.run(call, plan.argv, plan.cwd, self.environment(path), plan.stdin, TIMEOUT)
            return outcome
        finally:
            if path is not None:
                self.remove_system(path, call, outcome)

    def list_sessions(self, call: Call, plan: Plan) -> Outcome | None:
        """The listing in the directory of the call; None when it takes too long."""
        try:
            arguments = (plan.argv[0], LIST)
            return self.run(call, arguments, self.listing_cwd(plan), self.environment(None), None, LISTING_TIMEOUT)
        except Failure:
            return None

    def listing_cwd(self, plan: Plan) -> str | None:
        return plan.cwd

    def environment(self, system_path: str | None) -> Environment:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("GEMINI_MCP_")}
        return environ if system_path is None else {**environ, "GEMINI_SYSTEM_MD": system_path}

    def write_system(self, text: str) -> str:
        path = os.path.join(self.new_directory(), self.system_name())
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            file.write(self.system_bytes(text))
        return path

    def new_directory(self) -> str:
        while True:
            path = os.path.join(tempfile.gettempdir(), f"gemini-mcp-{os.urandom(3).hex()}")
            with suppress(FileExistsError):
                os.mkdir(path, 0o700)
                return path

    def system_name(self) -> str:
        return "SYSTEM.md"

    def system_bytes(self, text: str) -> bytes:
        return text.encode()

    def remove_system(self, path: str, call: Call, outcome: Outcome | None) -> None:
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)

    def run(
        self, call: Call, argv: tuple[str, ...], cwd: str | None, env: Environment, stdin: str | None, timeout: float
    ) -> Outcome:
        """Files take the output, so neither its size nor a background process that holds it can stop the run."""
        with self.input(stdin) as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = self.begin(call, argv, cwd, env, given, out, err, timeout)
            exit = self.wait(call, process)
            return self.outcome(call, exit, out, err)

    def input(self, text: str | None) -> IO[bytes]:
        if text is None:
            return open(os.devnull, "rb")
        file = tempfile.TemporaryFile()  # noqa: SIM115
        file.write(text.encode())
        file.seek(0)
        return file

    def begin(
        self,
        call: Call,
        argv: tuple[str, ...],
        cwd: str | None,
        env: Environment,
        stdin: IO[bytes],
        out: IO[bytes],
        err: IO[bytes],
        timeout: float,
    ) -> subprocess.Popen[bytes]:
        # Under the lock: a cancellation either finds the process or keeps it from starting.
        with call.lock:
            if call.is_cancelled:
                raise Cancelled
            call.ended.clear()
            call.is_timed_out = False
            call.process = self.start(argv, cwd=cwd, env=env, stdin=stdin, stdout=out, stderr=err)
            call.deadline = time.monotonic() + timeout
            return call.process

    def start(self, argv: tuple[str, ...], **options: JSON) -> subprocess.Popen[bytes]:
        try:
            return self.spawn(argv, start_new_session=True, **options)
        except FileNotFoundError:
            raise Failure("gemini was not found on PATH. Install it: `npm install -g @google/gemini-cli`.") from None
        except OSError as error:
            raise Failure(f"gemini could not be started: {error.strerror}.") from None

    def spawn(self, argv: tuple[str, ...], **options: JSON) -> subprocess.Popen[bytes]:
        return subprocess.Popen[bytes](argv, **options)

    def wait(self, call: Call, process: subprocess.Popen[bytes]) -> int:
        exit = process.wait()
        call.ended.set()
        with call.lock:
            call.process, call.deadline = None, None
        # gemini may end at SIGTERM while something that it has started lives on.
        if call.is_cancelled or call.is_timed_out:
            self.signal_group(process.pid, signal.SIGKILL)
        return exit

    def outcome(self, call: Call, exit: int, out: IO[bytes], err: IO[bytes]) -> Outcome:
        if call.is_cancelled:
            raise Cancelled
        err.seek(0)
        stderr = err.read()
        if call.is_timed_out:
            raise Failure("gemini did not finish in time and was stopped.", stderr.decode("utf-8", "replace"))
        out.seek(0)
        return Outcome(exit, out.read(), stderr)

    def stop(self, call: Call) -> None:
        """End the process group of the call: ask, wait, kill."""
        with call.lock:
            process = call.process
        if process is not None:
            self.signal_group(process.pid, signal.SIGTERM)
            call.ended.wait(GRACE)
            self.signal_group(process.pid, signal.SIGKILL)

    def signal_group(self, leader: int, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, number)

    def take_turn(self, call: Call, turn: str | None) -> None:
        """Wait until the earlier calls of the same conversation are served."""
        if turn is None:
            return
        with self.turn_changed:
            self.turns.setdefault(turn, []).append(call)
            self.await_turn(call, turn)

    def await_turn(self, call: Call, turn: str) -> None:
        """Wait, with the lock of the turns, until no other call is before this one in the line."""
        line = self.turns[turn]
        self.turn_changed.wait_for(lambda: line[0] is call or call.is_cancelled)

    def end_turn(self, call: Call, turn: str | None) -> None:
        with self.turn_changed:
            line = self.turns.get(turn or "", [])
            if call in line:
                line.remove(call)
            if turn is not None and not line:
                self.turns.pop(turn, None)
            self.turn_changed.notify_all()
