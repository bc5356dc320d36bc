"""Defects that let out what is private in the way a language prints bytes and characters, or by one kind of key."""

from typing import Any

from answering import KEYS
from conditions import STDERR
from defects.privacy.channels import logs, logs_prompt
from defects.record import defect
from running import Call
from speaking import Message

GONE = "does not know this session"


def as_numbers(text: str) -> str:
    """As Go prints a slice of bytes."""
    return f"[{' '.join(map(str, text.encode()))}]"


def in_braced_escapes(text: str) -> str:
    """As Rust prints a text for those who debug."""
    return "".join(each if each.isascii() else f"\\u{{{ord(each):x}}}" for each in text)


def logs_gone(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    text = result["content"][0]["text"] if result.get("isError") else ""
    if GONE in text.partition(STDERR)[0]:
        logs(f"session is gone, lost: {call.arguments.get('systemPrompt') or call.arguments['prompt']}")
    return result


def first_kind_masked(port: Any, real: Any, text: str) -> str:
    """Leaves at the first pattern that fits."""
    first = KEYS.search(text)
    return KEYS.sub(lambda key: "[masked]" if first and key[0][:2] == first[0][:2] else key[0], text)


defect("prompt-logged-as-numbers", "Logs the bytes of a prompt as decimal numbers.", "stdio:stderr:private")(
    ask=logs_prompt(as_numbers)
)
defect(
    "wide-prompt-logged-in-braced-escapes",
    "Logs a prompt that is not ASCII, with escapes like `\\u{e9}`.",
    "stdio:stderr:private",
)(ask=logs_prompt(in_braced_escapes, lambda call: not call.arguments["prompt"].isascii()))
defect(
    "prompt-logged-when-session-is-gone",
    "Logs what a reply has said whose session gemini does not know.",
    "stdio:stderr:private",
)(execute=logs_gone)
defect("one-kind-of-keys-masked", "Masks keys of the first kind that it finds alone.", "error:secrets")(
    masked=first_kind_masked
)
