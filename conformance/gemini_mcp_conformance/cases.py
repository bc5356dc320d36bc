"""Cases: conversations as files, with the very ids they had when played. Reads and writes the user's cache."""

from __future__ import annotations

import json
import os
from pathlib import Path

from gemini_mcp_conformance.conversation import Conversation, from_json, to_json, with_ids
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.observation import Observation


def folder() -> Path:
    """Where failing conversations are kept for `replay`."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    return Path(cache, "gemini-mcp-conformance", "cases")


def store(observation: Observation) -> Path:
    """Keep what was said, to the byte."""
    path = folder() / f"{observation.conversation.id}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    played = with_ids(observation.conversation, observation.ids)
    path.write_text(json.dumps(to_json(played), indent=2) + "\n", encoding="utf-8")
    return path


def load(name: str) -> Conversation:
    """The case of that file, or of that name among those kept; UsageError when there is none."""
    path = Path(name) if name.endswith(".json") or os.sep in name else folder() / f"{name}.json"
    try:
        return from_json(json.loads(path.read_bytes()))
    except FileNotFoundError:
        raise UsageError(f"There is no case {name!r} in {str(path.parent)!r}. A run that fails keeps one.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"The case {str(path)!r} cannot be used: {error}.") from None
