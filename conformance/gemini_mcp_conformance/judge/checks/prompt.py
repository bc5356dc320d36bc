"""What becomes of a prompt on its way."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from gemini_mcp_conformance.judge.checks.command import complaints
from gemini_mcp_conformance.judge.expectation import ARGUMENT_LIMIT, PROMPT_LIMIT, fate, size
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import Predicate, calls, is_played, prompt
from gemini_mcp_conformance.see.observation import Exchange, Run
from gemini_mcp_conformance.see.understanding import SUBCOMMANDS, Understood
from gemini_mcp_conformance.tell.witness import argv_shown, reply, shown

NUMBER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+\.)")

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
    "128000": lambda text: size(text) == ARGUMENT_LIMIT,
}
"""By the last part of the requirement's id, the prompts that show it."""

NAMELESS = (b"-r", b"--resume", b"-m", b"--model")
"""Options behind which an empty element is no prompt."""


def arrives(exchange: Exchange) -> list[str]:
    """A prompt reaches gemini verbatim."""
    return complaints(exchange, "prompt", exchange.arguments["prompt"])


for _variant, _fits in VERBATIM.items():
    check(f"prompt:verbatim:{_variant}", judges=prompt(_fits))(arrives)


def unsettled(fits: Callable[[str], bool]) -> Predicate:
    """Calls that a port may refuse because of such a prompt."""
    called = calls()

    def accepts(exchange: Exchange) -> bool:
        text = exchange.arguments.get("prompt")
        played = called(exchange) and is_played(exchange) and exchange.gemini == "present"
        return played and isinstance(text, str) and fits(text) and fate(exchange) == "either"

    return accepts


def is_long(text: str) -> bool:
    return ARGUMENT_LIMIT < size(text) <= PROMPT_LIMIT and "\0" not in text


@check("prompt:long", judges=unsettled(is_long))
def long_prompt_travels_on_stdin(exchange: Exchange) -> list[str]:
    if exchange.runs and not any(run.call.stdin for run in exchange.runs):
        return ["The port put a prompt of more than 128,000 bytes on the command line, and should put it on stdin."]
    if exchange.runs and exchange.is_error:
        return [f"The port answered a prompt of {size(exchange.arguments['prompt'])} bytes with an error."]
    return arrives(exchange)


@check("prompt:long:whole", judges=unsettled(lambda text: size(text) > ARGUMENT_LIMIT and "\0" not in text))
def long_prompt_is_not_cut(exchange: Exchange) -> list[str]:
    if not exchange.runs and not exchange.is_error:
        return ["The port neither handed a long prompt to gemini nor answered with an error."]
    wrong = [run for run in exchange.runs if run.prompt != exchange.arguments["prompt"]]
    sent = size(exchange.arguments["prompt"])
    return [
        f"Of a prompt of {sent} bytes {size(run.prompt or '')} reached gemini, and all of them should."
        if size(run.prompt or "") != sent
        else f"Gemini understands the prompt {shown(run.prompt)}, and should understand another of {sent} bytes."
        for run in wrong[:1]
    ]


@check("prompt:over-limit", judges=unsettled(lambda text: size(text) > PROMPT_LIMIT))
@check("prompt:empty", judges=unsettled(lambda text: not text))
def unusable_prompt_is_refused(exchange: Exchange) -> list[str]:
    sent = size(exchange.arguments["prompt"])
    if exchange.runs:
        return [f"The port ran gemini for a prompt of {sent} bytes, and should refuse it."]
    return [] if exchange.is_error else [f"{reply(exchange, f'a prompt of {sent} bytes')}, and should refuse it."]


@check("prompt:empty:kept", judges=unsettled(lambda text: not text))
def empty_prompt_is_not_dropped(exchange: Exchange) -> list[str]:
    if not exchange.runs and not exchange.is_error:
        return ["The port answered an empty prompt with a success, and did not run gemini."]
    return [
        f"The port ran gemini {argv_shown(run)} for an empty prompt, and should keep it as an empty element."
        for run in exchange.runs
        if not holds_empty_prompt(run)
    ][:1]


def holds_empty_prompt(run: Run) -> bool:
    """Whether gemini was given an empty prompt and nothing in its place."""
    argv = run.call.argv
    named = {b"--prompt=", b"-p="}.intersection(argv)
    bare = any(text == b"" and (not at or argv[at - 1] not in NAMELESS) for at, text in enumerate(argv))
    return isinstance(run.understood, Understood) and run.prompt is None and (bool(named) or bare)
