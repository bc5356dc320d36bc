"""Writes the reports of a run, and gives its exit code. Edge."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from gemini_mcp.spec import requirements_text
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.tell.report import OUR_FAULT, Report
from gemini_mcp_conformance.tell.reports import Context, Destination, write


def tell(
    found: Report,
    given: argparse.Namespace,
    to: Sequence[Destination] = (),
    details: bool = False,
    source: str | None = None,
    conforms: str | None = None,
) -> int:
    """Write every report, and the terminal's unless --quiet. Our own fault outweighs an unwritable report."""
    context = Context(
        requirements_text(given.spec), _is_coloured(given.color), details, given.verbose, source, conforms
    )
    try:
        for each in (*(() if given.quiet else (Destination("terminal", None),)), *to):
            write(found, context, each)
    except UsageError as error:
        if found.exit != OUR_FAULT:
            raise
        print(f"gemini-mcp-conformance: {error}", file=sys.stderr)
    return found.exit


def _is_coloured(wish: str) -> bool:
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return wish == "always" or (wish == "auto" and sys.stdout.isatty() and not is_plain)
