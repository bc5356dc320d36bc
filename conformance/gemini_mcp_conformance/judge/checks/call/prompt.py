"""What becomes of a prompt on its way to gemini."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from gemini_mcp.gemini_cli.understanding import COMMAND_WORDS, OPTIONS, Understood
from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.judge.checks.call.command import complaints
from gemini_mcp_conformance.judge.deviation import PROMPT
from gemini_mcp_conformance.judge.expectation import heard, prompt_of, settled, specified
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import Predicate, is_played, prompt
from gemini_mcp_conformance.see.observation import Exchange, Run
from gemini_mcp_conformance.see.timeline import leaves_stdin
from gemini_mcp_conformance.see.witness import argv_shown, reply, shown
from gemini_mcp_conformance.spec.interpreter import refusals, size
from gemini_mcp_conformance.spec.specification import Heard

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
"""The options that take a value: an empty element behind one is that value, and no prompt."""


def prompt_is_verbatim(exchange: Exchange) -> Complaints:
    """A prompt reaches gemini verbatim."""
    return complaints(exchange, PROMPT)


def _that(fits: Callable[[str], bool]) -> Predicate:
    return prompt(lambda _, text: fits(text))


for _variant, _fits in VERBATIM.items():
    check(f"prompt:verbatim:{_variant}", judges=_that(_fits), about="command")(prompt_is_verbatim)

check(
    "prompt:verbatim:{limit}", judges=prompt(lambda exchange, text: size(text) == exchange.spec.limit), about="command"
)(prompt_is_verbatim)


def with_prompt(fits: Callable[[Exchange, str], bool]) -> Predicate:
    """Calls with such a prompt, whether a port may refuse them or must serve them, that ran to their end."""

    def accepts(exchange: Exchange) -> bool:
        text = prompt_of(exchange)
        played = is_played(exchange) and exchange.gemini == "present" and not leaves_stdin(exchange)
        return played and isinstance(heard(exchange), Heard) and text is not None and fits(exchange, text)

    return accepts


def is_long(exchange: Exchange, text: str) -> bool:
    """Whether a prompt is too long for the form of short ones, has another form, and lets no port refuse the call."""
    name, call = exchange.spec.prompt(exchange.tool) or "", specified(exchange)
    if call is None or call.stdin is None or size(text) <= exchange.spec.limit:
        return False
    is_alone = settled(exchange) | {name} >= exchange.arguments.keys() and exchange.cwd in ("none", "absolute")
    return is_alone and not refusals(name, text, exchange.spec.invocation)


@check("prompt:long", judges=with_prompt(is_long), about="command")
def long_prompt_travels_on_stdin(exchange: Exchange) -> Complaints:
    sent = size(prompt_of(exchange) or "")
    if not exchange.runs:
        yield f"The port did not run gemini for a prompt of {sent} bytes, and should."
    elif not any(run.call.stdin for run in exchange.runs):
        yield f"The port put a prompt of {sent} bytes on the command line, and should put it on stdin."
    yield from prompt_is_verbatim(exchange)


@check(
    "prompt:long:whole",
    judges=with_prompt(lambda exchange, text: size(text) > exchange.spec.limit and "\0" not in text),
    about="command",
)
def long_prompt_is_not_cut(exchange: Exchange) -> Complaints:
    expected = heard(exchange)
    # A specification may allow more than gemini reads; a port that hands over all of it does what it can.
    text = (expected.prompt if isinstance(expected, Heard) else prompt_of(exchange)) or ""
    if not exchange.runs and not exchange.is_error:
        yield f"{reply(exchange, 'a long prompt')}, and should run gemini or refuse the call."
    for run in exchange.runs:
        got = run.prompt or ""
        if size(got) != size(text):
            yield f"The port handed {size(got)} bytes of a prompt to gemini, and should hand over all {size(text)}."
        if got != text:
            yield f"The port handed the prompt {shown(got)} to gemini, and should hand over {shown(text)}."


@check("prompt:empty:kept", judges=with_prompt(lambda _, text: not text), about="command")
def empty_prompt_is_not_dropped(exchange: Exchange) -> Complaints:
    if not exchange.runs and not exchange.is_error:
        yield f"{reply(exchange, 'an empty prompt')}, and should run gemini or refuse the call."
    for run in exchange.runs:
        if not holds_empty_prompt(run) and not is_as_specified(exchange, run):
            yield f"The port ran gemini {argv_shown(run)} for an empty prompt, and should keep it as an empty element."


def is_as_specified(exchange: Exchange, run: Run) -> bool:
    """Whether the command line has the elements that are specified, in any order."""
    call = specified(exchange)
    return call is not None and sorted(run.call.argv) == sorted(
        element.encode("utf-8", "replace") for element in call.argv
    )


def holds_empty_prompt(run: Run) -> bool:
    """Whether gemini was given an empty prompt, and no other."""
    argv = run.call.argv
    named = not {b"--prompt=", b"-p="}.isdisjoint(argv)
    bare = any(text == b"" and (not at or argv[at - 1] not in WITH_VALUE) for at, text in enumerate(argv))
    return isinstance(run.understood, Understood) and run.prompt is None and (named or bare)
