"""What arguments must not become: words of a shell, or options of gemini."""

from __future__ import annotations

import os
import re

from gemini_mcp.gemini_cli.understanding import Understood
from gemini_mcp.spec.families import Subject
from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.judge.checks.call.command import complaints, differing
from gemini_mcp_conformance.judge.deviation import PROMPT
from gemini_mcp_conformance.judge.expectation import fate, heard, is_settled, schema_faults, text_of
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import is_played, reaches, was_due
from gemini_mcp_conformance.see.observation import Exchange, Run
from gemini_mcp_conformance.see.witness import argv_shown, shown
from gemini_mcp_conformance.spec.specification import Heard

ACTIVE = re.compile(r"\$[({\w]|`|[;&|<>*?~#!]|%\w+%|[\"'\\]")
"""What a shell does not leave as it is."""

ACTIVE_IN_PATH = re.compile(r"\$[({\w]|[`;&|<>*?\"'#]")

HEAD = 4096
"""Characters of a text that are searched."""


def text_used(exchange: Exchange, subject: Subject) -> str:
    """The text of the subject's argument, if it becomes a part of the command line or the directory; else empty."""
    used = (*exchange.spec.spoken(exchange.tool), exchange.spec.directory(exchange.tool))
    return text_of(exchange, subject["argument"]) or "" if subject["argument"] in used else ""


def is_directory(exchange: Exchange, name: str) -> bool:
    return exchange.spec.directory(exchange.tool) == name


def is_shown(exchange: Exchange, subject: Subject) -> bool:
    """Calls that show whether a shell reads this word: those that run, and those with a canary."""
    name, text = subject["argument"], text_used(exchange, subject)
    if is_directory(exchange, name):
        return False
    is_active = ACTIVE.search(text, 0, HEAD) is not None
    return is_active and (reaches(exchange, name) or f"canary-{name}" in text)


def is_shown_by_directory(exchange: Exchange, subject: Subject) -> bool:
    """Calls that show whether a shell reads the directory."""
    text = text_used(exchange, subject)
    return is_directory(exchange, subject["argument"]) and ACTIVE_IN_PATH.search(text, 0, HEAD) is not None


def is_plain(text: str) -> bool:
    """Whether nothing but a shell would alter the text."""
    return text.isascii() and text.isprintable() and text == text.strip() and not re.search(r"[\"'\\]|^[-/]|@", text)


@check("injection:shell:{argument}", judges=is_shown, about="command")
def shell_leaves_it_alone(exchange: Exchange, subject: Subject) -> Complaints:
    """No shell runs or expands a part of the argument."""
    name, text = subject["argument"], text_used(exchange, subject)
    yield from _run_by_a_shell(exchange, name, text)
    if exchange.runs and is_plain(text) and is_settled(exchange, name):
        fields = exchange.spec.given_by(exchange.tool, name)
        yield from complaints(exchange, *sorted(fields or {PROMPT}))


@check("injection:shell:{argument}", judges=is_shown_by_directory, about="directory")
def shell_leaves_the_directory_alone(exchange: Exchange, subject: Subject) -> Complaints:
    """No shell runs or expands a part of the directory."""
    text = text_used(exchange, subject)
    yield from _run_by_a_shell(exchange, subject["argument"], text)
    yield from _elsewhere(exchange, text)


def _run_by_a_shell(exchange: Exchange, name: str, text: str) -> Complaints:
    for canary in exchange.canaries:
        if canary.startswith(f"canary-{name}"):
            yield f"The port let a shell run a part of {shown(text)}, which made {canary!r}, and should let none."


def _elsewhere(exchange: Exchange, cwd: str) -> Complaints:
    expected = os.path.normpath(os.path.join(exchange.place.work, cwd))
    for run in exchange.runs:
        if run.call.cwd != expected:
            wanted = f"in {expected!r} or not at all"
            yield f"The port ran gemini in {run.call.cwd!r} for {shown(cwd)}, and should run it {wanted}."


def starts_with_dash(exchange: Exchange, subject: Subject) -> bool:
    """Calls that gemini has a script for, or that are refused for this argument, in which it starts with a dash."""
    if not text_used(exchange, subject).startswith("-") or not was_due(exchange):
        return False
    if fate(exchange) != "refused":
        return is_played(exchange)
    # What its schema forbids becomes no option either. That a port serves it all the same, another check tells.
    return subject["argument"] in schema_faults(exchange) and not exchange.runs


@check("injection:option:{argument}", judges=starts_with_dash, about="command")
def dash_makes_no_option(exchange: Exchange, subject: Subject) -> Complaints:
    """An argument that starts with a dash is what it is, or refused."""
    name = subject["argument"]
    text = shown(exchange.arguments[name])
    if not isinstance(heard(exchange), Heard):
        return
    if not exchange.runs and not exchange.listings and not exchange.is_error:
        yield f"The port answered the {name} {text} with a success, and should run gemini or refuse the call."
    wrong = [run for run in exchange.runs if _is_option(exchange, run, name)] if exchange.runs else exchange.listings
    for run in wrong:
        yield f"The port made an option of the {name} {text} in gemini {argv_shown(run)}, and should make none."


def _is_option(exchange: Exchange, run: Run, name: str) -> bool:
    """Whether gemini was given other options than is specified, or took the prompt for something else."""
    if isinstance(run.understood, Understood):
        expected = heard(exchange)
        is_asked = isinstance(expected, Heard) and expected.prompt is not None
        # A cancelled gemini may be ended before it has read its prompt.
        is_read = name == exchange.spec.prompt(exchange.tool) and exchange.silence != "cancelled"
        return (is_read and run.prompt is None and is_asked) or any(
            differing(exchange, run, *sorted(exchange.spec.option_names))
        )
    return run.understood != heard(exchange)
