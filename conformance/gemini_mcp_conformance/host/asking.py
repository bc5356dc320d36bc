"""An adapter as a process: one JSON line in, one JSON line out, each within its time. Effect."""

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress

from gemini_mcp_conformance.host.values import Json, JsonObject, object_of

ANSWER_SECONDS = 30.0
SCENARIO_SECONDS = 60.0


class NoAnswer(Exception):
    """The adapter ended, hung, or answered something that is no answer."""


class Unsupported(Exception):
    """The adapter does not offer the behaviour."""


class Adapter:
    """A running adapter."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._count = 0
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, behaviour: str, profile: str, value: Json, name: str = "", seconds: float = ANSWER_SECONDS) -> Json:
        """The output for an input; raises Unsupported and NoAnswer."""
        self._count += 1
        identity = name or f"q{self._count}"
        request = {"id": identity, "behaviour": behaviour, "profile": profile, "input": value}
        answer = self._exchange(json.dumps(request), seconds)
        if answer.get("id") != identity:
            raise NoAnswer(f"the adapter answered {json.dumps(answer)[:200]} to {identity!r}")
        if answer.get("unsupported") is True:
            raise Unsupported(behaviour)
        if "output" not in answer:
            raise NoAnswer(f"the adapter's answer to {identity!r} has neither `output` nor `unsupported`")
        return answer["output"]

    def _exchange(self, line: str, seconds: float) -> JsonObject:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode("ascii") + b"\n")
            self._process.stdin.flush()
            answer = self._lines.get(timeout=seconds)
        except (OSError, ValueError) as error:
            raise NoAnswer(f"the adapter does not read any more: {error}") from error
        except queue.Empty as error:
            raise NoAnswer(f"the adapter did not answer within {seconds:.0f} seconds") from error
        if answer is None:
            raise NoAnswer(f"the adapter ended with exit {self._process.poll()}")
        try:
            whole = object_of(json.loads(answer))
        except ValueError:
            whole = None
        if whole is None:
            raise NoAnswer(f"the adapter answered {answer[:200]!r}, which is no JSON object")
        return whole

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)


@contextmanager
def adapter(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Generator[Adapter]:
    """A running adapter; leaving the context ends it and what it started."""
    process = subprocess.Popen(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=dict(environment) if environment is not None else None,
    )
    try:
        yield Adapter(process)
    finally:
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(2)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(5)
        assert process.stdout is not None
        process.stdout.close()
