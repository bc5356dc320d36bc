"""Defects in finding copies of a private text: too few of its spellings."""

import json
import re
from typing import Any

from answering import PRIVATE_LENGTH
from defects.record import defect

WORDLIKE = re.compile(r"\w(?:.*\w)?", re.DOTALL)


def is_found(secret: str) -> bool:
    """Whether a pattern with `\\b` at both ends finds it."""
    return len(secret.strip()) >= PRIVATE_LENGTH or WORDLIKE.fullmatch(secret) is not None


def between_letters(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return real(text, tuple(filter(is_found, private)))


def escaped_pairs_left(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """In its escapes a character beyond the basic plane is written as two."""
    copies = [json.dumps(secret)[1:-1] for secret in private if max(secret) > "\uffff"]
    for number, copy in enumerate(copies):
        text = text.replace(copy, f"\0{number}\0")
    text = real(text, private)
    for number, copy in enumerate(copies):
        text = text.replace(f"\0{number}\0", copy)
    return text


defect(
    "short-prompt-between-letters-alone",
    "Leaves a copy of a prompt of fewer than eight characters that does not begin and end with letters or digits.",
    "error:prompt",
)(withheld=between_letters)
defect(
    "escaped-pairs-of-prompt-left",
    "Leaves a copy in JSON's escapes of a prompt with characters beyond the basic plane.",
    "error:prompt",
)(withheld=escaped_pairs_left)
