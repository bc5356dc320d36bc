"""What arguments must not become: words of a shell, or options of gemini."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from gemini_mcp_conformance.judge.checks.command import complaints
from gemini_mcp_conformance.judge.expectation import fate, is_settled, wanted
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import Predicate, calls, is_played, reaching
from gemini_mcp_conformance.see.observation import Exchange, Run
from gemini_mcp_conformance.see.understanding import Understood
from gemini_mcp_conformance.tell.witness import argv_shown, shown

ACTIVE = re.compile(r"\$[({\w]|`|[;&|<>*?~#!]|%\w+%|[\"'\\]")
"""What a shell does not leave as it is."""

HEAD = 4096
"""Characters in which what a text holds is looked for."""

UNDERSTOOD = {"prompt": "prompt", "model": "model", "sessionId": "resume"}
"""By the name of an argument, what gemini understands of it."""


def holds(name: str, pattern: re.Pattern[str]) -> Predicate:
    """Calls of which this argument holds such a text."""
    called = calls()

    def accepts(exchange: Exchange) -> bool:
        text = exchange.arguments.get(name)
        known = name != "sessionId" or exchange.tool == "chat-reply"
        return called(exchange) and known and isinstance(text, str) and pattern.search(text, 0, HEAD) is not None

    return accepts


def is_shown(name: str) -> Predicate:
    """Calls by which it is seen whether a shell reads this argument: those that run, and those with a canary."""
    active, ran = holds(name, ACTIVE), reaching(None, name)

    def accepts(exchange: Exchange) -> bool:
        return active(exchange) and (ran(exchange) or has_canary(exchange, name))

    return accepts


def has_canary(exchange: Exchange, name: str) -> bool:
    return f"canary-{name}" in str(exchange.arguments.get(name))


def seen_canaries(exchange: Exchange, name: str) -> list[str]:
    """Complaints about the canaries of this argument that were let loose."""
    loose = [canary for canary in exchange.canaries if canary.startswith(f"canary-{name}")]
    text = shown(exchange.arguments[name])
    return [f"A shell ran a part of {text}, since there is a file {canary!r}, and should run none." for canary in loose]


def is_plain(text: str) -> bool:
    """Whether nothing but a shell would alter the text."""
    return text.isascii() and text.isprintable() and text == text.strip() and not re.search(r"[\"'\\]|^[-/]|@", text)


def inert(name: str) -> Callable[[Exchange], list[str]]:
    """The check that this argument stays what it is."""

    def shell_leaves_it_alone(exchange: Exchange) -> list[str]:
        """No shell runs or expands a part of the argument."""
        seen = seen_canaries(exchange, name)
        text = exchange.arguments[name]
        if seen or not exchange.runs or not is_plain(text) or not is_settled(name, text):
            return seen
        return complaints(exchange, UNDERSTOOD[name], text)

    return shell_leaves_it_alone


for _name, _id in (("prompt", "prompt"), ("model", "model"), ("sessionId", "session-id")):
    check(f"injection:shell:{_id}", judges=is_shown(_name))(inert(_name))


@check("injection:shell:cwd", judges=holds("cwd", re.compile(r"\$[({\w]|[`;&|<>*?\"'#]")))
def directory_is_not_read_by_a_shell(exchange: Exchange) -> list[str]:
    seen = seen_canaries(exchange, "cwd")
    cwd = exchange.arguments["cwd"]
    expected = os.path.normpath(os.path.join(exchange.place.work, cwd))
    elsewhere = [run for run in exchange.runs if run.call.cwd != expected]
    return seen or [
        f"For the `cwd` {shown(cwd)} gemini runs in {run.call.cwd!r}, and should run there or not at all."
        for run in elsewhere[:1]
    ]


def is_option(run: Run, exchange: Exchange, name: str) -> bool:
    """Whether gemini took the argument for something else than what it is."""
    needed = wanted(exchange)
    if needed is None or not isinstance(run.understood, Understood):
        return True
    if name == "prompt":
        told = (run.understood.model, run.understood.resume, run.understood.output_format)
        return run.prompt is None or told != (needed.model, needed.resume, "json")
    return getattr(run.understood, UNDERSTOOD[name]) != exchange.arguments[name].strip()


def dashed(name: str) -> Predicate:
    """Calls that gemini has a script for, of which this argument starts with a dash."""
    starts = holds(name, re.compile(r"\A-"))
    return lambda exchange: starts(exchange) and is_played(exchange) and fate(exchange) != "refused"


def no_option(name: str) -> Callable[[Exchange], list[str]]:
    """The check that this argument is no option of gemini."""

    def dash_makes_no_option(exchange: Exchange) -> list[str]:
        """An argument that starts with a dash is what it is, or refused."""
        text = shown(exchange.arguments[name])
        wrong = [run for run in exchange.runs if is_option(run, exchange, name)] + list(exchange.listings)
        if not exchange.runs and not exchange.listings and not exchange.is_error:
            return [f"The port answered the {name} {text} with a success, and did not run gemini."]
        return [
            f"The port made an option of the {name} {text}: gemini was run with {argv_shown(run)}." for run in wrong
        ][:1]

    return dash_makes_no_option


for _name, _id in (("prompt", "prompt"), ("model", "model"), ("sessionId", "session-id")):
    check(f"injection:option:{_id}", judges=dashed(_name))(no_option(_name))
