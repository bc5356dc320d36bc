"""The text of the program `gemini`: a prologue with absolute paths, then gemini.sh. Ports may clear PATH and HOME."""

from __future__ import annotations

import shlex
import shutil
from importlib import resources
from pathlib import Path

from gemini_mcp_conformance.play.fake.watched import Watched

TOOLS = ("cat", "env", "grep", "ls", "ps", "sleep")


def text(root: Path, watched: Watched) -> str:
    """The whole program, for a fake whose files live under `root`."""
    places = {"root": str(root), **{tool: shutil.which(tool) or tool for tool in TOOLS}}
    told = {"variables": " ".join(watched.variables), "listing": "\n".join(("", *watched.listing, ""))}
    prologue = (f"{name}={shlex.quote(value)}" for name, value in {**places, **told}.items())
    body = resources.files("gemini_mcp_conformance.play.fake").joinpath("gemini.sh").read_text(encoding="utf-8")
    return "\n".join(("#!/bin/sh", *prologue, body))
