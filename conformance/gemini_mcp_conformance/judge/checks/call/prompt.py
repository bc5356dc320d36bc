"""What becomes of a prompt on its way."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from gemini_mcp_conformance.judge.checks.call.command import PROMPT, complaints
from gemini_mcp_conformance.judge.expectation import fate, is_call, prompt_of
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import Predicate, is_played, prompt
from gemini_mcp_conformance.see.observation import Exchange, Run
from gemini_mcp_conformance.see.understanding import COMMAND_WORDS, OPTIONS, Understood
from gemini_mcp_conformance.spec.interpreter import refusals, size
from gemini_mcp_conformance.tell.witness import argv_shown, shown

NUMBER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+\.)")

VERBATIM: Mapping[str, Callable[[str], bool]] = {
    "newline": lambda text: re.search("[\r\n]", text) is not None,
    "unicode": lambda text: not text.isascii(),
    "blanks": lambda text: text != text.strip(),
    "quotes": lambda text: any(mark in text for mark in "\"'\\`"),
    "dash": lambda text: text.startswith("-"),
    "command-word": lambda text: text in COMMAND_WORDS,
    "number": lambda text: NUMBER.fullmatch(text) is not None,
    "at-sign": lambda text: "@" in text,
    "slash": lambda text: text.startswith("/"),
}
"""By the last part of the requirement's id, the prompts that show it."""

WITH_VALUE = frozenset(
    spelling.encode()
    for option in OPTIONS
    if option.kind != "boolean"
    for spelling in (f"-{option.letter}", f"--{option.name}")
)
"""Options behind which an empty element is no prompt."""


def arrives(exchange: Exchange) -> list[str]:
    """A prompt reaches gemini verbatim."""
    return complaints(exchange, PROMPT)


def _that(fits: Callable[[str], bool]) -> Predicate:
    return prompt(lambda _, text: fits(text))


for _variant, _fits in VERBATIM.items():
    check(f"prompt:verbatim:{_variant}", judges=_that(_fits), about="prompt")(arrives)

check(
    "prompt:verbatim:{limit}", judges=prompt(lambda exchange, text: size(text) == exchange.spec.limit), about="prompt"
)(arrives)


def unsettled(fits: Callable[[Exchange, str], bool]) -> Predicate:
    """Calls that a port may refuse because of such a prompt."""

    def accepts(exchange: Exchange) -> bool:
        text = prompt_of(exchange)
        played = is_call(exchange) and is_played(exchange) and exchange.gemini == "present"
        return played and text is not None and fits(exchange, text) and fate(exchange) == "either"

    return accepts


def is_long(exchange: Exchange, text: str) -> bool:
    """Whether a prompt is too long for the form of short ones, and nothing forbids it."""
    name = exchange.spec.prompt(exchange.tool or "") or ""
    return size(text) > exchange.spec.limit and not refusals(name, text, exchange.spec.invocation)


@check("prompt:long", judges=unsettled(is_long))
def long_prompt_travels_on_stdin(exchange: Exchange) -> list[str]:
    sent = size(prompt_of(exchange) or "")
    if exchange.runs and not any(run.call.stdin for run in exchange.runs):
        return [f"The port put a prompt of {sent} bytes on the command line, and should put it on stdin."]
    if not exchange.runs:
        return [f"The port answered a prompt of {sent} bytes with an error."]
    return arrives(exchange)


@check(
    "prompt:long:whole", judges=unsettled(lambda exchange, text: size(text) > exchange.spec.limit and "\0" not in text)
)
def long_prompt_is_not_cut(exchange: Exchange) -> list[str]:
    if not exchange.runs and not exchange.is_error:
        return ["The port neither handed a long prompt to gemini nor answered with an error."]
    wrong = [run for run in exchange.runs if run.prompt != prompt_of(exchange)]
    sent = size(prompt_of(exchange) or "")
    return [
        f"Of a prompt of {sent} bytes {size(run.prompt or '')} reached gemini, and all of them should."
        if size(run.prompt or "") != sent
        else f"Gemini understands the prompt {shown(run.prompt)}, and should understand another of {sent} bytes."
        for run in wrong[:1]
    ]


@check("prompt:empty:kept", judges=unsettled(lambda _, text: not text))
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
    bare = any(text == b"" and (not at or argv[at - 1] not in WITH_VALUE) for at, text in enumerate(argv))
    return isinstance(run.understood, Understood) and run.prompt is None and (bool(named) or bare)
