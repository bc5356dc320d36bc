"""The text of the program `gemini`: a prologue with absolute paths, then gemini.sh. Ports may clear PATH and HOME."""

from __future__ import annotations

import shlex
import shutil
from importlib import resources
from pathlib import Path

TOOLS = ("cat", "env", "grep", "ls", "ps", "sleep")


def text(root: Path) -> str:
    """The whole program, for a fake whose files live under `root`."""
    places = {"root": str(root), **{tool: shutil.which(tool) or tool for tool in TOOLS}}
    prologue = (f"{name}={shlex.quote(place)}" for name, place in places.items())
    body = resources.files("gemini_mcp_conformance.play.fake").joinpath("gemini.sh").read_text(encoding="utf-8")
    return "\n".join(("#!/bin/sh", *prologue, body))
