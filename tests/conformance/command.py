"""Runs `gemini-mcp-conformance` as a process of its own, for the tests.

Importing it and making the conversations takes longer than most of what the tests do with it, so it is forked from one
process that has done both: as a program this reads a line of JSON for each command, and writes its exit code. What
needs other modules than those is started anew.
"""

import atexit
import gc
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = (sys.executable, "-P", "-m", "gemini_mcp_conformance.command.main")
SECONDS = 120
PING = ("--only", "lifecycle:ping")
GENERATED = ("--only", "arguments:prompt:type", "--examples", "1")
"""Few conversations, a generated one among them."""
FORMATS = ("json", "junit", "sarif", "html", "markdown", "github", "badge")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


def port(name: str, *more: str) -> tuple[str, ...]:
    """The command of a small port."""
    return (sys.executable, str(Path(__file__).parent / "small_ports.py"), name, *more)


def verdicts(report: Path) -> dict[str, str]:
    """The verdicts in a report, by requirement."""
    document = json.loads(report.read_text(encoding="utf-8"))
    return {entry["id"]: entry["verdict"] for entry in document["requirements"]}


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition comes true."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "It never came true."
        time.sleep(0.01)


def variables(home: Path, **own: str) -> dict[str, str]:
    """An environment whose files all lie below `home`."""
    temporary = home / "tmp"
    temporary.mkdir(exist_ok=True)
    return {**os.environ, "TMPDIR": str(temporary), "XDG_CACHE_HOME": str(home / "cache"), **own}


def suite(home: Path, *words: str, to: Sequence[str] = (), cwd: Path | None = None, **own: str) -> Ended:
    """The ended command; `to` is the port's command, `own` are variables."""
    every = [*words, *(("--", *to) if to else ())]
    out, err = home / "stdout", home / "stderr"
    if "PYTHONPATH" in own:
        with out.open("wb") as told, err.open("wb") as failed:
            code = subprocess.call(
                [*PROGRAM, *every],
                env=variables(home, **own),
                cwd=cwd or home,
                stdout=told,
                stderr=failed,
                timeout=SECONDS,
            )
    else:
        code = _forked(every, cwd or home, variables(home, **own), out, err)
    return Ended(code, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"))


def copied(folder: Path) -> str:
    """A copy of the project below `folder`, to be broken there; the PYTHONPATH that uses it."""
    spoiled = shutil.ignore_patterns("__pycache__")
    for name in ("src", "conformance", "spec"):
        shutil.copytree(ROOT / name, folder / name, ignore=spoiled)
    return os.pathsep.join(str(folder / name) for name in ("src", "conformance"))


def distribution(folder: Path, group: str, point: str, module: str, text: str) -> str:
    """A throw-away distribution with one module and one entry point; the PYTHONPATH that has it."""
    described = folder / f"{module}-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    (described / "entry_points.txt").write_text(f"[{group}]\n{point} = {module}\n", encoding="utf-8")
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    return os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))


def _forked(words: Sequence[str], cwd: Path, environment: Mapping[str, str], out: Path, err: Path) -> int:
    request = {"words": words, "cwd": str(cwd), "environment": environment, "out": str(out), "err": str(err)}
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(request).encode("ascii") + b"\n")
    ready, _, _ = select.select([server.stdout], [], [], SECONDS)
    assert ready, f"gemini-mcp-conformance {words} did not end within {SECONDS} seconds"
    return int(server.stdout.readline())


@cache
def _server() -> "subprocess.Popen[bytes]":
    """The process that all are forked from; it ends with its standard input."""
    command = [sys.executable, "-P", "-X", "utf8", __file__]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    atexit.register(server.communicate)
    return server


def _serve() -> None:
    checks.load()
    gather(Options(Target()))
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become(request["words"], request["cwd"], request["environment"], request["out"], request["err"])
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def _become(words: list[str], cwd: str, environment: dict[str, str], out: str, err: str) -> None:
    """Be the command: never returns."""
    code: object = 70
    try:
        os.setsid()
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environment)
        for descriptor, path, flags in ((0, os.devnull, os.O_RDONLY), (1, out, os.O_WRONLY), (2, err, os.O_WRONLY)):
            os.dup2(os.open(path, flags | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)
        sys.argv = ["gemini-mcp-conformance", *words]
        main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 70)


if __name__ == "__main__":
    from gemini_mcp_conformance.command.main import main
    from gemini_mcp_conformance.judge import checks
    from gemini_mcp_conformance.play.target import Target
    from gemini_mcp_conformance.run.options import Options
    from gemini_mcp_conformance.run.plan import gather

    import_module("pytest_asyncio.plugin")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _serve()
