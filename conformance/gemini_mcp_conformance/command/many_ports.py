"""What the subcommands share that test a list of ports: their options, and one process for each port. Edge."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from gemini_mcp_conformance.command.words import (
    glob_options,
    positive_count,
    report_option,
    seconds,
)
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.run.processes import run_all
from gemini_mcp_conformance.run.progress import Progress
from gemini_mcp_conformance.tell.matrix import ports
from gemini_mcp_conformance.tell.matrix.ports import Failure, Port
from gemini_mcp_conformance.tell.report import Report
from gemini_mcp_conformance.tell.reports import Destination, destination

# `-P`: a module in the directory of the caller must not replace one of ours.
PROGRAM = (sys.executable, "-P", "-m", "gemini_mcp_conformance.command.main")
Result = TypeVar("Result")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The list of ports, and how each is tested."""
    parser.add_argument("file", type=Path, metavar="PORTS.toml", help="the list of ports")
    report_option(parser, "write a page, html or markdown; - is standard output; repeatable")
    parser.add_argument("--jobs", type=positive_count, default=1, metavar="N", help="ports at a time (default: 1)")
    glob_options(parser)
    parser.add_argument(
        "--budget",
        type=seconds,
        default=ports.BUDGET,
        metavar="SECONDS",
        help=f"for each port without a budget of its own (default: {ports.BUDGET:g})",
    )
    parser.add_argument("--strict", action="store_true", help="a SHOULD that fails fails the run")
    parser.add_argument("-q", "--quiet", action="store_true", help="write nothing but errors")


def test_all(
    given: argparse.Namespace,
    listed: Sequence[Port],
    runner: Callable[[Port], Awaitable[Result]],
    told: Callable[[Result], str],
    missing: Callable[[Port], Result],
) -> tuple[tuple[Result, ...], bool]:
    """The result of each port, and whether all were tested; the progress goes to standard error.

    A port that was not tested because the operator ended the run gets the result that `missing` makes.
    """
    found: dict[str, Result] = {}

    async def run(port: Port) -> Result:
        found[port.name] = result = await runner(port)
        progress.note(f"{port.name}: {told(result)}")
        return result

    with Progress(sys.stderr, not given.quiet).beating() as progress:
        try:
            return asyncio.run(run_all(listed, run, given.jobs, progress)), True
        except KeyboardInterrupt:
            return tuple(found[port.name] if port.name in found else missing(port) for port in listed), False


def unfinished(port: Port) -> Report | Failure:
    """The result of a port that was not tested to the end."""
    return Failure("The run was interrupted before this port was tested.")


def read(given: argparse.Namespace) -> tuple[Port, ...]:
    """The list of ports."""
    file: Path = given.file
    try:
        return ports.parse(file.read_text(encoding="utf-8"), str(file), given.budget)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"The list of ports {str(file)!r} cannot be read: {reason}.") from None


def destinations(given: argparse.Namespace, command: tuple[str, ...], known: Mapping[str, object]) -> list[Destination]:
    """Where the requested pages are written."""
    if command:
        raise UsageError("No command is allowed here; PORTS.toml names the commands.")
    found = [destination(text) for text in given.report]
    for each in found:
        if each.format not in known:
            raise UsageError(
                f"There is no page format {each.format!r} for many ports. The formats are {', '.join(known)}."
            )
    return found


def run_options(given: argparse.Namespace) -> list[str]:
    """The options for each run of the suite."""
    globs = [word for name in ("only", "skip") for glob in getattr(given, name) for word in (f"--{name}", glob)]
    flags = [f"--{name}" for name in ("strict", "thorough") if getattr(given, name)]
    return ["--examples", str(given.examples), *globs, *flags]
