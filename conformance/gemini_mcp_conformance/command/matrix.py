"""The subcommand that shows the verdicts of many ports in one table: `matrix`. Edge."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence

from gemini_mcp.spec import directory
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
from gemini_mcp_conformance.run.processes import suite
from gemini_mcp_conformance.tell.matrix import pages, ports
from gemini_mcp_conformance.tell.matrix.pages import Column
from gemini_mcp_conformance.tell.report import INCOMPLETE, Report, first_of
from gemini_mcp_conformance.tell.reports import Destination, put

TEXT = """Test many ports, and show all verdicts in one table: requirements are rows, ports are columns.

PORTS.toml has one table for each port. A port that hangs uses up only its own budget. `{spec}` in a command
is replaced by the directory of the specification, for ports that read it.

  [[port]]
  name = "node"
  command = ["node", "dist/server.js"]
  env = { LOG_LEVEL = "off" }    # if it needs some
  budget = 60                    # seconds

examples:
  gemini-mcp-conformance matrix PORTS.toml
  gemini-mcp-conformance matrix PORTS.toml --report html=matrix.html --jobs 2
"""
PAGES: Mapping[str, Callable[[Sequence[Column]], str]] = {
    "html": pages.render_html,
    "markdown": pages.render_markdown,
}


def add(commands: Commands) -> None:
    """Its parser."""
    add_options(subcommand(commands, "matrix", "matrix [OPTIONS] PORTS.toml", TEXT, _matrix))


def _matrix(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    to = destinations(given, command, PAGES) or [Destination("markdown", None)]
    listed = [ports.following(port, directory()) for port in read(given)]
    runner = suite(PROGRAM, run_options(given))
    results, is_whole = test_all(given, listed, runner, pages.told, unfinished)
    columns = [Column(port, result) for port, result in zip(listed, results, strict=True)]
    for each in to:
        put(PAGES[each.format](columns), each)
    if not is_whole:
        raise KeyboardInterrupt
    return first_of(result.exit if isinstance(result, Report) else INCOMPLETE for result in results)
