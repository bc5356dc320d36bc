"""Long prompts that lose a character on stdin: ports that break `prompt:long`."""

import json
from collections.abc import Callable
from typing import Any

from conditions import replacing, stdin_changed
from defects.record import defect
from defects.text.shared import normalized
from planning import STDIN_LIMIT, Refusal
from steps import Step, gives, takes

MEGABYTE = 1024 * 1024
UNITS = 1 << 16
END_OF_TRANSMISSION = "\x04"


def without_mark(text: str) -> str:
    return text.removeprefix("\ufeff")


def by_megabytes(text: str) -> str:
    """Checks each block for itself, though a character may stand in two."""
    raw = text.encode()
    return "".join(raw[at : at + MEGABYTE].decode("utf-8", "replace") for at in range(0, len(raw), MEGABYTE))


def in_units(text: str) -> str:
    """Converts each 65,536 units of UTF-16 by themselves."""
    units = text.encode("utf-16-le")
    pieces = (units[start : start + 2 * UNITS] for start in range(0, len(units), 2 * UNITS))
    return "".join(piece.decode("utf-16-le", "replace") for piece in pieces)


def dashes_first(port: Any, real: Any, prompt: str) -> Any:
    """Looks for a dash before it looks at the length."""
    return ((f"--prompt={prompt}",), None) if prompt.startswith("-") else real(prompt)


def measures_escapes(port: Any, real: Any, tool: str, prompt: str) -> None:
    if len(json.dumps(prompt)) > STDIN_LIMIT + 2:
        raise Refusal("`prompt` is longer than the 8388608 bytes that gemini reads.")
    real(tool, prompt)


def on_stdin(change: Callable[[str], str]) -> Step:
    """Alters prompts on stdin."""
    return gives(lambda form: (form[0], form[1] and change(form[1])))


def without_last_newline(text: str) -> str:
    return text.removesuffix("\n")


defect("mark-of-long-prompt-lost", "Drops a byte order mark before a prompt on stdin.", "prompt:long")(
    prompt_form=stdin_changed(without_mark)
)
defect(
    "megabyte-divides-character",
    "Replaces a character on stdin that begins before the end of a megabyte and ends behind it.",
    "prompt:long",
    "prompt:verbatim:unicode",
)(prompt_form=stdin_changed(by_megabytes))
defect(
    "pair-at-unit-65536-of-stdin-parted",
    "Parts a character of a long prompt that lies across the 65,536th unit of UTF-16.",
    "prompt:long",
)(prompt_form=stdin_changed(in_units))
defect(
    "pairs-of-long-prompt-divided",
    "Writes a prompt to stdin in pieces of 65,536 UTF-16 units, each encoded by itself.",
    "prompt:long",
)(input=takes(lambda text: text and in_units(text)))
defect(
    "long-dash-prompt-on-command-line",
    "Passes a prompt that starts with a dash on the command line, however long it is.",
    "prompt:long",
)(prompt_form=dashes_first)
defect(
    "prompt-measured-in-escapes",
    "Measures a prompt as JSON writes it in ASCII, and refuses one that is short enough.",
    "prompt:long",
)(check_prompt=measures_escapes)
defect("prompt-decomposed", "Decomposes the characters of a long prompt.", "prompt:long:whole")(
    prompt_form=on_stdin(normalized("NFD"))
)
defect("separators-of-long-prompt-lost", "Makes newlines of U+2028 and U+2029 on stdin.", "prompt:long:whole")(
    prompt_form=on_stdin(replacing("[\u2028\u2029]", "\n"))
)
defect(
    "returns-of-long-prompt-lost",
    "Writes prompts to stdin as a text file, with its line ends.",
    "prompt:long:whole",
    "prompt:long",
)(prompt_form=on_stdin(replacing("\r\n?", "\n")))
defect(
    "long-prompt-ends-at-u0004",
    "Ends a prompt on stdin at its first U+0004, where a terminal ends its input.",
    "prompt:long:whole",
    "prompt:long",
)(prompt_form=stdin_changed(lambda text: text.partition(END_OF_TRANSMISSION)[0]))
defect("last-newline-of-long-prompt-lost", "Takes a newline off the end of a prompt on stdin.", "prompt:long:whole")(
    prompt_form=stdin_changed(without_last_newline)
)
