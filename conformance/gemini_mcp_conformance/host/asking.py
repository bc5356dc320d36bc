"""An adapter as a process: one JSON line in, one JSON line out, each within its time. Effect.

An adapter that hung, ended or lost the thread is started anew, so that one bad answer speaks of one question only.
"""

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress

from gemini_mcp_conformance.host.checking import GivenUp, NoAnswer, Unsupported
from gemini_mcp_conformance.host.values import Json, JsonObject, object_of

MOST_STARTS = 4


class NeverAnswered(Exception):
    """The adapter answered nothing at all; the message says what it did instead."""


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

    def exchange(self, request: JsonObject, seconds: float) -> JsonObject:
        """The answer to a request; raises NoAnswer, and is of no use after that."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode("ascii") + b"\n")
            self._process.stdin.flush()
            line = self._lines.get(timeout=seconds)
        except OSError as error:
            raise NoAnswer(f"the adapter does not read any more: {error.strerror}") from error
        except queue.Empty as error:
            raise NoAnswer(f"the adapter did not answer within {seconds:.0f} seconds") from error
        if line is None:
            raise NoAnswer(f"the adapter ended with exit {self._process.wait(5)}")
        answer = _object_in(line)
        if answer is None or answer.get("id") != request["id"]:
            raise NoAnswer(f"the adapter answered {line[:200]!r} to the request {request['id']!r}")
        return answer

    def end(self) -> None:
        """End it and everything that it started."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError):
            self._process.stdin.close()
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
        """The running process, started if need be; raises NeverAnswered and GivenUp."""
        if self._process is None and self._starts == MOST_STARTS:
            raise GivenUp(f"the adapter ended or hung {MOST_STARTS} times and is not started again")
        if self._process is None:
            self._starts += 1
            try:
                self._process = Process(self._command)
            except OSError as error:
                raise NeverAnswered(f"{self._command[0]!r} could not be started: {error.strerror}") from None
        return self._process

    def ask(self, request: JsonObject, seconds: float) -> Json:
        """The output; raises Unsupported, NoAnswer and GivenUp."""
        try:
            answer = self.start().exchange(request, seconds)
        except NoAnswer as error:
            self._first_silence = self._first_silence or str(error)
            self.end()
            raise
        self._has_answered = True
        if answer.get("unsupported") is True:
            raise Unsupported(request["behaviour"])
        if "output" not in answer:
            raise NoAnswer(f"the adapter's answer to {request['id']!r} has neither `output` nor `unsupported`")
        return answer["output"]

    def end(self) -> None:
        """End the process, if one runs."""
        if self._process is not None:
            self._process.end()
        self._process = None

    def demand_answer(self) -> None:
        """Raise NeverAnswered when every question was met with silence."""
        if self._first_silence is not None and not self._has_answered:
            raise NeverAnswered(self._first_silence)


@contextmanager
def adapter(command: Sequence[str]) -> Generator[Adapter]:
    """An adapter; leaving the context ends it and what it started. Raises NeverAnswered."""
    asked = Adapter(command)
    asked.start()
    try:
        yield asked
    finally:
        asked.end()
    asked.demand_answer()


def _object_in(line: bytes) -> JsonObject | None:
    try:
        return object_of(json.loads(line))
    except ValueError:
        return None
