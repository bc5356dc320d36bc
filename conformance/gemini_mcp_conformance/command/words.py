"""What the parsers of the subcommands share: the form of their help, and the options of several of them; pure."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from textwrap import fill, wrap
from typing import TypeAlias

from gemini_mcp import spec
from gemini_mcp_conformance.play.tracks import JOBS
from gemini_mcp_conformance.tell.reports import FORMATS

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # pyright: ignore[reportPrivateUsage]

Container: TypeAlias = "argparse._ActionsContainer"  # pyright: ignore[reportPrivateUsage]

Execute: TypeAlias = Callable[[argparse.Namespace, tuple[str, ...]], int]
"""Does a subcommand on its parsed words and the port's command; returns the exit code."""

BUDGET = 900.0
"""Seconds for a run, so that no port can make it endless."""

WIDTH = 79
"""Columns of the help."""


def subcommand(commands: Commands, name: str, usage: str, text: str, execute: Execute) -> argparse.ArgumentParser:
    """A parser; the first line of `text` says what the subcommand does, the rest teaches and ends with an example."""
    purpose, _, more = text.partition("\n")
    parser = commands.add_parser(
        name,
        usage=f"gemini-mcp-conformance {usage}",
        help=purpose,
        description=fill(purpose, WIDTH),
        epilog="\n\n".join(map(_narrow, more.strip("\n").split("\n\n"))),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(execute=execute)
    return parser


def _narrow(paragraph: str) -> str:
    """The paragraph in lines of a usual terminal; an example stays one command."""
    lines = paragraph.split("\n")
    if not any(line.startswith(" ") for line in lines):
        return fill(paragraph, WIDTH)
    return "\n".join(
        " \\\n".join(wrap(line, WIDTH - 2, subsequent_indent="    ", break_on_hyphens=False))
        if line.startswith("  gemini-mcp-conformance")
        else line
        for line in lines
    )


def port_options(parser: argparse.ArgumentParser) -> None:
    """How the port is reached, and its environment."""
    manifest = spec.load_manifest()
    protocols = ("auto", *manifest.handshake_revisions, *manifest.stateless_revisions)
    group = parser.add_argument_group("the port")
    group.add_argument("--url", help="the address of a running port; with a command too, both are compared")
    group.add_argument(
        "--fake", type=Path, metavar="DIR", help="the directory that was given to `fake DIR`, for a port at --url"
    )
    group.add_argument("--env", action="append", default=[], metavar="K=V", help="a variable for the port; repeatable")
    group.add_argument("--keep-home", action="store_true", help="keep your HOME; npx, pyenv and the like need it")
    group.add_argument("--protocol", choices=protocols, default="auto", help="the revision to speak (default: auto)")


def wait_option(parser: argparse.ArgumentParser) -> None:
    """How long the port is waited for."""
    parser.add_argument(
        "--patience", type=factor, default=1.0, metavar="FACTOR", help="wait so many times as long (default: 1)"
    )


def choice_options(parser: argparse.ArgumentParser) -> None:
    """What is tested, and with how many calls."""
    group = parser.add_argument_group("what is tested")
    group.add_argument("--direction", choices=("server", "host"), default="server", help="an MCP server, or a host")
    group.add_argument(
        "--profile", choices=("documented", "current"), help="which profile of hosts (default: documented)"
    )
    glob_options(group)
    group.add_argument("--spec", type=Path, metavar="DIR", help="another specification than the one that is shipped")
    group.add_argument("--spec-version", metavar="X.Y.Z", help="the requirements of a released version")
    group.add_argument(
        "--seed", type=int, metavar="N", help="seed for the generated calls; without it they are always the same"
    )
    group.add_argument(
        "--jobs", type=positive_count, default=JOBS, metavar="N", help=f"ports to start at a time (default: {JOBS})"
    )


def end_options(parser: argparse.ArgumentParser) -> None:
    """What counts as conforming, when the run ends, and where the reports go."""
    group = parser.add_argument_group("the result")
    formats = ", ".join(name for name in FORMATS if name != "terminal")
    group.add_argument("--strict", action="store_true", help="a SHOULD that fails fails the run")
    group.add_argument("--fail-fast", action="store_true", help="stop at the first failure")
    group.add_argument(
        "--budget",
        type=seconds,
        default=BUDGET,
        metavar="SECONDS",
        help=f"stop after that time; the run is then incomplete (default: {BUDGET:g})",
    )
    group.add_argument(
        "--baseline", type=Path, metavar="FILE", help="the list of known failures, which do not fail the run"
    )
    group.add_argument(
        "--source", metavar="FILE", help="where annotations and SARIF point (default: the workflow that runs, if any)"
    )
    report_option(group, f"write a report; - is standard output; repeatable; formats: {formats}")


def output_options(parser: argparse.ArgumentParser) -> None:
    """What is written to the terminal."""
    group = parser.add_argument_group("the terminal")
    group.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="auto obeys NO_COLOR and TERM=dumb"
    )
    group.add_argument("-q", "--quiet", action="store_true", help="write nothing but errors")
    group.add_argument("-v", "--verbose", action="store_true", help="show every failure, and the rest too")


def glob_options(group: Container) -> None:
    """Which requirements are tested, and with how many generated calls."""
    for name, purpose in (("--only", "test these requirements only"), ("--skip", "leave these requirements out")):
        group.add_argument(name, action="append", default=[], metavar="GLOB", help=f"{purpose}, as tools:*; repeatable")
    group.add_argument("--examples", type=count, default=100, metavar="N", help="generated calls (default: 100)")
    group.add_argument(
        "--thorough",
        action="store_true",
        help="let any three things meet in a call, give every tool every value, and generate 5 times as many",
    )


def report_option(group: Container, purpose: str) -> None:
    group.add_argument("--report", action="append", default=[], metavar="FORMAT=PATH", help=purpose)


def count(text: str) -> int:
    """A whole number from 0."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is below 0")
    return number


def positive_count(text: str) -> int:
    """A whole number from 1."""
    if count(text) == 0:
        raise argparse.ArgumentTypeError("it should be at least 1")
    return int(text)


def factor(text: str) -> float:
    """A number above 0."""
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} should be a number above 0")
    return number


def seconds(text: str) -> float:
    """A time above 0."""
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} should be a number of seconds above 0")
    return number
