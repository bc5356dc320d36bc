"""Judging: a specification and a port that is the reference in, the report of the suite out. Effects.

The suite runs in a process of its own, since a run is one of pytest.
"""

import multiprocessing
import sys
from collections.abc import Generator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.plan import gather
from gemini_mcp_conformance.run.run import run
from gemini_mcp_conformance.run.selection import Selection
from gemini_mcp_conformance.talk import sources
from gemini_mcp_conformance.tell.report import Report

EXAMPLES = 20
SECONDS = 300


@contextmanager
def judge() -> Generator[Executor]:
    """The process in which ports are judged."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        yield process


def judged(spec: Path, obeyed: Path, shown: Sequence[str] | None, only: tuple[str, ...] = ()) -> Report:
    """What `spec` says of the reference that obeys another, strictly; None is every conversation."""
    command = (sys.executable, "-m", "gemini_mcp.cli", "--spec", str(obeyed))
    options = Options(Target(command), Selection(only=only, spec=spec), strict=True, examples=EXAMPLES)
    sources.offered.cache_clear()
    if shown is None:
        return run(options)
    options = replace(options, examples=0, jobs=1)
    offered = gather(options)[0]
    return run(options, [each for each in offered if any(fnmatchcase(each.id, glob) for glob in shown)])
