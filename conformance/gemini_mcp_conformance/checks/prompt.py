"""What becomes of a prompt on its way."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from gemini_mcp_conformance.checks.command import complaints
from gemini_mcp_conformance.observation import Exchange
from gemini_mcp_conformance.registry import check
from gemini_mcp_conformance.selectors import prompt
from gemini_mcp_conformance.understanding import SUBCOMMANDS

LONG = 128_000
NUMBER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+\.)")


def size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


VERBATIM: Mapping[str, Callable[[str], bool]] = {
    "newline": lambda text: re.search("[\r\n]", text) is not None,
    "unicode": lambda text: not text.isascii(),
    "blanks": lambda text: text != text.strip(),
    "quotes": lambda text: any(mark in text for mark in "\"'\\`"),
    "dash": lambda text: text.startswith("-"),
    "command-word": lambda text: text in SUBCOMMANDS or text == "help",
    "number": lambda text: NUMBER.fullmatch(text) is not None,
    "at-sign": lambda text: "@" in text,
    "slash": lambda text: text.startswith("/"),
    "128000": lambda text: size(text) == LONG,
}
"""By the last part of the requirement's id, the prompts that show it."""


def arrives(exchange: Exchange) -> list[str]:
    """A prompt reaches gemini verbatim."""
    return complaints(exchange, "prompt", exchange.arguments["prompt"])


for _variant, _fits in VERBATIM.items():
    check(f"prompt:verbatim:{_variant}", judges=prompt(lambda text, fits=_fits: size(text) <= LONG and fits(text)))(
        arrives
    )


@check("prompt:long", judges=prompt(lambda text: size(text) > LONG))
def long_prompt_travels_on_stdin(exchange: Exchange) -> list[str]:
    piped = [run for run in exchange.runs if run.call.stdin]
    if exchange.runs and not piped:
        return ["The port put a prompt of more than 128,000 bytes on the command line, and should put it on stdin."]
    return arrives(exchange)


@check("prompt:long:whole", judges=prompt(lambda text: size(text) > LONG), anyway=True)
def long_prompt_is_not_cut(exchange: Exchange) -> list[str]:
    wrong = [run for run in exchange.runs if run.prompt != exchange.arguments["prompt"]]
    return [
        f"Of {size(exchange.arguments['prompt'])} bytes {size(run.prompt or '')} reached gemini." for run in wrong[:1]
    ]
