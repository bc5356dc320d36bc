"""Asking: runs an adapter as a process, writes it one JSON line for each question, and waits for one line. Effect.

An adapter that hung, ended or answered another question is started again, so that one bad answer affects one question.
"""

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

from gemini_mcp.spec.values import Json, JsonObject, decode, inside
from gemini_mcp_conformance.host.questions import NoAnswer
from gemini_mcp_conformance.judge.check import CouldNotRun

MOST_STARTS = 4


class NeverAnswered(Exception):
    """The adapter has answered nothing; the message says what it did instead."""


class Process:
    """A running adapter, and the thread that reads what it writes."""

    def __init__(self, command: Sequence[str]) -> None:
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def exchange(self, request: JsonObject, seconds: float) -> Json:
        """The answer to a request; after a NoAnswer the process must not be used again."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode("ascii") + b"\n")
            self._process.stdin.flush()
            line = self._lines.get(timeout=seconds)
        except OSError as error:
            raise NoAnswer(f"The adapter has stopped reading: {error.strerror}.") from error
        except queue.Empty as error:
            raise NoAnswer(f"The adapter did not answer within {seconds:.0f} seconds.") from error
        if line is None:
            raise NoAnswer(f"The adapter ended with exit {self._process.wait(5)}.")
        answer = decode(line)
        if inside(answer, "id") != request["id"]:
            raise NoAnswer(f"The adapter answered {line[:200]!r} to the request {request['id']!r}.")
        return answer

    def end(self) -> None:
        """End it and everything that it started."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError):
            self._process.stdin.close()
        # It may end by itself once its input has ended; what it started is ended in any case.
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(5)
        self._reader.join(5)
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)


class Adapter:
    """An adapter command, running whenever it is asked."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: Process | None = None
        self._starts = 0
        self._first_silence: str | None = None
        self._has_answered = False

    def start(self) -> Process:
        """The running process, started if there is none; raises NeverAnswered and CouldNotRun."""
        if self._process is None and self._starts == MOST_STARTS:
            raise CouldNotRun(f"The adapter ended or hung {MOST_STARTS} times and is not started again.")
        if self._process is None:
            self._starts += 1
            try:
                self._process = Process(self._command)
            except OSError as error:
                raise NeverAnswered(f"{self._command[0]!r} could not be started: {error.strerror}.") from None
        return self._process

    def ask(self, request: JsonObject, seconds: float) -> Json:
        """The output; raises NoAnswer, CouldNotRun and NeverAnswered."""
        try:
            answer = self.start().exchange(request, seconds)
        except NoAnswer as error:
            self._first_silence = self._first_silence or str(error)
            self.end()
            raise
        self._has_answered = True
        if answer.get("unsupported") is True:
            raise CouldNotRun(f"The adapter does not support `{request['behaviour']}`.")
        if "output" not in answer:
            raise NoAnswer(f"The adapter's answer to {request['id']!r} has neither `output` nor `unsupported`.")
        return answer["output"]

    def end(self) -> None:
        """End the process, if one runs."""
        if self._process is not None:
            self._process.end()
        self._process = None

    def __enter__(self) -> Self:
        """Start it. Leaving the context ends it and its children. Both can raise NeverAnswered."""
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *more: object) -> None:
        self.end()
        if kind is None and self._first_silence is not None and not self._has_answered:
            raise NeverAnswered(self._first_silence)
