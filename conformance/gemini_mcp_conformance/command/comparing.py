"""The subcommands that test many ports: `matrix` and `impact`. Edge."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from gemini_mcp.spec import SpecError, load_requirements
from gemini_mcp_conformance.command.words import Commands, count, positive_count, seconds, subcommand
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.run.progress import Progress
from gemini_mcp_conformance.run.selection import NOTHING_SELECTED, Selection
from gemini_mcp_conformance.spec import specification
from gemini_mcp_conformance.tell.impact import Impact, exit_code, impact
from gemini_mcp_conformance.tell.matrix import impact_pages, pages, ports
from gemini_mcp_conformance.tell.matrix.pages import Column
from gemini_mcp_conformance.tell.matrix.ports import Failure, Port
from gemini_mcp_conformance.tell.matrix.running import Runner, run_all, suite
from gemini_mcp_conformance.tell.report import CONFORMS, INCOMPLETE, Report, first_of
from gemini_mcp_conformance.tell.reports import Destination, destination, put

MATRIX = """Test many ports, and show all verdicts in one table: requirements are rows, ports are columns.

PORTS.toml holds a table for each port. A port that hangs costs only its own budget.

  [[port]]
  name = "node"
  command = ["node", "dist/server.js"]
  env = { LOG_LEVEL = "off" }    # if it needs some
  budget = 60                    # seconds

examples:
  gemini-mcp-conformance matrix PORTS.toml
  gemini-mcp-conformance matrix PORTS.toml --report html=matrix.html --jobs 2
"""
IMPACT = """Show whom a change of the specification breaks: test many ports by both, and say which verdicts flip.

OLD and NEW are directories of specifications. PORTS.toml is the list of ports that `matrix` takes. Each port
is started by the same command both times; `{spec}` in a command becomes the directory of the specification
that is tested, for ports that read it:

  [[port]]
  name = "node"
  command = ["node", "dist/server.js"]
  [[port]]
  name = "reference"
  command = ["gemini-mcp-server", "--spec", "{spec}"]

exit codes:
  0 nothing breaks     1 a port breaks     2 wrong usage     3 incomplete
  4 a port never answered     5 the suite itself failed

examples:
  git worktree add ../main main
  gemini-mcp-conformance impact ../main/spec spec PORTS.toml
  gemini-mcp-conformance impact ../main/spec spec PORTS.toml --report markdown=impact.md --jobs 2
