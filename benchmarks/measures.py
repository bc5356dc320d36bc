"""What is measured: subjects and the fake gemini in, samples of each row out. Effect: starts them, and waits.

The subjects take turns within a row, so that other work of the machine slows all of them alike. A new row is a new
function here and a row of the table.
"""

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from time import perf_counter

from bare_client import Client, NoAnswer, result_of
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.fake.script import Play

Samples = dict[str, dict[str, list[float]]]
"""By row, by subject."""

PLAIN = "plain"
CALLS = 50
TOGETHER = 16
ANSWER = 10 << 20

SHORT = json.dumps({"session_id": "7d5c2f4e-0000-4000-8000-000000000000", "response": "Hello."})
LONG = {"ascii": "x" * ANSWER, "emoji": "x" * (ANSWER - 4) + "\N{PARROT}"}


@dataclass(frozen=True)
class Subject:
    """A server that is compared, and the parameters of the call that it is sent."""

    name: str
    command: Sequence[str]
    call: Json


class Bench:
    """One run: who is compared, and what was measured so far."""

    def __init__(self, subjects: Sequence[Subject], fake: Fake, environ: Mapping[str, str], runs: int) -> None:
        self.samples: Samples = {}
        self._subjects = subjects
        self._fake = fake
        self._environ = fake.environ(environ)
        self._runs = runs

    def measure(self) -> Samples:
        """Measure every row."""
        for _ in range(self._runs):
            self._each(self._start)
        self._one_by_one()
        for _ in range(self._runs):
            self._all_at_once()
        for kind, text in LONG.items():
            self._fake.load([_play(json.dumps({"session_id": "s", "response": text}, ensure_ascii=False))])
            for _ in range(self._runs):
                self._note(f"long-time-{kind}", PLAIN, self._plain())
                self._each(lambda subject, kind=kind: self._long(subject, kind))
        return self.samples

    def _start(self, subject: Subject) -> None:
        began = perf_counter()
        with Client(subject.command, self._environ) as client:
            client.start()
            self._note("start", subject.name, 1000 * (perf_counter() - began))
            self._note("start-processor", subject.name, 1000 * client.processor_seconds())
            self._note("memory", subject.name, client.memory("VmRSS"))

    def _one_by_one(self) -> None:
        self._fake.load([_play(SHORT)])
        with ExitStack() as stack:
            clients = tuple(self._started(stack))
            for number in range(-3, CALLS):
                plain = self._plain()
                for subject, client in clients:
                    before = client.processor_seconds()
                    took = self._call(client, subject)
                    if number >= 0:
                        self._note("call-processor", subject.name, 1000 * (client.processor_seconds() - before))
                        self._note("call", subject.name, took)
                        self._note("overhead", subject.name, took - plain)
                if number >= 0:
                    self._note("call", PLAIN, plain)

    def _started(self, stack: ExitStack) -> Iterator[tuple[Subject, Client]]:
        for subject in self._subjects:
            client = stack.enter_context(Client(subject.command, self._environ))
            try:
                client.start()
                self._call(client, subject)
                yield subject, client
            except NoAnswer:
                continue

    def _all_at_once(self) -> None:
        self._fake.load([_play(SHORT, 1.0)])
        began = perf_counter()
        running = [self._popen() for _ in range(TOGETHER)]
        for process in running:
            process.communicate()
        self._note("together", PLAIN, perf_counter() - began)
        self._each(self._together)

    def _together(self, subject: Subject) -> None:
        with Client(subject.command, self._environ) as client:
            client.start()
            began = perf_counter()
            for _ in range(TOGETHER):
                client.ask("tools/call", subject.call)
            lines = [client.line() for _ in range(TOGETHER)]
            took = perf_counter() - began
        for line in lines:
            result_of(line)
        self._note("together", subject.name, took)

    def _long(self, subject: Subject, kind: str) -> None:
        with Client(subject.command, self._environ) as client:
            client.start()
            idle = client.memory("VmRSS")
            took = self._call(client, subject)
            self._note(f"long-time-{kind}", subject.name, took)
            self._note(f"long-memory-{kind}", subject.name, (client.memory("VmHWM") - idle) / (ANSWER >> 20))

    def _call(self, client: Client, subject: Subject) -> float:
        began = perf_counter()
        client.ask("tools/call", subject.call)
        line = client.line()
        took = perf_counter() - began
        result_of(line)
        return 1000 * took

    def _plain(self) -> float:
        began = perf_counter()
        self._popen().communicate()
        return 1000 * (perf_counter() - began)

    def _popen(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [str(self._fake.program), "hello", "--output-format", "json"],
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def _each(self, measure: Callable[[Subject], None]) -> None:
        for subject in self._subjects:
            try:
                measure(subject)
            except NoAnswer:
                continue

    def _note(self, row: str, subject: str, value: float) -> None:
        self.samples.setdefault(row, {}).setdefault(subject, []).append(value)


def _play(stdout: str, seconds: float = 0.0) -> Play:
    wait = [{"wait": seconds}] if seconds else []
    return Play({"play": [*wait, {"stdout": stdout}]})
