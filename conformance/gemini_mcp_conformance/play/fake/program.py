"""The text of the program `gemini`: a prologue with absolute paths, because ports may clear PATH, then gemini.sh."""

from __future__ import annotations

import shlex
import shutil
import sys
from importlib import resources
from pathlib import Path

from gemini_mcp_conformance.play.fake import defaults
from gemini_mcp_conformance.play.fake.watched import Watched

TOOLS = ("cat", "env", "head", "ls", "ps", "sleep")


def text(root: Path, watched: Watched) -> str:
    """The whole program, for a fake whose files live under `root`."""
    tools = {tool: shutil.which(tool) or tool for tool in TOOLS}
    places = {"root": str(root), **tools, "python": sys.executable, "defaults": str(defaults.__file__)}
    told = {
        "variables": " ".join(watched.variables),
        "listing": "\n".join(("", *watched.listing, "")),
        "stream": watched.streams.argument if watched.streams else "",
    }
    prologue = (f"{name}={shlex.quote(value)}" for name, value in {**places, **told}.items())
    body = resources.files("gemini_mcp_conformance.play.fake").joinpath("gemini.sh").read_text(encoding="utf-8")
    return "\n".join(("#!/bin/sh", *prologue, body))
