"""Replays: conversations kept as files, with the request ids that they had. Reads and writes the user's cache.

Each port has a directory of its own, because two ports can fail in the same conversation.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shlex
import shutil
from collections.abc import Collection
from pathlib import Path

from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.see.observation import Observation
from gemini_mcp_conformance.talk.conversation import Conversation, with_ids
from gemini_mcp_conformance.talk.conversation_file import from_json, to_json

PORTS = 50
"""How many ports have their replays kept; those of the port that failed longest ago are removed first."""


def folder(target: Target) -> Path:
    """Where failing conversations with a port are kept for `replay`."""
    port = json.dumps([target.argv, target.url]).encode("ascii")
    return _root() / hashlib.sha256(port).hexdigest()[:12]


def keep(target: Target, observations: Collection[Observation], is_whole: bool) -> str | None:
    """Keep conversations byte for byte; a whole run removes older ones of the port. Says why that failed, or None."""
    place = folder(target)
    if is_whole:
        shutil.rmtree(place, ignore_errors=True)
    if not observations:
        return None
    try:
        place.mkdir(parents=True, exist_ok=True)
        for observation in observations:
            _write(place, observation)
        for old in sorted(_root().iterdir(), key=os.path.getmtime)[:-PORTS]:
            shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        where = f"{str(place)!r}: {error.strerror}"
        return f"Conversations cannot be kept for `replay` in {where}. Set XDG_CACHE_HOME to a writable directory."
    return None


def load(name: str, target: Target) -> Conversation:
    """The conversation in that file, or the kept one of that name; UsageError when there is none."""
    path = Path(name) if name.endswith(".json") or os.sep in name else _kept(name, target)
    try:
        return from_json(json.loads(path.read_bytes()))
    except FileNotFoundError:
        raise UsageError(
            f"There is no conversation {name!r} in {str(path.parent)!r}. A run keeps those that fail."
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"The conversation {str(path)!r} cannot be used: {error}.") from None


def replay_command(conversation: str, requirement: str, target: Target) -> str:
    """The command that plays one conversation again, and judges one requirement by it."""
    fake = f" --fake {shlex.quote(str(target.fake))}" if target.fake else ""
    address = f" --url {shlex.quote(target.url)}{fake}" if target.url else ""
    command = f" -- {shlex.join(target.command)}" if target.command or not target.url else ""
    return f"gemini-mcp-conformance replay {shlex.quote(conversation)} --only {requirement}{address}{command}"


def _root() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    return Path(cache, "gemini-mcp-conformance", "replays")


def _write(place: Path, observation: Observation) -> None:
    played = with_ids(observation.conversation, observation.ids)
    text = json.dumps(to_json(played), indent=2) + "\n"
    (place / f"{observation.conversation.id}.json").write_text(text, encoding="utf-8")


def _kept(name: str, target: Target) -> Path:
    """The file of that name: the port's own, or the newest of another's."""
    own = folder(target) / f"{name}.json"
    others = _root().glob(f"*/{glob.escape(name)}.json")
    return own if own.exists() else max(others, key=os.path.getmtime, default=own)
