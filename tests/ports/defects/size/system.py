"""System prompts that fill a block, or come too often: ports that break `system`."""

import os
import threading
from contextlib import suppress
from typing import Any

from conditions import every
from defects.record import defect
from defects.size.shared import MIB
from planning import Refusal
from steps import Step, always, before, gives

PAGE = 4096
BLOCK = 4096
PIECE = 1 << 16
PAUSE = 0.5
UNITS = 16 * 1024


def refuses_long_system(port: Any, tool: str, name: str, value: Any) -> None:
    if name == "systemPrompt" and isinstance(value, str) and len(value.encode("utf-8", "replace")) > 8 * MIB:
        raise Refusal("`systemPrompt` is longer than 8388608 bytes.")


def cut_in_system_file(limit: int) -> Step:
    return gives(lambda raw: raw[:limit])


def system_shortened_at(*sizes: int) -> Step:
    return gives(lambda text: text[:-1] if len(text) in sizes else text)


def without_rest(text: bytes) -> bytes:
    """Writes the full pages, and of a text that has no rest all but the last byte."""
    return text[:-1] if text and len(text) % PAGE == 0 else text


def in_blocks(data: bytes) -> bytes:
    rest = len(data) % BLOCK
    return data[: len(data) - rest] + data[-rest:]


def system_limit(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    system = real(tool, texts)
    if system is not None and len(system.encode()) > 128_000:
        raise Refusal("`systemPrompt` is too long.")
    return system


def last_byte_lost(port: Any, real: Any, text: str) -> bytes:
    raw = real(text)
    return raw[:-1] if len(raw) > BLOCK and len(raw) % BLOCK == 1 else raw


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


def by_units(port: Any, real: Any, text: str) -> bytes:
    units = text.encode("utf-16-le")
    pieces = (units[at : at + 2 * UNITS] for at in range(0, len(units), 2 * UNITS))
    return b"".join(piece.decode("utf-16-le", "replace").encode() for piece in pieces)


def opened_to_all(port: Any, real: Any, text: str) -> str:
    path = real(text)
    os.chmod(path, 0o644)
    return path


defect("system-prompt-over-8-mib-refused", "Refuses a system prompt as long as no prompt may be.", "system:chat-reply")(
    text=before(refuses_long_system)
)
defect("system-prompt-cut-at-64-kib", "Writes no more of a system prompt than 64 KiB.", "system:content")(
    system_bytes=cut_in_system_file(1 << 16)
)
defect("system-prompt-cut-at-1-mib", "Writes no more of a system prompt than 1 MiB.", "system:content")(
    system_bytes=cut_in_system_file(1 << 20)
)
defect("system-prompt-of-65535-bytes-shortened", "Loses the end of 65,535 bytes.", "system:content")(
    system_bytes=system_shortened_at(65_535)
)
defect(
    "full-pages-of-system-prompt-cut",
    "Loses the last byte of a system prompt that is a multiple of 4 KiB.",
    "system:content",
)(system_bytes=gives(without_rest))
defect(
    "system-prompt-of-whole-blocks",
    "Writes a system prompt twice whose size is a multiple of 4096 bytes.",
    "system:content",
    "system:chat-reply",
)(system_bytes=gives(in_blocks))
defect("system-prompt-over-128000-refused", "Refuses a system prompt of more than 128,000 bytes.", "system:content")(
    system=system_limit
)
defect(
    "single-byte-of-last-block-lost",
    "Loses the last byte of a system prompt that is one byte longer than blocks of 4096.",
    "system:content",
)(system_bytes=last_byte_lost)
defect(
    "long-system-prompt-written-beside-gemini",
    "Starts gemini when the first 64 KiB of a system prompt are written, and writes the rest while it runs.",
    "system:content",
)(write_system=written_beside_gemini)
defect("pairs-of-system-prompt-divided", "Writes a system prompt in pieces of 16,384 units.", "system:content")(
    system_bytes=by_units
)
defect("eleventh-system-file-readable", "Lets everybody read every eleventh system prompt.", "system:mode")(
    write_system=every(11, opened_to_all)
)
defect("every-ninth-directory-kept", "Keeps every ninth system prompt.", "system:removed:success")(
    remove_system=every(9, always(None))
)
