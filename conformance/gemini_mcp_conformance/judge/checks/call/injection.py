"""What arguments must not become: words of a shell, or options of gemini."""

from __future__ import annotations

import os
import re

from gemini_mcp.spec.families import Subject
from gemini_mcp_conformance.judge.checks.call.command import PROMPT, complaints, differing
from gemini_mcp_conformance.judge.expectation import fate, heard, is_call, is_prompt, is_settled
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import is_played, reaches
from gemini_mcp_conformance.see.observation import Exchange, Run
from gemini_mcp_conformance.see.understanding import Understood
from gemini_mcp_conformance.spec.specification import Heard
from gemini_mcp_conformance.tell.witness import argv_shown, shown

ACTIVE = re.compile(r"\$[({\w]|`|[;&|<>*?~#!]|%\w+%|[\"'\\]")
"""What a shell does not leave as it is."""

DIRECTORY = re.compile(r"\$[({\w]|[`;&|<>*?\"'#]")

HEAD = 4096
"""Characters in which what a text holds is looked for."""


def text_of(exchange: Exchange, name: str) -> str | None:
    """The text of a declared argument."""
    value = exchange.arguments.get(name) if is_call(exchange) and name in _known(exchange) else None
    return value if isinstance(value, str) else None


def _known(exchange: Exchange) -> tuple[str | None, ...]:
    tool = exchange.tool or ""
    return (*exchange.spec.spoken(tool), exchange.spec.directory(tool))


def is_directory(exchange: Exchange, name: str) -> bool:
    return exchange.spec.directory(exchange.tool or "") == name


def is_shown(exchange: Exchange, subject: Subject) -> bool:
    """Calls by which it is seen whether a shell reads this argument: those that run, and those with a canary."""
    name = subject["argument"]
    text = text_of(exchange, name)
    if text is None:
        return False
    if is_directory(exchange, name):
        return DIRECTORY.search(text, 0, HEAD) is not None
    is_active = ACTIVE.search(text, 0, HEAD) is not None
    return is_active and (reaches(exchange, name) or f"canary-{name}" in text)


def is_plain(text: str) -> bool:
    """Whether nothing but a shell would alter the text."""
    return text.isascii() and text.isprintable() and text == text.strip() and not re.search(r"[\"'\\]|^[-/]|@", text)


@check("injection:shell:{argument}", judges=is_shown)
def shell_leaves_it_alone(exchange: Exchange, subject: Subject) -> list[str]:
    """No shell runs or expands a part of the argument."""
    name = subject["argument"]
    text = exchange.arguments[name]
    loose = [canary for canary in exchange.canaries if canary.startswith(f"canary-{name}")]
    if loose:
        return [f"A shell ran a part of {shown(text)}, since there is a file {loose[0]!r}, and should run none."]
    if is_directory(exchange, name):
        return _elsewhere(exchange, text)
    if not exchange.runs or not is_plain(text) or not is_settled(exchange, name):
        return []
    fields = exchange.spec.given_by(exchange.tool or "", name)
    return complaints(exchange, *sorted(fields or {PROMPT}))


def _elsewhere(exchange: Exchange, cwd: str) -> list[str]:
    expected = os.path.normpath(os.path.join(exchange.place.work, cwd))
    return [
        f"For the directory {shown(cwd)} gemini runs in {run.call.cwd!r}, and should run there or not at all."
        for run in exchange.runs
        if run.call.cwd != expected
    ][:1]


def dashed(exchange: Exchange, subject: Subject) -> bool:
    """Calls that gemini has a script for, of which this argument starts with a dash."""
    text = text_of(exchange, subject["argument"])
    return text is not None and text.startswith("-") and is_played(exchange) and fate(exchange) != "refused"


@check("injection:option:{argument}", judges=dashed)
def dash_makes_no_option(exchange: Exchange, subject: Subject) -> list[str]:
    """An argument that starts with a dash is what it is, or refused."""
    name = subject["argument"]
    text = shown(exchange.arguments[name])
    if not isinstance(heard(exchange), Heard):
        return []
    wrong = [run for run in exchange.runs if _is_option(exchange, run, name)]
    if not exchange.runs and not exchange.listings and not exchange.is_error:
        return [f"The port answered the {name} {text} with a success, and did not run gemini."]
    return [
        f"The port made an option of the {name} {text}: gemini was run with {argv_shown(run)}."
        for run in (*wrong, *(() if exchange.runs else exchange.listings))
    ][:1]


def _is_option(exchange: Exchange, run: Run, name: str) -> bool:
    """Whether gemini was given other options than is specified, or took the prompt for something else."""
    if isinstance(run.understood, Understood) and isinstance(heard(exchange), Heard):
        is_lost = is_prompt(exchange, name) and run.prompt is None
        return is_lost or bool(differing(exchange, run, *sorted(exchange.spec.option_names)))
    return run.understood != heard(exchange)
