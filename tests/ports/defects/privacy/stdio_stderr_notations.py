"""Logs of a prompt in pieces or in another notation: ports that break `stdio:stderr`."""

import base64
import json
import re
import sys
import textwrap
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

from defects.privacy.shared import logs_prompt
from defects.record import defect
from defects.shared import log, log_bare
from planning import Plan
from running import Call
from steps import after, before

LONG = 1024
SHOWN = 24
ROW = 16


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def logs_system(port: Any, text: str) -> None:
    log_bare("system prompt: " + " | ".join(text.split("\n")))


def logs_beyond_ascii(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    prompt = arguments.get("prompt")
    if isinstance(prompt, str) and not prompt.isascii():
        log(f"{tool}: {json.dumps(prompt)}")


def logs_beginning(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    prompt = arguments.get("prompt")
    if isinstance(prompt, str) and len(prompt) > LONG:
        log(f"{tool}: {prompt[:SHOWN]!r}... ({len(prompt)} characters)")


def logs_words(port: Any, call: Call, plan: Plan) -> None:
    for word in call.arguments["prompt"].split():
        log_bare(word)


def logs_middle(port: Any, call: Call, plan: Plan) -> None:
    prompt = call.arguments["prompt"]
    if len(prompt) > 40:
        log_bare(prompt[len(prompt) // 2 - 15 : len(prompt) // 2 + 15])


def logs_spaced(port: Any, call: Call, plan: Plan) -> None:
    log_bare("\0".join(call.arguments["prompt"]))


def logs_slug(port: Any, call: Call, plan: Plan) -> None:
    words = re.findall(r"\w+", call.arguments["prompt"].lower())
    log(f"serves {'-'.join(words)}")


def rows(data: bytes) -> Iterator[str]:
    """As `xxd` shows it."""
    for at in range(0, len(data), ROW):
        row = data[at : at + ROW]
        text = "".join(chr(each) if 32 <= each < 127 else "." for each in row)
        yield f"{at:08x}: {row.hex(' ', 2):39}  {text}"


def logs_dump(port: Any, call: Call, plan: Plan) -> None:
    log("\n".join(rows(call.arguments["prompt"].encode("utf-8", "replace"))))


def logs_doubly_escaped(port: Any, call: Call, plan: Plan) -> None:
    print(json.dumps(json.dumps({"argv": plan.argv})), file=sys.stderr, flush=True)


def as_numbers(text: str) -> str:
    """As Go prints a slice of bytes."""
    return f"[{' '.join(map(str, text.encode()))}]"


def in_braced_escapes(text: str) -> str:
    """As Rust prints a text for those who debug."""
    return "".join(each if each.isascii() else f"\\u{{{ord(each):x}}}" for each in text)


defect("prompt-logged-in-base64", "Logs a prompt in base64.", "stdio:stderr:private")(ask=logs_prompt(in_base64))
defect("prompt-logged-for-addresses", "Logs a prompt as a part of an address.", "stdio:stderr:private")(
    ask=logs_prompt(urllib.parse.quote)
)
defect("prompt-logged-in-hexadecimal", "Logs the bytes of a prompt.", "stdio:stderr:private")(
    ask=logs_prompt(lambda text: text.encode().hex())
)
defect("prompt-logged-in-short-lines", "Logs a prompt in lines of forty characters.", "stdio:stderr:private")(
    ask=logs_prompt(lambda text: "\n".join(textwrap.wrap(text, 40)))
)
defect("prompt-logged-in-capitals", "Logs a prompt in capitals.", "stdio:stderr:private")(ask=logs_prompt(str.upper))
defect("end-of-prompt-logged", "Logs the last twenty characters of a prompt.", "stdio:stderr:private")(
    ask=logs_prompt(lambda text: f"asked: ...{text[-20:]}")
)
defect("system-prompt-logged-in-one-line", "Logs a system prompt in one line.", "stdio:stderr:private")(
    system_bytes=before(logs_system)
)
defect("prompt-logged-in-ascii", "Logs a prompt that is not ASCII, in escapes.", "stdio:stderr:private")(
    plan=after(logs_beyond_ascii)
)
defect("beginning-of-prompt-logged", "Logs the beginning of a prompt of more than 1 KiB.", "stdio:stderr:private")(
    plan=after(logs_beginning)
)
defect("prompt-logged-word-by-word", "Logs each word of a prompt on a line of its own.", "stdio:stderr:private")(
    ask=before(logs_words)
)
defect("middle-of-prompt-logged", "Logs thirty characters in the middle of a prompt.", "stdio:stderr:private")(
    ask=before(logs_middle)
)
defect("prompt-logged-with-nuls", "Logs a prompt as UTF-16, with a NUL behind each letter.", "stdio:stderr:private")(
    ask=before(logs_spaced)
)
defect("prompt-logged-as-slug", "Logs the words of a prompt, joined by hyphens.", "stdio:stderr:private")(
    ask=before(logs_slug)
)
defect("prompt-logged-as-dump", "Logs a dump of a prompt, sixteen bytes a line.", "stdio:stderr:private")(
    ask=before(logs_dump)
)
defect("escaped-twice-logged", "Logs the command line as a text of JSON within JSON.", "stdio:stderr:private")(
    ask=before(logs_doubly_escaped)
)
defect("prompt-logged-as-numbers", "Logs the bytes of a prompt as decimal numbers.", "stdio:stderr:private")(
    ask=logs_prompt(as_numbers)
)
defect(
    "wide-prompt-logged-in-braced-escapes",
    "Logs a prompt that is not ASCII, with escapes like `\\u{e9}`.",
    "stdio:stderr:private",
)(ask=logs_prompt(in_braced_escapes, lambda call: not call.arguments["prompt"].isascii()))
