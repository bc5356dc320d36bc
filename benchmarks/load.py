"""Measures an HTTP server under many clients: kept connections, sessions, half-sent requests, its end. Edge.

`python benchmarks/load.py [--sessions N] [--halves N] [--server 'CMD']`
"""

import argparse
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from time import perf_counter

from bare_client import LIMIT, Client, NoAnswer
from compare import ours
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.fake.script import Play

SAMPLES = 200
REQUESTS: dict[str, Json] = {"tools/list": {}, "tools/call": {"name": "chat", "arguments": {"prompt": "hello"}}}
REVISION = "2025-11-25"
WHO: Json = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}}
ON_HTTP = ("--transport", "http", "--port", "0")
TYPES = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
HALF = b"POST /mcp HTTP/1.1\r\nHost: "
REQUEST_TIMEOUT = 5
ANSWER = json.dumps({"session_id": "7d5c2f4e-0000-4000-8000-000000000000", "response": "Hello."})


class Server:
    """A server on HTTP, and one kept connection to it."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process = process
        self.port = port
        self._kept = HTTPConnection("127.0.0.1", port, timeout=LIMIT)

    def post(self, method: str, params: Json, headers: dict[str, str]) -> tuple[float, str]:
        """The milliseconds that a request takes, and the session that its response names."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        began = perf_counter()
        self._kept.request("POST", "/mcp", body, {**TYPES, **headers})
        response = self._kept.getresponse()
        response.read()
        took = 1000 * (perf_counter() - began)
        if response.status >= 300:
            raise NoAnswer(f"{method}: {response.status}")
        return took, response.headers.get("Mcp-Session-Id", "")

    def open_session(self) -> dict[str, str]:
        """The headers of a new session."""
        session = self.post("initialize", WHO, {})[1]
        return {"Mcp-Session-Id": session, "Mcp-Protocol-Version": REVISION}

    def memory(self) -> float:
        """What it occupies, in MiB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))

    def end(self) -> float:
        """The seconds that it takes to end after SIGTERM."""
        began = perf_counter()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(LIMIT)
        return perf_counter() - began


def main() -> None:
    """Measure, and show one line for each figure."""
    parser = argparse.ArgumentParser(description="Measure the server on HTTP under many clients.")
    parser.add_argument("--sessions", type=int, default=3000, metavar="N", help="how many sessions are opened")
    parser.add_argument("--halves", type=int, default=400, metavar="N", help="how many requests are sent by half")
    parser.add_argument("--server", metavar="CMD", help="the command of another server")
    parser.add_argument("--no-limits", action="store_true", help="for a server that does not know the options")
    given = parser.parse_args()
    command = [*(shlex.split(given.server) if given.server else ours()), *ON_HTTP]
    known = ("--max-sessions", str(given.sessions + 9), "--request-timeout", str(REQUEST_TIMEOUT))
    limits = () if given.no_limits else known
    with tempfile.TemporaryDirectory() as folder, Fake.create(Path(folder)) as fake:
        fake.load([Play({"play": [{"stdout": ANSWER}]})])
        environ = fake.environ(os.environ)
        with _serving(command, environ) as server, Client(command[: -len(ON_HTTP)], environ) as stdio:
            _requests(server, given, stdio)
        for measure in (_sessions, _halves):
            with _serving([*command, *limits], environ) as server:
                measure(server, given)


def _requests(server: Server, given: argparse.Namespace, stdio: Client) -> None:
    """Requests on a kept connection and on stdio, in turn."""
    headers = server.open_session()
    stdio.start()
    for method, params in REQUESTS.items():
        by_http, by_stdio = zip(*(_both(server, stdio, headers, method, params) for _ in range(SAMPLES)), strict=True)
        _show(f"{method} on a kept connection", *_spread(by_http))
        _show(f"{method} on stdio", *_spread(by_stdio))


def _both(server: Server, stdio: Client, headers: dict[str, str], method: str, params: Json) -> tuple[float, float]:
    by_http = server.post(method, params, headers)[0]
    began = perf_counter()
    stdio.request(method, params)
    return by_http, 1000 * (perf_counter() - began)


def _sessions(server: Server, given: argparse.Namespace) -> None:
    idle = server.memory()
    took = [server.post("initialize", WHO, {})[0] for _ in range(given.sessions)]
    _show(f"{given.sessions} sessions: opening one", *_spread(took))
    _show(f"{given.sessions} sessions: memory", f"{server.memory() - idle:.0f} MiB above idle")
    _show(f"{given.sessions} sessions: end after SIGTERM", f"{server.end():.2f} s")


def _halves(server: Server, given: argparse.Namespace) -> None:
    with ExitStack() as stack:
        halves = [
            stack.enter_context(closing(socket.create_connection(("127.0.0.1", server.port), LIMIT)))
            for _ in range(given.halves)
        ]
        for half in halves:
            half.sendall(HALF)
        took = server.post("tools/list", {}, server.open_session())[0]
        _show(f"{given.halves} half-sent requests: a request beside", f"{took:.1f} ms")
        deadline = perf_counter() + 2 * REQUEST_TIMEOUT
        still = sum(_is_open(half, deadline) for half in halves)
        _show(f"{given.halves} half-sent requests: open after {2 * REQUEST_TIMEOUT} s", str(still))


def _is_open(half: socket.socket, deadline: float) -> bool:
    """Whether the server has not closed the connection at the deadline."""
    half.settimeout(max(0.001, deadline - perf_counter()))
    try:
        return half.recv(1) != b""
    except TimeoutError:
        return True


@contextmanager
def _serving(command: Sequence[str], environ: dict[str, str]) -> Generator[Server]:
    process = subprocess.Popen(
        command, env=environ, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        assert process.stderr is not None
        match = re.search(rb":(\d+)/", process.stderr.readline())
        if match is None:
            raise NoAnswer("The server does not listen.")
        yield Server(process, int(match[1]))
    finally:
        process.kill()
        process.communicate()


def _spread(samples: Sequence[float]) -> tuple[str, str]:
    return f"{median(samples):.1f} ms", f"(least {min(samples):.1f})"


def _show(what: str, *figures: str) -> None:
    print(f"{what:<48} {' '.join(figures)}", flush=True)


if __name__ == "__main__":
    main()
