"""The file of the port's repository at which annotations point: the one that is named, or the workflow. Reads no file.

It is a path from the root of the repository, as GitHub wants it, and of a file that exists.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from gemini_mcp_conformance.errors import UsageError


def source(named: str | None, environ: Mapping[str, str]) -> str | None:
    """The path; None when there is no such file. UsageError when the one that is named does not exist."""
    root = Path(environ.get("GITHUB_WORKSPACE") or os.getcwd())
    if named is not None:
        if not Path(named).is_file():
            raise UsageError(f"--source {named!r} is no file. Name a file of the port's repository.")
        return Path(os.path.relpath(named, root)).as_posix()
    workflow = environ.get("GITHUB_WORKFLOW_REF", "").removeprefix(f"{environ.get('GITHUB_REPOSITORY')}/")
    path = workflow.partition("@")[0]
    return path if path and (root / path).is_file() else None
