"""Runs `gemini-mcp-host` in processes forked from one that has imported it, which takes longer than most commands.

As a program it reads a line of JSON for each command, {"words", "cwd", "environment", "out", "err"}, and writes its
exit code; `run` is the other end.
"""

import atexit
import json
import os
import select
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SECONDS = 60


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def run(words: Sequence[str], cwd: Path, environment: Mapping[str, str], folder: Path) -> Ran:
    """Run the command in a process of its own; what it writes is kept in `folder`."""
    out, err = folder / "stdout", folder / "stderr"
    request = {"words": [*words], "cwd": str(cwd), "environment": {**environment}, "out": str(out), "err": str(err)}
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(request).encode("ascii") + b"\n")
    ready, _, _ = select.select([server.stdout], [], [], SECONDS)
    assert ready, f"gemini-mcp-host {words} did not end within {SECONDS} seconds"
    code = int(server.stdout.readline())
    return Ran(code, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"))


@cache
def _server() -> "subprocess.Popen[bytes]":
    """The process that all are forked from; it ends with its standard input."""
    command = [sys.executable, "-X", "utf8", __file__]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    atexit.register(server.communicate)
    return server


def _serve() -> None:
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _become(**json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def _become(words: list[str], cwd: str, environment: dict[str, str], out: str, err: str) -> None:
    """Be the command: never returns."""
    code = 1
    try:
        os.setsid()
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environment)
        for descriptor, path, flags in ((0, os.devnull, os.O_RDONLY), (1, out, os.O_WRONLY), (2, err, os.O_WRONLY)):
            os.dup2(os.open(path, flags | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)
        code = main(words)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    from gemini_mcp.host.command.main import main

    _serve()
