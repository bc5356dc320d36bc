"""A place for the real Gemini CLI: a throw-away home in, servers of ours that drive it out. Effect.

Nothing of the machine's own settings, sessions or keys is seen here, and everything that starts here is ended.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeAlias

from api import Api

Json: TypeAlias = Any

LOCATION = "REAL_GEMINI_CLI"
"""Names the directory into which npm installed the CLI."""

PATIENCE = 60.0
SETTINGS: Json = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"maxAttempts": 1, "sessionRetention": {"enabled": False}},
}
MODEL = "gemini-2.5-flash"
"""Named, the CLI asks no other model which one to ask."""


class Sandbox:
    """A home, a temporary directory and a working directory."""

    def __init__(self, root: Path, api: Api) -> None:
        self.root = root.resolve()
        self.api = api
        for folder in (self.home / ".gemini", self.cwd, self.tmp):
            folder.mkdir(parents=True)
        (self.home / ".gemini/settings.json").write_text(json.dumps(SETTINGS), encoding="utf-8")

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def cwd(self) -> Path:
        return self.root / "cwd"

    @property
    def tmp(self) -> Path:
        return self.root / "tmp"

    def environ(self, **variables: str) -> dict[str, str]:
        """Everything a server here sees; the key is none."""
        kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        return {
            **kept,
            "PATH": os.pathsep.join((str(cli_directory() / "node_modules/.bin"), os.environ["PATH"])),
            "HOME": str(self.home),
            "TMPDIR": str(self.tmp),
            "GEMINI_API_KEY": "no-key-at-all",
            "GOOGLE_GEMINI_BASE_URL": self.api.url,
            **variables,
        }

    def nodes(self) -> int:
        """How many processes of node live here."""
        return sum(_is_node_of(self.home, folder) for folder in Path("/proc").iterdir() if folder.name.isdecimal())

    def wait_for_nodes(self, count: int) -> None:
        """Wait until that many live."""
        deadline = monotonic() + PATIENCE
        while self.nodes() != count:
            assert monotonic() < deadline, f"{self.nodes()} processes of node live, not {count}."
            sleep(0.02)


class Server:
    """A server on stdio, after the handshake."""

    def __init__(self, sandbox: Sandbox, environ: Mapping[str, str], *flags: str) -> None:
        self._process = subprocess.Popen(
            (sys.executable, "-m", "gemini_mcp.cli", *flags),
            cwd=sandbox.cwd,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        self._last_id = 0
        hello = {"name": "test", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": hello})
        self.answer()
        self.send({"method": "notifications/initialized"})

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate(timeout=PATIENCE)

    def call(self, tool: str, prompt: str, **arguments: Json) -> Json:
        """The result of a call."""
        self.start(tool, prompt, **arguments)
        return self.answer()["result"]

    def start(self, tool: str, prompt: str, **arguments: Json) -> int:
        """Call a tool, and give the id of the call."""
        return self.request("tools/call", {"name": tool, "arguments": {"prompt": prompt, "model": MODEL, **arguments}})

    def request(self, method: str, params: Json) -> int:
        self._last_id += 1
        self.send({"id": self._last_id, "method": method, "params": params})
        return self._last_id

    def send(self, message: Json) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Json:
        """The next message; a server that says nothing is killed."""
        assert self._process.stdout is not None
        limit = threading.Timer(PATIENCE, self._process.kill)
        limit.start()
        try:
            return json.loads(self._process.stdout.readline())
        finally:
            limit.cancel()


def cli_directory() -> Path:
    """Where npm put the CLI; the tests fail without it."""
    directory = Path(os.environ.get(LOCATION, ""))
    program = directory / "node_modules/.bin/gemini"
    assert program.exists(), f"{program} does not exist. Set {LOCATION} to where npm installed @google/gemini-cli."
    return directory


def _is_node_of(home: Path, folder: Path) -> bool:
    with suppress(OSError):
        is_node = os.path.basename(os.readlink(folder / "exe")) == "node"
        return is_node and os.fsencode(f"HOME={home}") in (folder / "environ").read_bytes().split(b"\0")
    return False
