"""Prompts that are tidied, decoded or filled in: ports that break `prompt:verbatim`."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from typing import Any
from urllib.parse import unquote

from conditions import asks, replacing
from defects.record import defect
from defects.text.shared import (
    DIRECTIONS,
    IDEOGRAPHIC_SELECTORS,
    JOINERS,
    NONCHARACTERS,
    PAIR,
    SELECTORS,
    TAGS,
    TextChange,
    escapes_read,
    normalized,
    on_argv,
    refused_as_written,
    straightened,
    without_category,
)
from planning import Plan, Refusal
from steps import Step, before, gives, takes

REFERENCES = {"$": "$", "&": "{prompt}", "`": "--prompt=", "'": ""}
"""What JavaScript's `replace` puts in the place of a dollar sign and one of these."""
PRIVATE = "[\ue000-\uf8ff]"


def digits_westernised(text: str) -> str:
    return "".join(str(unicodedata.decimal(each)) if unicodedata.category(each) == "Nd" else each for each in text)


PROMPTS: dict[str, tuple[str, str, TextChange]] = {
    "form-feeds-of-prompt-are-newlines": (
        "Makes newlines of form feeds and vertical tabs.",
        "command:chat",
        replacing("[\x0b\x0c]", "\n"),
    ),
    "colours-of-prompt-lost": (
        "Takes the escapes of a terminal out of a prompt.",
        "command:chat",
        replacing("\x1b\\[[0-9;]*m"),
    ),
    "typography-of-prompt-straightened": (
        "Makes ASCII of the quotes and dashes of a prompt.",
        "prompt:verbatim:unicode",
        straightened,
    ),
    "flags-of-prompt-lost": (
        "Drops the letters of which flags are made.",
        "prompt:verbatim:unicode",
        replacing("[\U0001f1e6-\U0001f1ff]"),
    ),
    "enclosing-marks-of-prompt-lost": (
        "Drops enclosing marks of a prompt.",
        "prompt:verbatim:unicode",
        without_category("Me"),
    ),
    "digits-of-prompt-westernised": (
        "Makes ASCII of the digits of other scripts.",
        "prompt:verbatim:unicode",
        digits_westernised,
    ),
    "escapes-of-prompt-read": (
        "Reads a backslash and an n in a prompt as a newline.",
        "prompt:verbatim:quotes",
        escapes_read,
    ),
    "percents-of-prompt-read": ("Reads %20 in a prompt as a blank.", "command:chat", unquote),
    "entities-of-prompt-read": ("Reads the entities of HTML in a prompt.", "command:chat", unescape),
    "blank-lines-of-prompt-joined": (
        "Makes one blank line of several in a prompt.",
        "prompt:verbatim:newline",
        replacing("\n{3,}", "\n\n"),
    ),
    "blanks-of-prompt-joined": (
        "Makes one blank of several within a prompt.",
        "prompt:verbatim:blanks",
        replacing("(?<=\\S)  +(?=\\S)", " "),
    ),
}


def of_prompt(change: TextChange) -> Step:
    return lambda port, real, prompt: real(change(prompt) or prompt)


def filled(word: str) -> str:
    return re.sub(r"\$([$&`'])", lambda found: REFERENCES[found[1]], word)


def filled_by_replace(form: tuple[tuple[str, ...], str | None]) -> tuple[tuple[str, ...], str | None]:
    words, stdin = form
    return tuple(filled(word) if word.startswith("--prompt=") else word for word in words), stdin


def without_last_return(port: Any, real: Any, prompt: str) -> Any:
    return real(prompt.removesuffix("\r") or prompt)


def doubled_before_quotes(prompt: str) -> str:
    """As a command line of Windows is written; here nobody reads it like that."""
    return re.sub(r'(\\+)(?="|$)', r"\1\1", prompt) if " " in prompt else prompt


def in_replies(change: Callable[[str], str]) -> Step:
    """Alters the prompts of replies, however they travel."""

    def changed(plan: Plan) -> Plan:
        argv = tuple(word if number < 3 else change(word) for number, word in enumerate(plan.argv))
        return replace(plan, argv=argv, stdin=plan.stdin and change(plan.stdin))

    return asks(lambda call, plan: plan.session is not None, changed)


def pairs_damaged(port: Any, real: Any, line: bytes) -> Any:
    return real(PAIR.sub(rb"\\ufffd\\ufffd", line))


def refuses_damaged(port: Any, name: str, text: str) -> None:
    if name == "prompt" and "\ufffd" in text:
        raise Refusal("`prompt` was damaged on its way.")


for name, (sentence, requirement, change) in PROMPTS.items():
    defect(name, sentence, requirement)(prompt_form=of_prompt(change))

