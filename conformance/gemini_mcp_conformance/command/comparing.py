"""The subcommand that tests many ports: `matrix`. Edge."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gemini_mcp_conformance.command.words import Commands, positive_count, subcommand
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.tell.matrix import ports
from gemini_mcp_conformance.tell.matrix.pages import Column, render_html, render_markdown
from gemini_mcp_conformance.tell.matrix.running import run_all, suite
from gemini_mcp_conformance.tell.report import INCOMPLETE, Report, first_of
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
PROGRAM = (sys.executable, "-P", "-m", "gemini_mcp_conformance.command.main")
PAGES: Mapping[str, Callable[[Sequence[Column]], str]] = {"html": render_html, "markdown": render_markdown}


def add(commands: Commands) -> None:
    """Its parser."""
    parser = subcommand(commands, "matrix", "matrix [OPTIONS] PORTS.toml", MATRIX, _matrix)
    parser.add_argument("file", type=Path, metavar="PORTS.toml", help="the list of ports")
    parser.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="FORMAT=PATH",
        help="html or markdown; - is standard output; repeatable (default: markdown=-)",
    )
    parser.add_argument("--jobs", type=positive_count, default=1, metavar="N", help="ports at a time (default: 1)")
    for name, purpose in (("--only", "test these requirements only"), ("--skip", "leave these requirements out")):
        parser.add_argument(name, action="append", default=[], metavar="GLOB", help=f"{purpose}; repeatable")
    parser.add_argument("--strict", action="store_true", help="what SHOULD hold must hold")


def _matrix(given: argparse.Namespace, command: tuple[str, ...]) -> int:
    if command:
        raise UsageError("`matrix` takes no command; PORTS.toml names them.")
    destinations = [_page(text) for text in given.report or ["markdown=-"]]
    listed = _read(given.file)
    results = asyncio.run(run_all(listed, suite(PROGRAM, _options(given)), given.jobs))
    columns = [Column(port, result) for port, result in zip(listed, results, strict=True)]
    for each in destinations:
        put(PAGES[each.format](columns), each)
    return first_of(result.exit if isinstance(result, Report) else INCOMPLETE for result in results)


def _read(file: Path) -> tuple[ports.Port, ...]:
    try:
        return ports.parse(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The list of ports {str(file)!r} cannot be read: {error}.") from None


def _page(text: str) -> Destination:
    found = destination(text)
    if found.format not in PAGES:
        raise UsageError(f"A matrix is no {found.format!r}. The formats are {', '.join(PAGES)}.")
    return found


def _options(given: argparse.Namespace) -> list[str]:
    globs = [word for name in ("only", "skip") for glob in getattr(given, name) for word in (f"--{name}", glob)]
    return [*globs, *(["--strict"] if given.strict else [])]
