"""Defects in what is done piece by piece and is read before the last one."""

import os
import threading
from contextlib import suppress
from typing import Any

from defects.record import defect

PIECE = 1 << 16
PAUSE = 0.5


def append(path: str, rest: bytes) -> None:
    with suppress(OSError), open(path, "r+b") as file:
        file.seek(0, os.SEEK_END)
        file.write(rest)


def written_beside_gemini(port: Any, real: Any, text: str) -> str:
    """Nobody waits until the stream has been flushed."""
    path, whole = real(text), port.system_bytes(text)
    if len(whole) > PIECE:
        os.truncate(path, PIECE)
        timer = threading.Timer(PAUSE, append, (path, whole[PIECE:]))
        timer.daemon = True
        timer.start()
    return path


defect(
    "long-system-prompt-written-beside-gemini",
    "Starts gemini when the first 64 KiB of a system prompt are written, and writes the rest while it runs.",
    "system:content",
)(write_system=written_beside_gemini)
