"""A client of real servers: starts them in a directory of their own, speaks raw JSON-RPC, and ends them all."""

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Self

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.fake.script import Play

PATIENCE = 60.0
"""Seconds; more than anything here takes."""

MOMENT = 0.1
"""Seconds in which what nobody keeps is gone."""

COMMAND = (sys.executable, "-m", "gemini_mcp.cli")
REVISION = "2025-11-25"
HELLO = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
HANDSHAKE: tuple[Json, Json] = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)
STATELESS = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
META = {
    f"{PREFIX}protocolVersion": STATELESS,
    f"{PREFIX}clientInfo": {"name": "test", "version": "1"},
    f"{PREFIX}clientCapabilities": {},
}
"""What a request of the stateless revision says of itself."""

SESSION = "5b3b6b48-99e7-4be4-906c-9b1f2f76c7bc"


def answer(text: str, session: str | None = SESSION, **more: Json) -> Json:
    """A step that prints what gemini prints when it answers."""
    named = {"session_id": session} if session else {}
    return {"stdout": json.dumps({**named, "response": text, "stats": {}, **more}, indent=2) + "\n"}


def play(*steps: Json, match: str | None = None, listing: Sequence[Json] | None = None) -> Play:
    """What gemini does at a call, and when it is asked for the list of sessions."""
    return Play({"play": steps} | ({} if listing is None else {"listSessions": listing}), match)


