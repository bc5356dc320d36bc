"""Reports: renders a Report in a format and writes it. The renderers are pure; `put` is the one effect.

A new format is a module with `render(report, context) -> str` and an entry in FORMATS.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.tell import report_file
from gemini_mcp_conformance.tell.report import Report
from gemini_mcp_conformance.tell.reports import badge, github, html, junit, markdown, sarif, terminal
from gemini_mcp_conformance.tell.reports.context import Context

__all__ = ["FORMATS", "Context", "Destination", "Renderer", "destination", "put", "write"]

Renderer = Callable[[Report, Context], str]

FORMATS: Mapping[str, Renderer] = {
    "json": lambda report, context: report_file.dump(report),
    "junit": junit.render,
    "sarif": sarif.render,
    "html": html.render,
    "markdown": markdown.render,
    "github": github.render,
    "badge": badge.render,
    "terminal": terminal.render,
}


@dataclass(frozen=True)
class Destination:
    """A format and where it goes; no path is stdout."""

    format: str
    path: Path | None


def destination(text: str) -> Destination:
    """What `--report FORMAT=PATH` means; UsageError before the run when it cannot work."""
    name, equals, path = text.partition("=")
    if name not in FORMATS:
        raise UsageError(f"There is no report format {name!r}. The formats are {', '.join(FORMATS)}.")
    if not equals or not path:
        raise UsageError(f"The report {text!r} has no path. Write {name}=PATH, or {name}=- for standard output.")
    if path == "-":
        return Destination(name, None)
    _check_writable(Path(path))
    return Destination(name, Path(path))


def write(report: Report, context: Context, to: Destination) -> None:
    """Render the report and write it."""
    put(FORMATS[to.format](report, context), to)


def put(text: str, to: Destination) -> None:
    """Write a rendered report; a lone surrogate becomes its escape, which JSON reads back.

    A closed standard output is no error: its reader may want no more.
    """
    data = text.encode("utf-8", "backslashreplace")
    if to.path is None:
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        return
    try:
        to.path.write_bytes(data)
    except OSError as error:
        raise _unwritable(to.path, error.strerror or "it failed") from None


def _check_writable(path: Path) -> None:
    if path.is_dir():
        raise _unwritable(path, "it is a directory")
    if not path.parent.is_dir():
        raise _unwritable(path, "its directory does not exist")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise _unwritable(path, "permission denied")


def _unwritable(path: Path, reason: str) -> UsageError:
    return UsageError(f"The report {str(path)!r} cannot be written: {reason}. Name a path that can be.")
