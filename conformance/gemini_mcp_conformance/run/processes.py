"""Processes: runs the suite on each port in a process, and ends it when the budget of the port is spent. Effect.

`run_all` takes a Runner that tests one port. `suite` makes the Runner that starts the program.
"""

import asyncio
import contextlib
import os
import signal
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeAlias, TypeVar

from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.run.progress import OnProgress, unseen
from gemini_mcp_conformance.tell import report_file
from gemini_mcp_conformance.tell.matrix.ports import Failure, Port
from gemini_mcp_conformance.tell.report import Command, Report, Url

GRACE = 5.0
"""Seconds that the suite has to end by itself after the budget, and again after an interrupt."""

STDERR = 500
"""How many characters from the end of stderr a Failure holds."""

Runner: TypeAlias = Callable[[Port], Awaitable[Report | Failure]]
Result = TypeVar("Result")


async def run_all(
    ports: Sequence[Port], runner: Callable[[Port], Awaitable[Result]], jobs: int = 1, on_progress: OnProgress = unseen
) -> tuple[Result, ...]:
    """The result of each port, in order; at most `jobs` run at once."""
    free = asyncio.Semaphore(jobs)

    async def run(number: int, port: Port) -> Result:
        async with free:
            on_progress(port.name, port.name, number, len(ports))
            return await runner(port)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run(number, port)) for number, port in enumerate(ports)]
    return tuple(task.result() for task in tasks)


def suite(program: Sequence[str], options: Sequence[str] = (), grace: float = GRACE) -> Runner:
    """A Runner that starts `program run` with `options` on the port, and ends it `grace` seconds after its budget."""

    async def run(port: Port) -> Report | Failure:
        with tempfile.TemporaryDirectory(prefix="gemini-mcp-matrix-") as folder:
            path = Path(folder) / "report.json"
            return await _run(_argv(program, options, port, path), path, port.budget, grace)

    return run


def _argv(program: Sequence[str], options: Sequence[str], port: Port, report: Path) -> list[str]:
    env = [argument for name, value in port.env.items() for argument in ("--env", f"{name}={value}")]
    own = ["--quiet", "--budget", f"{port.budget:g}", "--report", f"json={report}"]
    match port.target:
        case Command(argv):
            target = ["--", *argv]
        case Url(url):
            target = ["--url", url, *(("--fake", port.fake) if port.fake else ())]
    return [*program, "run", *own, *options, *env, *target]


async def _run(argv: Sequence[str], path: Path, budget: float, grace: float) -> Report | Failure:
    try:
        async with _started(argv, grace) as process, asyncio.timeout(budget + grace):
            _, stderr = await process.communicate()
    except TimeoutError:
        return Failure(f"The suite did not end within the budget of {budget:g} s.")
    except OSError as error:
        return Failure(f"The suite could not be started: {error}.")
    return _result(path, process.returncode, stderr)


def _result(path: Path, returncode: int | None, stderr: bytes) -> Report | Failure:
    if not path.exists():
        told = stderr.decode("utf-8", "backslashreplace").strip()[-STDERR:]
        return Failure(f"The suite ended with {returncode} and without a report. {told}".strip())
    try:
        return report_file.load(path)
    except UsageError as error:
        return Failure(str(error).replace(str(path), path.name))


@contextlib.asynccontextmanager
async def _started(argv: Sequence[str], grace: float) -> AsyncGenerator[Process]:
    process = await asyncio.create_subprocess_exec(
        *argv, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, start_new_session=True
    )
    try:
        yield process
    finally:
        await _end(process, grace)


async def _end(process: Process, grace: float) -> None:
    """Interrupt the process, so that it can end the port; then kill the rest of its group."""
    if process.returncode is None:
        _signal(process.pid, signal.SIGINT)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), grace)
    _signal(process.pid, signal.SIGKILL)
    await process.wait()


def _signal(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
