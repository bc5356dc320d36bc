"""Scripts: what the fake gemini can play, read from a directory of JSON files; the one place that reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from gemini_mcp_conformance.play.fake.script import Script


def read_scripts(folder: Path) -> Mapping[str, Script]:
    """Every script of `folder` by its id, which is the name of its file."""
    scripts = (Script.from_json(json.loads(file.read_bytes())) for file in sorted(folder.glob("*.json")))
    return {script.id: script for script in scripts}
