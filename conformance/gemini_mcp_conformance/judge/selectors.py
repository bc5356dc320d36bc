"""Selectors: predicates, and functions that make them, which say what exchanges a check can judge; pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from gemini_mcp.spec.families import Subject
from gemini_mcp_conformance.judge.expectation import answer, fate, is_call, is_settled, prompt_of
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.spec.interpreter import is_absent

Predicate: TypeAlias = Callable[[Exchange], bool]


def asks(method: str) -> Predicate:
    """Requests of that method."""
    return lambda exchange: exchange.method == method


def gives(exchange: Exchange, name: str) -> bool:
    """Whether a call has a value for an argument that does not count as absent."""
    return name in exchange.arguments and not is_absent(name, exchange.arguments[name], exchange.spec.invocation)


def served(exchange: Exchange) -> bool:
    """Calls that must reach gemini."""
    return is_call(exchange) and is_played(exchange) and fate(exchange) == "served" and was_due(exchange)


def reaches(exchange: Exchange, *names: str) -> bool:
    """Calls that must reach gemini, and calls that a port chose to serve, if these arguments are settled."""
    if served(exchange):
        return True
    ran = is_call(exchange) and bool(exchange.runs) and fate(exchange) == "either"
    return ran and all(is_settled(exchange, name) for name in names)


def reaching(exchange: Exchange, subject: Subject) -> bool:
    """Calls that reach gemini with the subject's argument."""
    return gives(exchange, subject["argument"]) and reaches(exchange, subject["argument"])


def reaching_without(exchange: Exchange, subject: Subject) -> bool:
    """Calls that reach gemini without the subject's argument."""
    return not exchange.arguments.get(subject["argument"]) and reaches(exchange)


def answered(exchange: Exchange) -> bool:
    """Calls that must succeed, with a text that the specification settles."""
    return answer(exchange) is not None


def refused(exchange: Exchange) -> bool:
    """Calls that must not reach gemini."""
    return exchange.method == "tools/call" and fate(exchange) == "refused"


def is_played(exchange: Exchange) -> bool:
    """Whether gemini had a script for the call: only then is it known that gemini was to run."""
    return bool(exchange.scripts)


def was_due(exchange: Exchange) -> bool:
    """Whether gemini had to run. It need not for a call that was cancelled, or whose port was ended, early enough."""
    return exchange.silence not in ("cancelled", "ended") or bool(exchange.runs)


def is_unforced(exchange: Exchange) -> bool:
    """Calls that a port may refuse or serve because of their arguments alone, of tools that ask the model."""
    played = is_played(exchange) and exchange.gemini == "present" and exchange.cwd in ("none", "absolute")
    asks_model = is_call(exchange) and exchange.tool not in exchange.spec.unreadable
    return played and asks_model and fate(exchange) == "either" and was_due(exchange)


def prompt(fits: Callable[[Exchange, str], bool]) -> Predicate:
    """Calls that reach gemini with such a prompt."""

    def accepts(exchange: Exchange) -> bool:
        text, name = prompt_of(exchange), exchange.spec.prompt(exchange.tool) if is_call(exchange) else None
        return text is not None and name is not None and reaches(exchange, name) and fits(exchange, text)

    return accepts
