"""What the checks look at, each read once, and the `Diagnosis` that each gives. Effect: reads files, asks programs.

What is seen here is judged by the checks.
"""

import asyncio
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gemini_mcp.call.outcome import Completed, NotStarted
from gemini_mcp.call.paths import find_directory, find_program
from gemini_mcp.call.process import Command, Limits, run
from gemini_mcp.operator.gemini.startup import Startup, look
from gemini_mcp.operator.options import Options
from gemini_mcp.spec import ServerSpec, load_server

PATIENCE = 20.0
"""Seconds that a program may take to tell its version."""


@dataclass(frozen=True)
class Diagnosis:
    """What one check saw, and what to do about it; something fine can have an `action` too, which is then advice."""

    is_fine: bool
    seen: str
    action: str | None = None


@dataclass(frozen=True)
class Place:
    """Where the server would run, with which options and variables."""

    options: Options
    inherited: Mapping[str, str]

    @cached_property
    def spec(self) -> ServerSpec:
        return load_server(Path(self.options.spec) if self.options.spec else None)

    @cached_property
    def environ(self) -> Mapping[str, str]:
        """The variables that gemini would get."""
        return self.options.environment(self.inherited, self.spec.invocation.withhold)

    @cached_property
    def gemini(self) -> str | NotStarted:
        return find_program(self.options.gemini or self.spec.invocation.program, self.environ)

    @cached_property
    def version_text(self) -> str | None:
        return None if isinstance(self.gemini, NotStarted) else version_of(self.gemini, self.environ)

    @property
    def version(self) -> tuple[int, ...]:
        """The version of gemini as numbers; above all others when it is unknown."""
        return tuple(int(number) for number in re.findall(r"\d+", self.version_text or "")[:3]) or (sys.maxsize,)

    @cached_property
    def found_directory(self) -> str | NotStarted:
        """Where a call without a working directory runs."""
        try:
            return find_directory(None, self.options.allow_cwd)
        except FileNotFoundError:
            return NotStarted("cwd-missing")

    @property
    def directory(self) -> str:
        """The same, or the root where there is none."""
        return os.path.normpath(self.found_directory) if isinstance(self.found_directory, str) else os.sep

    @cached_property
    def startup(self) -> Startup:
        return look(self.directory, self.environ)

    def shown(self, path: Path | str) -> str:
        """A path as people write it."""
        home = str(self.startup.home)
        return f"~{str(path)[len(home) :]}" if str(path).startswith(f"{home}/") else str(path)


def version_of(program: str, environ: Mapping[str, str]) -> str | None:
    """What a program says that its version is."""
    command = Command((program, "--version"), os.sep, environ)
    outcome = asyncio.run(run(command, Limits(PATIENCE, lambda: 1.0)))
    if not isinstance(outcome, Completed) or outcome.exit != 0:
        return None
    return outcome.stdout.decode("utf-8", "replace").strip() or None
