"""The host part of the specification, read for the tests."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from gemini_mcp_conformance.host import HostSpec

HOST = Path(__file__).parents[2] / "spec" / "host"


@cache
def specification() -> HostSpec:
    """Requirements, vectors and scenarios."""
    return HostSpec(_read(HOST / "requirements.part.json")["requirements"], _vectors(), _scenarios())


def _vectors() -> dict[str, Any]:
    return {file.stem: _read(file) for file in sorted((HOST / "vectors").glob("*.json"))}


def _scenarios() -> list[Any]:
    return [_read(file) for file in sorted((HOST / "scenarios").glob("*.json"))]


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))