"""
PROGRAM = (sys.executable, "-P", "-m", "gemini_mcp_conformance.command.main")
MATRIX_PAGES: Mapping[str, Callable[[Sequence[Column]], str]] = {
    "html": pages.render_html,
    "markdown": pages.render_markdown,
}
IMPACT_PAGES: Mapping[str, Callable[[Sequence[Impact]], str]] = {
    "html": impact_pages.render_html,
    "markdown": impact_pages.render_markdown,
    "terminal": impact_pages.render_text,
}
Result = TypeVar("Result")


def add(commands: Commands) -> None:
    """Their parsers."""
    matrix = subcommand(commands, "matrix", "matrix [OPTIONS] PORTS.toml", MATRIX, _matrix)
    change = subcommand(commands, "impact", "impact [OPTIONS] OLD NEW PORTS.toml", IMPACT, _impact)
    change.add_argument("old", type=Path, metavar="OLD", help="the specification as it was")
    change.add_argument("new", type=Path, metavar="NEW", help="the changed specification")
    for parser in (matrix, change):
        _options(parser)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="PORTS.toml", help="the list of ports")
    parser.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="FORMAT=PATH",
        help="write a page, html or markdown; - is standard output; repeatable",
    )
    parser.add_argument("--jobs", type=positive_count, default=1, metavar="N", help="ports at a time (default: 1)")
    for name, purpose in (("--only", "test these requirements only"), ("--skip", "leave these requirements out")):
        parser.add_argument(name, action="append", default=[], metavar="GLOB", help=f"{purpose}; repeatable")
    parser.add_argument("--examples", type=count, default=100, metavar="N", help="generated calls (default: 100)")
    parser.add_argument(
        "--budget",
        type=seconds,
        default=ports.BUDGET,
        metavar="SECONDS",
        help=f"for a run on a port that names no budget (default: {ports.BUDGET:g})",
    )
    parser.add_argument("--strict", action="store_true", help="what SHOULD hold must hold")
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing but errors")


def _matrix(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    destinations = _destinations(given, command, MATRIX_PAGES) or [Destination("markdown", None)]
    listed = _read(given)
    results = _run_all(given, listed, suite(PROGRAM, _words(given)))
    columns = [Column(port, result) for port, result in zip(listed, results, strict=True)]
    for each in destinations:
        put(MATRIX_PAGES[each.format](columns), each)
    return first_of(result.exit if isinstance(result, Report) else INCOMPLETE for result in results)


def _impact(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    destinations = _destinations(given, command, IMPACT_PAGES)
    if not given.quiet and all(each.path for each in destinations):
        destinations.insert(0, Destination("terminal", None))
    sides = [_side(given, folder) for folder in (given.old, given.new)]
    if not any(side.is_asked for side in sides):
        raise UsageError(NOTHING_SELECTED)

    async def run(port: Port) -> Impact:
        asked = [await side.runner(ports.following(port, side.spec)) if side.is_asked else None for side in sides]
        silent = next(_asked_nothing(result) for result in asked if result is not None)
        old, new = (silent if result is None else result for result in asked)
        return impact(port, old, new, given.strict)

    found = _run_all(given, _read(given), run)
    for each in destinations:
        put(IMPACT_PAGES[each.format](found), each)
    return exit_code(found)


def _run_all(
    given: argparse.Namespace, listed: Sequence[Port], runner: Callable[[Port], Awaitable[Result]]
) -> tuple[Result, ...]:
    progress = Progress(sys.stderr, not given.quiet)
    try:
        return asyncio.run(run_all(listed, runner, given.jobs, progress))
    finally:
        progress.end()


def _read(given: argparse.Namespace) -> tuple[Port, ...]:
    file: Path = given.file
    try:
        return ports.parse(file.read_text(encoding="utf-8"), str(file), given.budget)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The list of ports {str(file)!r} cannot be read: {error}.") from None


@dataclass(frozen=True)
class _Side:
    """A specification: its directory, how a port is tested by it, and whether it holds anything that is selected."""

    spec: str
    runner: Runner
    is_asked: bool


def _side(given: argparse.Namespace, folder: Path) -> _Side:
    selection = Selection(tuple(given.only), tuple(given.skip))
    try:
        specification.load(folder)
        known = [each for each in load_requirements(folder) if each.profile == "server"]
    except SpecError as error:
        raise UsageError(str(error)) from None
    spec = str(folder.resolve())
    runner = suite(PROGRAM, [*_words(given), "--spec", spec])
    return _Side(spec, runner, any(selection.includes(each.id) for each in known))


def _asked_nothing(result: Report | Failure) -> Report | Failure:
    """What comes of the same port by a specification that demands nothing of what is selected."""
    return replace(result, judgements=(), exit=CONFORMS) if isinstance(result, Report) else result


def _destinations(
    given: argparse.Namespace, command: tuple[str, ...], known: Mapping[str, object]
) -> list[Destination]:
    """Where the pages go that are asked for."""
    if command:
        raise UsageError("There is no command to give here; PORTS.toml names them.")
    found = [destination(text) for text in given.report]
    for each in found:
        if each.format not in known:
            raise UsageError(f"There is no page {each.format!r} of many ports. The formats are {', '.join(known)}.")
    return found


def _words(given: argparse.Namespace) -> list[str]:
    globs = [word for name in ("only", "skip") for glob in getattr(given, name) for word in (f"--{name}", glob)]
    return ["--examples", str(given.examples), *globs, *(["--strict"] if given.strict else [])]
