"""System prompts that are tidied, decoded or filled in: ports that break `system`."""

import os
import re
import textwrap
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from conditions import replacing
from defects.record import defect
from defects.text.shared import JOINERS, TAGS, TextChange, escapes_read, normalized
from planning import Plan
from steps import gives, takes

ZERO_WIDTH = re.compile("[\\s\u200b\u2060]*")
SEPARATORS = re.compile("[\u0085\u2028\u2029]")


def nothing_seen(port: Any, real: Any, name: str, text: str) -> bool:
    return ZERO_WIDTH.fullmatch(text) is not None if name == "systemPrompt" else real(name, text)


SYSTEM_PROMPTS: dict[str, tuple[str, TextChange]] = {
    "colours-of-system-prompt-lost": (
        "Takes the escapes of a terminal out of a system prompt.",
        replacing("\x1b\\[[0-9;]*m"),
    ),
    "escapes-of-system-prompt-read": ("Reads a backslash and an n in a system prompt as a newline.", escapes_read),
    "entities-in-system-prompt": ("Escapes a system prompt for HTML.", lambda text: escape(text, quote=False)),
    "headings-of-system-prompt-lost": (
        "Takes lines of a system prompt that begin with `#` for comments.",
        replacing("(?m)^#.*\n?"),
    ),
    "front-matter-of-system-prompt-lost": (
        "Takes what stands between two lines of dashes off the beginning of a system prompt.",
        replacing("(?s)\\A---\n.*?\n---\n"),
    ),
    "line-ends-of-system-prompt-trimmed": (
        "Takes blanks off the ends of the lines of a system prompt.",
        replacing("[ \t]+(?=\n)"),
    ),
    "tabs-of-system-prompt-expanded": ("Makes blanks of the tabs of a system prompt.", replacing("\t", "    ")),
}


def prompt_filled(port: Any, real: Any, call: Any, plan: Plan) -> Any:
    prompt = call.arguments["prompt"]
    system = plan.system and plan.system.replace("{prompt}", prompt).replace("{{prompt}}", prompt)
    return real(call, replace(plan, system=system))


def read_if_path(text: str | None) -> str | None:
    return Path(text).read_text("utf-8", "replace") if text and os.path.isfile(text) else text


defect("system-prompt-composed", "Composes the characters of a system prompt.", "system:content")(
    system_bytes=takes(normalized("NFC"))
)
defect("system-prompt-without-returns", "Writes a system prompt with newlines alone.", "system:content")(
    system_bytes=takes(lambda prompt: prompt.replace("\r\n", "\n"))
)
defect("mark-of-system-prompt-lost", "Drops a byte order mark before a system prompt.", "system:content")(
    system_bytes=takes(lambda prompt: prompt.removeprefix("\ufeff"))
)
defect("tags-of-system-prompt-lost", "Drops what is invisible in a system prompt.", "system:content")(
    system_bytes=takes(replacing(f"{TAGS}|{JOINERS}"))
)
defect("lone-returns-of-system-prompt-lost", "Makes newlines of lone returns in a system prompt.", "system:content")(
    system_bytes=takes(lambda text: re.sub("\r(?!\n)", "\n", text))
)
defect("noncharacters-of-system-prompt-lost", "Replaces noncharacters of a system prompt.", "system:content")(
    system_bytes=takes(lambda text: re.sub("[\ufdd0-\ufdef\ufffe\uffff\U0001fffe\U0001ffff]", "\ufffd", text))
)
defect("joiners-of-system-prompt-lost", "Drops joiners of a system prompt.", "system:content")(
    system_bytes=takes(lambda text: re.sub("[\u200c\u200d\u2060]", "", text))
)
defect(
    "zero-width-system-prompt-absent",
    "Takes a system prompt of characters without width for a blank one.",
    "system:content",
)(is_absent=nothing_seen)
defect("separators-of-system-prompt-are-newlines", "Makes newlines of U+0085, U+2028 and U+2029.", "system:content")(
    system_bytes=takes(lambda text: SEPARATORS.sub("\n", text))
)

for name, (sentence, change) in SYSTEM_PROMPTS.items():
    defect(name, sentence, "system:content")(system_bytes=takes(change))

defect("prompt-filled-into-system-prompt", "Fills the prompt into a system prompt with `{prompt}`.", "system:content")(
    run_prompt=prompt_filled
)
defect(
    "doubled-dollars-of-system-prompt-single",
    "Writes one dollar sign for two of a system prompt.",
    "system:content",
)(system_bytes=takes(lambda text: text.replace("$$", "$")))
defect("system-prompt-dedented", "Takes the common indentation off a system prompt.", "system:content")(
    system=gives(lambda text: text and textwrap.dedent(text))
)
defect(
    "system-prompt-read-from-path",
    "Reads the system prompt from a file when it is the path of one.",
    "system:content",
)(system=gives(read_if_path))
