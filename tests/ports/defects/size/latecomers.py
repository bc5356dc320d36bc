"""Defects that show when a text, a number or a count is as large as some buffer, block or byte."""

import json
from typing import Any

from answering import Scan
from defects.record import defect
from steps import gives

BLOCK = 4096
BRACES = 32
WINDOW = 64 * 1024


def redacted_end(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return real(text[-WINDOW:], private)


def in_blocks(data: bytes) -> bytes:
    rest = len(data) % BLOCK
    return data[: len(data) - rest] + data[-rest:]


def begins_object(text: str, position: int) -> bool:
    try:
        json.JSONDecoder().raw_decode(text, position)
    except (ValueError, RecursionError):
        return False
    return True


def gives_up(port: Any, real: Any, text: str) -> Scan:
    positions = [position for position, character in enumerate(text) if character == "{"]
    tried = positions[:BRACES]
    is_given_up = len(positions) > BRACES and not any(begins_object(text, position) for position in tried)
    return Scan() if is_given_up else real(text)


defect(
    "redaction-of-the-end",
    "Looks for private texts in the last 64 Ki characters of stderr only, where a longer one is not whole.",
    "error:prompt",
)(redacted=redacted_end)
defect(
    "system-prompt-of-whole-blocks",
    "Writes a system prompt twice whose size is a multiple of 4096 bytes.",
    "system:content",
    "system:chat-reply",
)(system_bytes=gives(in_blocks))
defect(
    "json-search-gives-up",
    "Gives up the search for JSON when 32 braces have begun none.",
    "result:json:braces",
)(scan=gives_up)
