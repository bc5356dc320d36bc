"""The subcommand that shows which ports a change of the specification breaks: `impact`. Edge."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gemini_mcp.spec import SpecError, load_requirements
from gemini_mcp_conformance.command.many_ports import (
    PROGRAM,
    add_options,
    destinations,
    read,
    run_options,
    test_all,
    unfinished,
)
from gemini_mcp_conformance.command.words import Commands, subcommand
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.run.processes import Runner, suite
from gemini_mcp_conformance.run.selection import NOTHING_SELECTED, Selection
from gemini_mcp_conformance.spec import specification
from gemini_mcp_conformance.tell.impact import Impact, exit_code, impact
from gemini_mcp_conformance.tell.matrix import ports
from gemini_mcp_conformance.tell.matrix.impact_pages import render_html, render_markdown, render_text, told
from gemini_mcp_conformance.tell.matrix.ports import Failure, Port
from gemini_mcp_conformance.tell.report import CONFORMS, Report
from gemini_mcp_conformance.tell.reports import Destination, put

TEXT = """Show which ports a change of the specification breaks: test them by both, and list the verdicts that change.

OLD and NEW are directories of specifications. PORTS.toml is a list of ports, as for `matrix`. Each port is
started by the same command both times. `{spec}` in a command is replaced by the directory of the
specification under test, for ports that read it:

  [[port]]
  name = "node"
  command = ["node", "dist/server.js"]
  [[port]]
  name = "reference"
  command = ["gemini-mcp-server", "--spec", "{spec}"]

exit codes:
  0 nothing breaks     1 a port breaks     2 wrong usage     3 incomplete
  4 a port never answered     5 the suite itself failed     130 interrupted

examples:
  git worktree add ../main main
  gemini-mcp-conformance impact ../main/spec spec PORTS.toml
  gemini-mcp-conformance impact ../main/spec spec PORTS.toml --report markdown=impact.md --jobs 2
"""
PAGES: Mapping[str, Callable[[Sequence[Impact]], str]] = {
    "html": render_html,
    "markdown": render_markdown,
    "terminal": render_text,
}


def add(commands: Commands) -> None:
    """Its parser."""
    parser = subcommand(commands, "impact", "impact [OPTIONS] OLD NEW PORTS.toml", TEXT, _impact)
    parser.add_argument("old", type=Path, metavar="OLD", help="the specification as it was")
    parser.add_argument("new", type=Path, metavar="NEW", help="the changed specification")
    add_options(parser)


def _impact(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    to = destinations(given, command, PAGES)
    if not given.quiet and all(each.path for each in to):
        to.insert(0, Destination("terminal", None))
    sides = [_side(given, folder) for folder in (given.old, given.new)]
    if not any(side.is_asked for side in sides):
        raise UsageError(NOTHING_SELECTED)

    async def run(port: Port) -> Impact:
        asked = [await side.runner(ports.following(port, side.spec)) if side.is_asked else None for side in sides]
        silent = next(_asked_nothing(result) for result in asked if result is not None)
        old, new = (silent if result is None else result for result in asked)
        return impact(port, old, new, given.strict)

    def missing(port: Port) -> Impact:
        return impact(port, unfinished(port), unfinished(port), given.strict)

    found, is_whole = test_all(given, read(given), run, told, missing)
    for each in to:
        put(PAGES[each.format](found), each)
    if not is_whole:
        raise KeyboardInterrupt
    return exit_code(found)


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
    runner = suite(PROGRAM, [*run_options(given), "--spec", spec])
    return _Side(spec, runner, any(selection.includes(each.id) for each in known))


def _asked_nothing(result: Report | Failure) -> Report | Failure:
    """The same report without judgements: what a specification without the selected requirements gives."""
    return replace(result, judgements=(), exit=CONFORMS) if isinstance(result, Report) else result
