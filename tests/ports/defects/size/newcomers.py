"""Defects of counts and blocks: what stands just beside a limit, or divided by one."""

import json
import re
from typing import Any

from answering import ENTRY, STDERR_LIMIT, Answer, Failure
from defects.record import defect
from planning import STDIN_LIMIT, Refusal
from steps import always

BLOCK = 4096
BUFFER = 65536


def searches_one_buffer(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    is_far = stdout.strip() and stdout.find("{", 0, BUFFER) < 0
    return port.plain_text(stdout) if is_far else real(stdout, stderr)


def first_line_divided(port: Any, real: Any, text: str) -> str:
    """Cannot tell a text of just this size from one that was cut."""
    cut = real(text)
    return cut.split("\n", 1)[-1] if len(cut.encode()) == len(text.encode()) == STDERR_LIMIT else cut


def refuses_escaped(port: Any, real: Any, tool: str, prompt: str) -> None:
    real(tool, prompt)
    if len(json.dumps(prompt, ensure_ascii=False).encode()) - 2 > STDIN_LIMIT:
        raise Refusal("`prompt` is longer than the 8388608 bytes that gemini reads.")


def last_byte_lost(port: Any, real: Any, text: str) -> bytes:
    raw = real(text)
    return raw[:-1] if len(raw) > BLOCK and len(raw) % BLOCK == 1 else raw


def cut_before_masks(port: Any, real: Any, failure: Failure) -> str:
    if failure.stderr is None or len(failure.stderr) <= BUFFER:
        return real(failure)
    return f"\nStderr: {port.masked(port.tail(port.withheld(failure.stderr, failure.private)))}"


defect(
    "index-of-four-digits-passed-over",
    "Passes over the entries from 1000 on in the list of sessions.",
    "fallback:last",
)(entry_pattern=always(re.compile(ENTRY.pattern.replace("[0-9]+", "[0-9]{1,3}"))))
defect(
    "json-behind-64k-of-notices-unseen",
    "Finds no JSON when more than 65,536 characters of notices are before it.",
    "result:json:notice-before",
)(read_stdout=searches_one_buffer)
defect(
    "stderr-of-just-the-limit-loses-first-line",
    "Leaves out the first line of a stderr of exactly 8192 bytes.",
    "error:stderr",
)(tail=first_line_divided)
defect(
    "prompt-measured-with-escapes",
    "Refuses a prompt that has more than 8,388,608 bytes once JSON has escaped it.",
    "prompt:long",
)(check_prompt=refuses_escaped)
defect(
    "single-byte-of-last-block-lost",
    "Loses the last byte of a system prompt that is one byte longer than blocks of 4096.",
    "system:content",
)(system_bytes=last_byte_lost)
defect(
    "long-stderr-cut-before-masks",
    "Masks keys only after the cut when stderr has more than 65,536 characters, so that one that is cut is shown.",
    "error:secrets",
)(stderr_part=cut_before_masks)
