"""Defects of sizes and counts that only one number, or the place of one character, shows."""

from collections.abc import Mapping
from typing import Any

from conditions import stdin_changed
from defects.record import defect
from steps import for_tool, takes

BLOCK = 65_536
MODEL_LENGTH = 64


def model_in_column(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(word[:MODEL_LENGTH] if "sessionId" in texts else word for word in real(tool, texts))


def blocks_by_themselves(text: str) -> str:
    """Each block of UTF-16 is encoded without a look at the next."""
    units = text.encode("utf-16-le")
    starts = range(0, len(units), 2 * BLOCK)
    return "".join(units[start : start + 2 * BLOCK].decode("utf-16-le", "replace") for start in starts)


defect(
    "model-of-reply-by-id-cut-at-64",
    "Cuts the model of a reply by id to its first 64 characters.",
    "command:chat-reply:model",
)(model_option=for_tool("chat-reply", model_in_column))
defect(
    "limit-counts-crlf-once",
    "Counts a carriage return and its newline as one byte where it looks for a prompt that is too long.",
    "prompt:over-limit",
)(check_prompt=takes(lambda prompt: prompt.replace("\r\n", "\n")))
defect(
    "emoji-between-blocks-of-stdin-broken",
    "Breaks a character beyond the first plane that two blocks of 65536 UTF-16 units of a long prompt share.",
    "prompt:long",
)(prompt_form=stdin_changed(blocks_by_themselves))
