"""Defects in what happens to a prompt on its way to gemini."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import IO

from defects.record import breaks
from planning import Refusal
from port import Port

Form = tuple[tuple[str, ...], str | None]


class Altered(Port):
    """A port that alters prompts."""

    def prompt_form(self, prompt: str) -> Form:
        return super().prompt_form(self.altered(prompt))

    def altered(self, prompt: str) -> str:
        return prompt


@breaks("prompt:verbatim:newline")
class NewlinesFlattened(Altered):
    """Makes one line of the prompt."""

    def altered(self, prompt: str) -> str:
        return prompt.replace("\n", " ")


@breaks("prompt:verbatim:newline")
class CarriageReturnsDropped(Altered):
    """Drops the carriage returns of a prompt."""

    def altered(self, prompt: str) -> str:
        return prompt.replace("\r\n", "\n")


@breaks("prompt:verbatim:newline")
class NewlinesSpeltOut(Altered):
    """Sends a newline as a backslash and an n, in replies only."""

    def argv(self, tool: str, texts: Mapping[str, str], form: tuple[str, ...]) -> tuple[str, ...]:
        if tool == "chat-reply":
            form = tuple(text.replace("\n", "\\n") for text in form)
        return super().argv(tool, texts, form)


@breaks("prompt:verbatim:unicode")
class PromptComposed(Altered):
    """Composes combining marks."""

    def altered(self, prompt: str) -> str:
        return unicodedata.normalize("NFC", prompt)


@breaks("prompt:verbatim:unicode")
class EmojiLost(Altered):
    """Replaces characters beyond the basic plane by question marks."""

    def altered(self, prompt: str) -> str:
        return "".join(letter if letter <= "\uffff" else "?" for letter in prompt)


@breaks("prompt:verbatim:blanks")
class PromptStripped(Altered):
    """Strips the prompt."""

    def altered(self, prompt: str) -> str:
        return prompt.strip() or prompt


@breaks("prompt:verbatim:blanks", "prompt:verbatim:newline")
class LastBlankLost(Altered):
    """Takes trailing blanks off a prompt, in replies only."""

    def argv(self, tool: str, texts: Mapping[str, str], form: tuple[str, ...]) -> tuple[str, ...]:
        if tool == "chat-reply":
            form = tuple(text.rstrip() for text in form)
        return super().argv(tool, texts, form)


@breaks("prompt:verbatim:quotes")
class QuotesEscaped(Altered):
    """Escapes double quotes as if a shell would read them."""

    def altered(self, prompt: str) -> str:
        return prompt.replace('"', '\\"')


@breaks("prompt:verbatim:quotes")
class BackslashesHalved(Altered):
    """Reads a double backslash as one."""

    def altered(self, prompt: str) -> str:
        return prompt.replace("\\\\", "\\")


@breaks("injection:option:prompt", "prompt:verbatim:dash")
class DashPromptPositional(Port):
    """Passes a prompt that starts with a dash as it is."""

    def is_risky(self, prompt: str) -> bool:
        return not prompt.startswith("-") and super().is_risky(prompt)


@breaks("prompt:verbatim:dash")
class DashPromptBehindBlank(Altered):
    """Puts a blank before a prompt that starts with a dash."""

    def altered(self, prompt: str) -> str:
        return f" {prompt}" if prompt.startswith("-") else prompt


@breaks("prompt:verbatim:dash")
class DashPromptBehindDoubleDash(Port):
    """Passes a prompt that starts with a dash behind `--`, where gemini loses it."""

    def prompt_form(self, prompt: str) -> Form:
        return (("--", prompt), None) if prompt.startswith("-") else super().prompt_form(prompt)


@breaks("prompt:verbatim:command-word")
class CommandWordPositional(Port):
    """Passes a prompt that is a command word as it is."""

    def is_risky(self, prompt: str) -> bool:
        return not prompt.isalpha() and super().is_risky(prompt)


@breaks("prompt:verbatim:number")
class NumberPositional(Port):
    """Passes a prompt that looks like a number as it is."""

    def is_risky(self, prompt: str) -> bool:
        return (prompt.startswith("-") or prompt.isalpha()) and super().is_risky(prompt)


@breaks("prompt:verbatim:number")
class HexadecimalPositional(Port):
    """Knows decimal numbers only."""

    def is_risky(self, prompt: str) -> bool:
        return not prompt.lower().startswith("0x") and super().is_risky(prompt)


@breaks("prompt:verbatim:number")
class LastPointOverlooked(Port):
    """Takes a number that ends in a point for a word."""

    def is_risky(self, prompt: str) -> bool:
        return not prompt.endswith(".") and super().is_risky(prompt)


@breaks("prompt:verbatim:command-word")
class OlderCommandsOnly(Port):
    """Does not know the other names of a command."""

    def is_risky(self, prompt: str) -> bool:
        return prompt not in ("extension", "skills", "hook") and super().is_risky(prompt)


@breaks("prompt:verbatim:quotes")
class QuotesTakenOff(Altered):
    """Takes the quotes off a prompt that stands in them."""

    def altered(self, prompt: str) -> str:
        return prompt[1:-1] if len(prompt) > 1 and prompt[0] == prompt[-1] == '"' else prompt


@breaks("prompt:verbatim:at-sign")
class AtSignsEscaped(Altered):
    """Puts a backslash before each @."""

    def altered(self, prompt: str) -> str:
        return prompt.replace("@", "\\@")


@breaks("prompt:verbatim:slash")
class SlashBehindBlank(Altered):
    """Puts a blank before a prompt that starts with a slash."""

    def altered(self, prompt: str) -> str:
        return f" {prompt}" if prompt.startswith("/") else prompt


@breaks("prompt:verbatim:128000")
class PromptCutAt100000(Altered):
    """Cuts prompts after 100,000 characters."""

    def altered(self, prompt: str) -> str:
        return prompt[:100_000]


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


@breaks("prompt:long:whole", "prompt:long")
class LongPromptCut(Altered):
    """Cuts a prompt to what one argument can hold."""

    def altered(self, prompt: str) -> str:
        return prompt.encode()[:128_000].decode("utf-8", "ignore")


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
