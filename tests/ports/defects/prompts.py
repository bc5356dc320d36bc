"""Defects in what happens to a prompt on its way to gemini."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import IO

from defects.record import breaks, variant
from planning import Refusal
from port import Port

Form = tuple[tuple[str, ...], str | None]


class Altered(Port):
    """A port that alters prompts."""

    def prompt_form(self, prompt: str) -> Form:
        return super().prompt_form(self.altered(prompt))

    def altered(self, prompt: str) -> str:
        return prompt


def alters(name: str, sentence: str, *kills: str, by: Callable[[str], str]) -> None:
    """Register a port that alters every prompt so."""
    variant(Altered, name, sentence, kills, altered=staticmethod(by))


def trusts(name: str, sentence: str, *kills: str, by: Callable[[str], bool]) -> None:
    """Register a port that passes a risky prompt as it is, unless `by` holds of it."""

    def is_risky(port: Port, prompt: str) -> bool:
        return by(prompt) and Port.is_risky(port, prompt)

    variant(Port, name, sentence, kills, is_risky=is_risky)


alters(
    "newlines-flattened",
    "Makes one line of the prompt.",
    "prompt:verbatim:newline",
    by=lambda text: text.replace("\n", " "),
)
alters(
    "carriage-returns-dropped",
    "Drops the carriage returns of a prompt.",
    "prompt:verbatim:newline",
    by=lambda text: text.replace("\r\n", "\n"),
)


@breaks("prompt:verbatim:newline")
class NewlinesSpeltOut(Altered):
    """Sends a newline as a backslash and an n, in replies only."""

    def argv(self, tool: str, texts: Mapping[str, str], form: tuple[str, ...]) -> tuple[str, ...]:
        if tool == "chat-reply":
            form = tuple(text.replace("\n", "\\n") for text in form)
        return super().argv(tool, texts, form)


alters(
    "prompt-composed",
    "Composes combining marks.",
    "prompt:verbatim:unicode",
    by=lambda text: unicodedata.normalize("NFC", text),
)
alters(
    "emoji-lost",
    "Replaces characters beyond the basic plane by question marks.",
    "prompt:verbatim:unicode",
    by=lambda text: "".join(letter if letter <= "\uffff" else "?" for letter in text),
)
alters("prompt-stripped", "Strips the prompt.", "prompt:verbatim:blanks", by=lambda text: text.strip() or text)


@breaks("prompt:verbatim:blanks", "prompt:verbatim:newline")
class LastBlankLost(Altered):
    """Takes trailing blanks off a prompt, in replies only."""

    def argv(self, tool: str, texts: Mapping[str, str], form: tuple[str, ...]) -> tuple[str, ...]:
        if tool == "chat-reply":
            form = tuple(text.rstrip() for text in form)
        return super().argv(tool, texts, form)


alters(
    "quotes-escaped",
    "Escapes double quotes as if a shell would read them.",
    "prompt:verbatim:quotes",
    by=lambda text: text.replace('"', '\\"'),
)
alters(
    "backslashes-halved",
    "Reads a double backslash as one.",
    "prompt:verbatim:quotes",
    by=lambda text: text.replace("\\\\", "\\"),
)
trusts(
    "dash-prompt-positional",
    "Passes a prompt that starts with a dash as it is.",
    "injection:option:prompt",
    "prompt:verbatim:dash",
    by=lambda text: not text.startswith("-"),
)
alters(
    "dash-prompt-behind-blank",
    "Puts a blank before a prompt that starts with a dash.",
    "prompt:verbatim:dash",
    by=lambda text: f" {text}" if text.startswith("-") else text,
)


@breaks("prompt:verbatim:dash")
class DashPromptBehindDoubleDash(Port):
    """Passes a prompt that starts with a dash behind `--`, where gemini loses it."""

    def prompt_form(self, prompt: str) -> Form:
        return (("--", prompt), None) if prompt.startswith("-") else super().prompt_form(prompt)


trusts(
    "command-word-positional",
    "Passes a prompt that is a command word as it is.",
    "prompt:verbatim:command-word",
    by=lambda text: not text.isalpha(),
)
trusts(
    "number-positional",
    "Passes a prompt that looks like a number as it is.",
    "prompt:verbatim:number",
    by=lambda text: text.startswith("-") or text.isalpha(),
)
trusts(
    "hexadecimal-positional",
    "Knows decimal numbers only.",
    "prompt:verbatim:number",
    by=lambda text: not text.lower().startswith("0x"),
)
trusts(
    "last-point-overlooked",
    "Takes a number that ends in a point for a word.",
    "prompt:verbatim:number",
    by=lambda text: not text.endswith("."),
)
trusts(
    "older-commands-only",
    "Does not know the other names of a command.",
    "prompt:verbatim:command-word",
    by=lambda text: text not in ("extension", "skills", "hook"),
)
alters(
    "quotes-taken-off",
    "Takes the quotes off a prompt that stands in them.",
    "prompt:verbatim:quotes",
    by=lambda text: text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text,
)
alters(
    "at-signs-escaped",
    "Puts a backslash before each @.",
    "prompt:verbatim:at-sign",
    by=lambda text: text.replace("@", "\\@"),
)
alters(
    "slash-behind-blank",
    "Puts a blank before a prompt that starts with a slash.",
    "prompt:verbatim:slash",
    by=lambda text: f" {text}" if text.startswith("/") else text,
)
alters(
    "prompt-cut-at100000",
    "Cuts prompts after 100,000 characters.",
    "prompt:verbatim:128000",
    by=lambda text: text[:100_000],
)


@breaks("prompt:long")
class LongPromptOnCommandLine(Port):
    """Passes every prompt on the command line, however long."""

    def prompt_form(self, prompt: str) -> Form:
        form, stdin = super().prompt_form(prompt)
        return (form, stdin) if stdin is None else ((prompt,), None)


@breaks("prompt:long")
class LengthInCharacters(Port):
    """Counts characters where the system counts bytes."""

    def prompt_form(self, prompt: str) -> Form:
        form, stdin = super().prompt_form(prompt)
        return ((f"--prompt={prompt}",), None) if stdin and len(prompt) <= 128_000 else (form, stdin)


alters(
    "long-prompt-cut",
    "Cuts a prompt to what one argument can hold.",
    "prompt:long:whole",
    "prompt:long",
    by=lambda text: text.encode()[:128_000].decode("utf-8", "ignore"),
)


@breaks("prompt:long:whole", "prompt:long")
class StdinCutAt64KiB(Port):
    """Writes no more of a prompt than fits into a pipe."""

    def input(self, text: str | None) -> IO[bytes]:
        return super().input(text and text.encode()[: 1 << 16].decode("utf-8", "ignore"))


@breaks("prompt:long")
class NewlineAfterLongPrompt(Port):
    """Ends a prompt on stdin with a newline of its own."""

    def input(self, text: str | None) -> IO[bytes]:
        return super().input(text and f"{text}\n")


@breaks("prompt:over-limit", "prompt:long:whole")
class OverLimitAccepted(Port):
    """Passes on more than gemini reads."""

    def check_prompt(self, tool: str, prompt: str) -> None:
        super().check_prompt(tool, prompt[:1000])


@breaks("prompt:empty:kept", "prompt:empty")
class EmptyPromptDropped(Port):
    """Runs gemini without a prompt when it is empty."""

    def check_prompt(self, tool: str, prompt: str) -> None:
        super().check_prompt(tool, prompt or "x")

    def prompt_form(self, prompt: str) -> Form:
        return super().prompt_form(prompt) if prompt else ((), None)


@breaks("prompt:empty:kept", "prompt:empty")
class EmptyReplyGoesOn(Port):
    """Replaces the empty prompt of a reply by one of its own."""

    def check_prompt(self, tool: str, prompt: str) -> None:
        if tool == "chat" and not prompt:
            raise Refusal("`prompt` is empty.")

    def prompt_form(self, prompt: str) -> Form:
        return super().prompt_form(prompt or "continue")


@breaks("prompt:empty")
class EmptyPromptPassed(Port):
    """Passes an empty prompt on, so that gemini has to refuse it."""

    def check_prompt(self, tool: str, prompt: str) -> None:
        super().check_prompt(tool, prompt or "x")
