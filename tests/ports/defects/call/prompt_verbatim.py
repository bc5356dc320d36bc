"""Prompts that gemini reads as something else: ports that break `prompt:verbatim`."""

import os
import re
import unicodedata
from collections.abc import Callable
from typing import Any

from defects.call.shared import trusts
from defects.record import defect
from planning import ARGUMENT_LIMIT, Refusal
from steps import Change, Step, for_tool, takes

PATH = re.compile(r"(?<!\S)@(\S+)")
FLAG = "--prompt="
COMMAND = re.compile(r"^(/\S+)[ \t]+")
ESCAPED_PAIR = re.compile(rb"(?<!\\)((?:\\\\)*)\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


def flagged_cut(port: Any, real: Any, prompt: str) -> Any:
    """The whole argument is cut, and not the prompt in it."""
    form, stdin = real(prompt)
    return tuple(word.encode()[:ARGUMENT_LIMIT].decode("utf-8", "ignore") for word in form), stdin


def normal_paths(prompt: str) -> str:
    return PATH.sub(lambda found: f"@{os.path.normpath(found[1])}", prompt)


def with_content(port: Any, real: Any, prompt: str) -> tuple[tuple[str, ...], str | None]:
    path = prompt.removeprefix("@")
    if path == prompt or not os.path.isfile(path):
        return real(prompt)
    with open(path, encoding="utf-8", errors="replace") as file:
        return real(file.read())


def in_replies(change: Callable[[str], str]) -> Step:
    """Alters the prompts of replies, and only those on the command line."""
    return for_tool("chat-reply", takes(lambda form: tuple(map(change, form))))


def refuses_line_ends(port: Any, real: Any, tool: str, prompt: str) -> None:
    if not prompt.strip("\r\n"):
        raise Refusal("`prompt` is empty, but should be the text for Gemini.")
    real(tool, prompt)


def flagged(change: Change) -> Step:
    """Of `prompt_form`: changes a prompt that follows `--prompt=`."""

    def form(port: Any, real: Any, prompt: str) -> tuple[tuple[str, ...], str | None]:
        words, stdin = real(prompt)
        return tuple(FLAG + change(word.removeprefix(FLAG)) if word.startswith(FLAG) else word for word in words), stdin

    return form


def overlooks(pattern: str) -> Step:
    """Of `is_risky`: takes a prompt that fits for an ordinary one."""
    fits = re.compile(pattern).fullmatch
    return lambda port, real, prompt: real(prompt) and not fits(prompt)


def one_blank_behind_command(prompt: str) -> str:
    return COMMAND.sub(r"\1 ", prompt)


defect("prompt-cut-at100000", "Cuts prompts after 100,000 characters.", "prompt:verbatim:128000")(
    prompt_form=takes(lambda text: text[:100_000])
)
defect(
    "flagged-prompt-cut-at-limit",
    "Cuts a prompt behind `--prompt=` so that both together have no more than 128,000 bytes.",
    "prompt:verbatim:128000",
)(prompt_form=flagged_cut)
defect("at-signs-escaped", "Puts a backslash before each @.", "prompt:verbatim:at-sign")(
    prompt_form=takes(lambda text: text.replace("@", "\\@"))
)
defect(
    "paths-behind-at-normalised",
    "Shortens a path behind @ in a prompt: `@./a` becomes `@a`, and `@a/` too.",
    "prompt:verbatim:at-sign",
)(prompt_form=takes(normal_paths))
defect(
    "files-of-prompts-read", "Sends the content of the file that a prompt names behind `@`.", "prompt:verbatim:at-sign"
)(prompt_form=with_content)
defect("prompt-stripped", "Strips the prompt.", "prompt:verbatim:blanks")(
    prompt_form=takes(lambda text: text.strip() or text)
)
defect(
    "last-blank-lost",
    "Takes trailing blanks off a prompt, in replies only.",
    "prompt:verbatim:blanks",
    "prompt:verbatim:newline",
)(argv=in_replies(str.rstrip))
defect("prompt-of-line-ends-refused", "Refuses a prompt that is nothing but line ends.", "prompt:verbatim:blanks")(
    check_prompt=refuses_line_ends
)
defect("command-word-positional", "Passes a prompt that is a command word as it is.", "prompt:verbatim:command-word")(
    is_risky=trusts(str.isalpha)
)
defect("older-commands-only", "Does not know the other names of a command.", "prompt:verbatim:command-word")(
    is_risky=trusts(lambda text: text in ("extension", "skills", "hook"))
)
defect(
    "name-of-program-positional",
    "Passes the prompt `$0` as it is.",
    "prompt:verbatim:command-word",
)(is_risky=trusts(lambda text: text == "$0"))
defect("dash-prompt-behind-blank", "Puts a blank before a prompt that starts with a dash.", "prompt:verbatim:dash")(
    prompt_form=takes(lambda text: f" {text}" if text.startswith("-") else text)
)
defect(
    "dash-prompt-behind-double-dash",
    "Passes a prompt that starts with a dash behind `--`, where gemini loses it.",
    "prompt:verbatim:dash",
)(prompt_form=lambda port, real, text: (("--", text), None) if text.startswith("-") else real(text))
defect(
    "dash-prompt-of-lines-positional",
    "Passes a prompt of several lines that starts with a dash as it is.",
    "prompt:verbatim:dash",
)(is_risky=trusts(lambda text: text.startswith("-") and "\n" in text))
defect(
    "flagged-prompt-cut-at-equals",
    "Cuts a prompt that follows `--prompt=` at an equals sign of its own.",
    "prompt:verbatim:dash",
)(prompt_form=flagged(lambda prompt: prompt.split("=")[0]))
defect(
    "flagged-prompt-trimmed",
    "Takes blanks off the end of a prompt that follows `--prompt=`.",
    "prompt:verbatim:dash",
    "prompt:verbatim:blanks",
)(prompt_form=flagged(str.rstrip))
defect(
    "flagged-prompt-in-one-line",
    "Makes blanks of the newlines of a prompt that follows `--prompt=`.",
    "prompt:verbatim:dash",
    "prompt:verbatim:newline",
)(prompt_form=flagged(lambda prompt: prompt.replace("\n", " ")))
defect("double-dash-positional", "Passes the prompt `--` as it is.", "prompt:verbatim:dash")(is_risky=overlooks("--"))
defect("newlines-flattened", "Makes one line of the prompt.", "prompt:verbatim:newline")(
    prompt_form=takes(lambda text: text.replace("\n", " "))
)
defect("carriage-returns-dropped", "Drops the carriage returns of a prompt.", "prompt:verbatim:newline")(
    prompt_form=takes(lambda text: text.replace("\r\n", "\n"))
)
defect("newlines-spelt-out", "Sends a newline as a backslash and an n, in replies only.", "prompt:verbatim:newline")(
    argv=in_replies(lambda text: text.replace("\n", "\\n"))
)
defect("number-positional", "Passes a prompt that looks like a number as it is.", "prompt:verbatim:number")(
    is_risky=trusts(lambda text: not text.startswith("-") and not text.isalpha())
)
defect("hexadecimal-positional", "Knows decimal numbers only.", "prompt:verbatim:number")(
    is_risky=trusts(lambda text: text.lower().startswith("0x"))
)
defect("last-point-overlooked", "Takes a number that ends in a point for a word.", "prompt:verbatim:number")(
    is_risky=trusts(lambda text: text.endswith("."))
)
defect("first-point-overlooked", "Takes a number that begins with a point for a word.", "prompt:verbatim:number")(
    is_risky=overlooks(r"\.[0-9]+")
)
defect("signed-exponents-overlooked", "Takes a number like `1e-3` for a word.", "prompt:verbatim:number")(
    is_risky=overlooks(r"[0-9.]+[eE][-+][0-9]+")
)
defect("capital-hexadecimal-positional", "Passes a prompt like `0X1F` as it is.", "prompt:verbatim:number")(
    is_risky=overlooks(r"0X[0-9a-fA-F]+")
)
defect("quotes-escaped", "Escapes double quotes as if a shell would read them.", "prompt:verbatim:quotes")(
    prompt_form=takes(lambda text: text.replace('"', '\\"'))
)
defect("backslashes-halved", "Reads a double backslash as one.", "prompt:verbatim:quotes")(
    prompt_form=takes(lambda text: text.replace("\\\\", "\\"))
)
defect("quotes-taken-off", "Takes the quotes off a prompt that stands in them.", "prompt:verbatim:quotes")(
    prompt_form=takes(lambda text: text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text)
)
defect("slash-behind-blank", "Puts a blank before a prompt that starts with a slash.", "prompt:verbatim:slash")(
    prompt_form=takes(lambda text: f" {text}" if text.startswith("/") else text)
)
defect(
    "two-slashes-are-one",
    "Takes one slash off a prompt that starts with two.",
    "prompt:verbatim:slash",
)(prompt_form=takes(lambda text: text[1:] if text.startswith("//") else text))
defect(
    "blanks-behind-slash-command-joined",
    "Makes one blank of those behind the first word of a prompt that starts with a slash.",
    "prompt:verbatim:slash",
)(prompt_form=takes(one_blank_behind_command))
defect("prompt-composed", "Composes combining marks.", "prompt:verbatim:unicode")(
    prompt_form=takes(lambda text: unicodedata.normalize("NFC", text))
)
defect("emoji-lost", "Replaces characters beyond the basic plane by question marks.", "prompt:verbatim:unicode")(
    prompt_form=takes(lambda text: "".join(letter if letter <= "\uffff" else "?" for letter in text))
)
defect(
    "escaped-pairs-halved",
    "Reads a character beyond the first plane as two damaged ones when the client writes it in two escapes.",
    "prompt:verbatim:unicode",
)(receive=takes(lambda line: ESCAPED_PAIR.sub(rb"\1\\ufffd\\ufffd", line)))