defect(
    "tabs-of-prompt-expanded",
    "Makes blanks of the tabs of a prompt.",
    "prompt:verbatim:blanks",
    "prompt:verbatim:newline",
)(prompt_form=on_argv(lambda prompt: prompt.replace("\t", "    ")))
defect(
    "line-ends-of-prompt-trimmed",
    "Takes blanks off the ends of the lines of a prompt.",
    "prompt:verbatim:blanks",
    "prompt:verbatim:newline",
)(prompt_form=takes(replacing("[ \t]+\n", "\n")))
defect(
    "dollars-of-flagged-prompt-read",
    "Fills a prompt into `--prompt={prompt}` as JavaScript does, which reads `$$` and `$&` in it.",
    "prompt:verbatim:dash",
)(prompt_form=gives(filled_by_replace))
defect(
    "continued-lines-of-prompt-joined",
    "Joins the lines of a prompt where a backslash stands before a newline.",
    "prompt:verbatim:newline",
    "prompt:verbatim:quotes",
)(prompt_form=takes(lambda prompt: prompt.replace("\\\n", "")))
defect(
    "last-return-of-prompt-lost",
    "Takes a carriage return off the end of a prompt.",
    "prompt:verbatim:newline",
    "prompt:verbatim:blanks",
)(prompt_form=without_last_return)
defect(
    "nul-sought-in-json",
    "Looks for NUL in the JSON of an argument, and refuses one that only spells its escape.",
    "prompt:verbatim:quotes",
)(check_characters=refused_as_written(r"\\u0000", "a NUL character, which no command line can carry"))
defect("percents-of-prompt-halved", "Makes one percent sign of two in a prompt.", "prompt:verbatim:quotes")(
    prompt_form=takes(lambda prompt: prompt.replace("%%", "%"))
)
defect(
    "backslashes-before-quotes-doubled",
    "Doubles the backslashes before a double quote or the end of a prompt with blanks.",
    "prompt:verbatim:quotes",
)(prompt_form=takes(doubled_before_quotes))
defect("selectors-of-prompt-lost", "Drops variation selectors of a prompt.", "prompt:verbatim:unicode")(
    prompt_form=on_argv(replacing(SELECTORS))
)
defect("tags-of-prompt-lost", "Drops tag characters of a prompt, which nobody sees.", "prompt:verbatim:unicode")(
    prompt_form=on_argv(replacing(TAGS))
)
defect("joiners-of-replies-lost", "Drops joiners of a prompt, in replies only.", "prompt:verbatim:unicode")(
    ask=in_replies(replacing(JOINERS))
)
defect("directions-of-prompt-lost", "Drops what turns the direction of a prompt.", "prompt:verbatim:unicode")(
    prompt_form=on_argv(replacing(DIRECTIONS))
)
defect("mark-of-prompt-lost", "Drops a byte order mark before a prompt.", "prompt:verbatim:unicode")(
    prompt_form=takes(lambda prompt: prompt.removeprefix("\ufeff") or prompt)
)
defect("prompt-made-compatible", "Replaces ligatures and wide letters of a prompt.", "prompt:verbatim:unicode")(
    prompt_form=on_argv(normalized("NFKC"))
)
defect("noncharacters-of-prompt-lost", "Replaces noncharacters of a prompt.", "prompt:verbatim:unicode")(
    prompt_form=on_argv(replacing(NONCHARACTERS, "\ufffd"))
)
defect("private-use-of-prompt-lost", "Replaces characters for private use of a prompt.", "prompt:verbatim:unicode")(
    prompt_form=on_argv(replacing(PRIVATE, "\ufffd"))
)
defect(
    "pairs-of-escapes-damaged",
    "Reads the escapes of a character beyond the basic plane as two.",
    "prompt:verbatim:unicode",
)(parse=pairs_damaged)
defect("next-line-of-prompt-is-newline", "Makes a newline of U+0085.", "prompt:verbatim:unicode")(
    prompt_form=takes(lambda prompt: prompt.replace("\x85", "\n"))
)
defect("fixed-blanks-of-prompt-loosened", "Makes ordinary blanks of U+00A0.", "prompt:verbatim:unicode")(
    prompt_form=on_argv(lambda prompt: prompt.replace("\u00a0", " "))
)
defect("damaged-prompt-refused", "Refuses a prompt that holds U+FFFD.", "prompt:verbatim:unicode")(
    check_characters=before(refuses_damaged)
)
defect("soft-hyphens-of-prompt-lost", "Drops soft hyphens of a prompt.", "prompt:verbatim:unicode")(
    prompt_form=takes(lambda text: text.replace("\u00ad", ""))
)
defect(
    "ideographic-selectors-of-prompt-lost",
    "Drops the selectors of ideographs in a prompt.",
    "prompt:verbatim:unicode",
)(prompt_form=takes(lambda text: IDEOGRAPHIC_SELECTORS.sub("", text)))
defect("inner-marks-of-prompt-lost", "Drops a byte order mark inside of a prompt.", "prompt:verbatim:unicode")(
    prompt_form=takes(lambda text: text[:1] + text[1:].replace("\ufeff", ""))
)
