"""Surroundings: looks at the directories that a port is given, and removes canaries from them. Effect."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.see.observation import Directory, Place

CANARY = "canary"
"""How the names of files begin that only a shell would create, if it read an argument."""


def directory(cwd: Json, work: str) -> Directory:
    """What kind of directory `cwd` names for a port that runs in `work`."""
    if not isinstance(cwd, str):
        return "none"
    try:
        mode = os.stat(os.path.join(work, cwd)).st_mode
    except FileNotFoundError:
        return "nowhere" if os.path.islink(os.path.join(work, cwd)) else "missing"
    except NotADirectoryError:
        return "nowhere"
    except (OSError, ValueError):
        return "unknown"
    if not stat.S_ISDIR(mode):
        return "file"
    return "absolute" if os.path.isabs(cwd) else "relative"


def real_path(cwd: str, work: str) -> str:
    """The path of that directory without links."""
    return os.path.realpath(os.path.join(work, cwd))


def take_canaries(place: Place) -> tuple[str, ...]:
    """The names of the canaries that have appeared. They are removed."""
    found = sorted(_canaries(place))
    for path in found:
        path.unlink(missing_ok=True)
    return tuple(path.name for path in found)


def _canaries(place: Place) -> Iterator[Path]:
    for top in (place.work, place.home, place.tmp):
        for folder, _, names in os.walk(top):
            yield from (Path(folder, name) for name in names if name.startswith(CANARY))
    yield from (Path(place.root, name) for name in os.listdir(place.root) if name.startswith(CANARY))
