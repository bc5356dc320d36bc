"""System prompts that arrive altered: ports that break `system:content`."""

import os
import re
from collections.abc import Mapping
from typing import Any

from defects.call.shared import BLOCK
from defects.record import defect
from steps import gives, takes

CHUNK = 65_536


def filled(text: str) -> str:
    return re.sub(r"\$\{(\w+)\}", lambda found: os.environ.get(found[1], found[0]), text)


def system_in_buffer(port: Any, real: Any, text: str) -> bytes:
    return real(text)[: max(BLOCK, len(text))]


def unless_like_prompt(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    return None if texts.get("systemPrompt") == texts["prompt"] else real(tool, texts)


def in_chunks(raw: bytes) -> bytes:
    chunks = (raw[at : at + CHUNK] for at in range(0, len(raw), CHUNK))
    return "".join(chunk.decode("utf-8", "replace") for chunk in chunks).encode()


def own_variable_last(port: Any, real: Any, path: str | None) -> Any:
    return {**real(path), **{name: value for name, value in os.environ.items() if name == "GEMINI_SYSTEM_MD"}}


defect(
    "variables-of-system-prompt-filled",
    "Fills variables of its environment into a system prompt that writes them in braces.",
    "system:content",
)(system_bytes=takes(filled))
defect(
    "system-cut-to-characters",
    "Writes no more bytes of a system prompt of more than 64 KiB than it has characters.",
    "system:content",
)(system_bytes=system_in_buffer)
defect(
    "long-system-measured-in-characters",
    "Writes as many bytes of a system prompt as it has characters when those are more than 4096.",
    "system:content",
)(system_bytes=lambda port, real, text: real(text)[: len(text)] if len(text) > 4096 else real(text))
defect("system-prompt-stripped", "Strips the system prompt.", "system:content")(system_bytes=takes(str.strip))
defect("system-prompt-ends-line", "Ends the system prompt with a newline of its own.", "system:content")(
    system_bytes=takes(lambda text: text if text.endswith("\n") else f"{text}\n")
)
defect("system-prompt-with-mark", "Writes a byte order mark before the system prompt.", "system:content")(
    system_bytes=takes(lambda text: f"\ufeff{text}")
)
defect("system-prompt-in-latin1", "Writes the system prompt in Latin-1 where that is possible.", "system:content")(
    system_bytes=lambda port, real, text: text.encode("latin-1") if max(text) < "\u0100" else real(text)
)
defect(
    "system-prompt-like-prompt-lost",
    "Hands no system prompt over that is the same text as the prompt.",
    "system:content",
)(system=unless_like_prompt)
defect(
    "system-decoded-in-chunks",
    "Spoils a character of the system prompt that lies across a multiple of 65,536 bytes.",
    "system:content",
)(system_bytes=gives(in_chunks))
defect(
    "own-system-wins",
    "Lets the GEMINI_SYSTEM_MD of the server's own environment win over the system prompt of a call.",
    "system:content",
)(environment=own_variable_last)