class Server:
    """A server on stdio: a process with a process group of its own."""

    def __init__(self, place: "Place", arguments: Sequence[str], environ: Mapping[str, str], log: Path) -> None:
        self.place = place
        self.fake = place.fake
        self._log = log
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                arguments,
                bufsize=0,
                cwd=place.cwd,
                env=environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        os.set_blocking(self._stdin.fileno(), False)
        self._rest = bytearray()
        self._answers: dict[str, Json] = {}
        self._last = 0
        self.notices: list[Json] = []
        self.lines: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Send bytes as they are."""
        rest, deadline = memoryview(data), monotonic() + PATIENCE
        while rest:
            _, ready, _ = select.select((), (self._stdin,), (), max(0, deadline - monotonic()))
            assert ready, "The server does not read."
            rest = rest[os.write(self._stdin.fileno(), rest[: 1 << 16]) :]

    def send(self, message: Json) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def read(self) -> Json:
        """The next message of the server."""
        deadline = monotonic() + PATIENCE
        while b"\n" not in self._rest[-(1 << 16) :]:
            ready, _, _ = select.select((self._stdout,), (), (), max(0, deadline - monotonic()))
            assert ready, f"The server says nothing. Its stderr: {self.stderr()}"
            data = os.read(self._stdout.fileno(), 1 << 16)
            if not data:
                raise EOFError(self.stderr())
            self._rest += data
        line, _, rest = bytes(self._rest).partition(b"\n")
        self._rest = bytearray(rest)
        self.lines.append(line)
        return json.loads(line)

    def notify(self, method: str, **params: Json) -> None:
        self.send({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def request(self, method: str, params: Json = None, id: Json = None) -> Json:
        """Send a request, and give its id."""
        self._last += 1
        id = self._last if id is None else id
        self.send({"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})})
        return id

    def answer(self, id: Json) -> Json:
        """The response to a request; messages that come before it are kept."""
        while (key := json.dumps(id)) not in self._answers:
            message = self.read()
            if "id" in message and "method" not in message:
                self._answers[json.dumps(message["id"])] = message
            else:
                self.notices.append(message)
        return self._answers.pop(key)

    def ask(self, method: str, params: Json = None) -> Json:
        return self.answer(self.request(method, params))

    def start(self, tool: str, token: Json = None, **arguments: Json) -> Json:
        """Call a tool, and give the id of the call."""
        meta = {} if token is None else {"_meta": {"progressToken": token}}
        return self.request("tools/call", {"name": tool, "arguments": arguments, **meta})

    def call(self, tool: str, **arguments: Json) -> Json:
        """The result of a call."""
        return self.answer(self.start(tool, **arguments))["result"]

    def chat(self, prompt: str = "hello", **arguments: Json) -> Json:
        return self.call("chat", prompt=prompt, **arguments)

    def cancel(self, id: Json) -> None:
        self.notify("notifications/cancelled", requestId=id)

    def greet(self, revision: str = REVISION) -> Json:
        """The handshake; gives the result of `initialize`."""
        result = self.ask("initialize", {**HELLO, "protocolVersion": revision})["result"]
        self.notify("notifications/initialized")
        return result

    def unread(self) -> list[Json]:
        """Whatever the server still says until it ends."""
        messages: list[Json] = []
        with suppress(EOFError):
            while True:
                messages.append(self.read())
        return messages

    def end(self) -> int:
        """Close its stdin, and give its exit code."""
        self._stdin.close()
        return self.exit()

    def kill(self, number: signal.Signals) -> int:
        """Send it a signal, and give its exit code; its stdin stays open."""
        self.process.send_signal(number)
        return self.exit()

    def exit(self) -> int:
        return self.process.wait(PATIENCE)

    def deafen(self) -> None:
        """Close its stdout; its stdin stays open."""
        self._stdout.close()

    def stderr(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)
        self._stdin.close()
        self._stdout.close()


class Place:
    """A home, a working and a temporary directory, a fake gemini, and the servers that were started here."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.fake = Fake.create(self.root / "fake")
        self.servers: list[Server] = []
        self.home, self.cwd, self.tmp = (self.root / name for name in ("home", "cwd", "tmp"))
        for folder in (self.home, self.cwd, self.tmp):
            folder.mkdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for server in self.servers:
            server.close()
        self.fake.close()

    def environ(self, **variables: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        base = {"PATH": os.defpath, "HOME": str(self.home), "TMPDIR": str(self.tmp), **kept}
        return {**self.fake.environ(base), **variables}

    def launch(self, *flags: str, **variables: str) -> Server:
        """A server before the handshake."""
        log = self.root / f"stderr{len(self.servers)}"
        server = Server(self, (*COMMAND, *flags), self.environ(**variables), log)
        self.servers.append(server)
        return server

    def start(self, *flags: str, **variables: str) -> Server:
        """A server after the handshake."""
        server = self.launch(*flags, **variables)
        server.greet()
        return server

    @contextmanager
    def listening(self, transport: str, *flags: str, **variables: str) -> "Generator[tuple[Server, int]]":
        """A server on HTTP, and its port."""
        server = self.launch("--transport", transport, "--port", "0", *flags, **variables)
        listens = re.compile(r"^Listening on http://.*:(\d+)/", re.MULTILINE)
        wait_until(lambda: listens.search(server.stderr()) is not None or server.process.poll() is not None)
        match = listens.search(server.stderr())
        assert match, server.stderr()
        yield server, int(match[1])
        server.close()

    def run(self, *flags: str, typed: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the command to its end; `typed` is all that it can read."""
        return subprocess.run(
            (*COMMAND, *flags),
            cwd=self.cwd,
            env=self.environ(**variables),
            input=typed,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )

    def left(self) -> list[str]:
        """What stays in the temporary directory: Python tries it out with a file, which it removes at once."""
        seen = {path.name for path in self.tmp.iterdir()}
        if seen:
            sleep(MOMENT)
        return sorted(seen & {path.name for path in self.tmp.iterdir()})


def text(result: Json) -> str:
    """The text of a result."""
    return result["content"][0]["text"]


def stderr_of(result: Json) -> str:
    """What an error shows of gemini's stderr."""
    return text(result).partition("\nStderr: ")[2]


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds that no event reports."""
    deadline = monotonic() + PATIENCE
    while not condition():
        assert monotonic() < deadline, "The condition did not come to hold."
        select.select((), (), (), 0.005)
