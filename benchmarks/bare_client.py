"""A client that costs next to nothing: starts a command, sends requests, reads the figures of the process. Effect.

It does no more than a measurement needs; what is measured stands in `measures.py`.
"""

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from gemini_mcp.spec.values import Json

LIMIT = 60.0
"""Seconds that a server may run. One that hangs is killed, and counts as one without an answer."""


class NoAnswer(Exception):
    """The server has no answer, or one that is an error."""


class Client:
    """One server and its client."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._stdin, self._stdout = _open(self._process.stdin), _open(self._process.stdout)
        self._last_id = 0
        self._limit = threading.Timer(LIMIT, self._kill)
        self._limit.start()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._limit.cancel()
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self._kill()
            self._process.wait()
            self._stdout.close()

    def start(self) -> None:
        """Shake hands and ask for the tools."""
        who = {"name": "benchmark", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who})
        self._send({"method": "notifications/initialized"})
        self.request("tools/list", {})

    def request(self, method: str, params: Json) -> Json:
        """The result of one request."""
        self.ask(method, params)
        return result_of(self.line())

    def ask(self, method: str, params: Json) -> None:
        """Send a request whose answer is fetched later."""
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})

    def line(self) -> bytes:
        """The next line that answers; what the server says unasked does not count."""
        while line := self._stdout.readline():
            if b'"method"' not in line[:200]:
                return line
        raise NoAnswer("The server has ended.")

    def memory(self, field: str) -> float:
        """A figure of /proc/PID/status such as VmHWM, in MiB."""
        lines = self._proc("status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:"))

    def processor_seconds(self) -> float:
        """What all threads have computed so far."""
        threads = self._proc("task").glob("*/schedstat")
        return sum(int(thread.read_text(encoding="ascii").split()[0]) for thread in threads) / 1e9

    def _proc(self, name: str) -> Path:
        path = Path("/proc", str(self._process.pid), name)
        if not path.exists():
            raise NoAnswer("This system has no /proc.")
        return path

    def _send(self, message: Mapping[str, Json]) -> None:
        try:
            self._stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode("ascii") + b"\n")
            self._stdin.flush()
        except BrokenPipeError:
            raise NoAnswer("The server has ended.") from None

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


def result_of(line: bytes) -> Json:
    """The result in a line; an error has none."""
    message = json.loads(line)
    if "result" not in message or message["result"].get("isError"):
        raise NoAnswer(line[:500].decode("utf-8", "replace"))
    return message["result"]


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
