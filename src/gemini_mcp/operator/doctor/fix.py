"""Stops gemini from deleting sessions: shows the change of its settings, asks, and writes it. Effect.

A mending belongs here if there is only one way to do it; each shows first what it would change.
"""

import difflib
import sys
from pathlib import Path

from gemini_mcp.errors import OperatorError
from gemini_mcp.host.settings import jsonc
from gemini_mcp.host.settings.files import replace_text
from gemini_mcp.operator.doctor.place import Place

RETENTION = ("general", "sessionRetention", "enabled")


def fix(place: Place) -> None:
    """Offer to switch the deletion of sessions off; `OperatorError` when the file cannot be changed."""
    file = place.startup.settings_file
    if place.startup.setting(".".join(RETENTION)) is False:
        _say("There is nothing to fix: gemini keeps its sessions.")
        return
    before = _text(file)
    after = _mended(file, before)
    if before == after:
        raise OperatorError(f"{file} keeps sessions, but another settings file of gemini does not. Correct that one.")
    _say("\n".join(difflib.unified_diff(before.splitlines(), after.splitlines(), str(file), str(file), "", "", 2, "")))
    if _agrees():
        _replace(file, after)
        del place.__dict__["startup"]  # It is read anew when a check asks for it.
        _say(f"{file} is changed.")
    else:
        _say("Nothing was changed.")


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise OperatorError(f"{file} cannot be read: {error}.") from None


def _mended(file: Path, text: str) -> str:
    try:
        return jsonc.with_value(text, RETENTION, False)
    except jsonc.BrokenJson as error:
        raise OperatorError(f"{file} cannot be changed: {error}. Correct the file.") from None


def _agrees() -> bool:
    """Whether the user says yes; nobody who cannot be asked agrees."""
    print("Change the file? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin is not None and sys.stdin.readline().strip().lower() in ("y", "yes")


def _replace(file: Path, text: str) -> None:
    try:
        replace_text(file, text if text.endswith("\n") else f"{text}\n")
    except OSError as error:
        raise OperatorError(f"{file} cannot be written: {error.strerror}.") from None


def _say(text: str) -> None:
    print(text, file=sys.stderr)
