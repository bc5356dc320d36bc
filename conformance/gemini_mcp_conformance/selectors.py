"""Selectors: which exchanges a check can judge; pure. Each is a predicate, or makes one."""

from __future__ import annotations

from collections.abc import Callable

from gemini_mcp_conformance.expectation import TOOLS, answer, fate
from gemini_mcp_conformance.observation import Exchange

Predicate = Callable[[Exchange], bool]


def asks(method: str) -> Predicate:
    """Requests of that method."""
    return lambda exchange: exchange.method == method


def calls(tool: str | None = None) -> Predicate:
    """Calls of that tool, or of any tool that the specification names."""
    return lambda exchange: exchange.tool == tool if tool else exchange.tool in TOOLS


def served(tool: str | None = None, *arguments: str, without: tuple[str, ...] = ()) -> Predicate:
    """Calls that must reach gemini, with these arguments and without those."""
    called = calls(tool)

    def accepts(exchange: Exchange) -> bool:
        given = {name for name, value in exchange.arguments.items() if value != ""}
        fits = given.issuperset(arguments) and given.isdisjoint(without)
        return called(exchange) and fits and is_played(exchange) and fate(exchange) == "served"

    return accepts


def answered(tool: str | None = None) -> Predicate:
    """Calls that must succeed, with a text that the specification settles."""
    called = calls(tool)
    return lambda exchange: called(exchange) and answer(exchange) is not None


def refused(exchange: Exchange) -> bool:
    """Calls that must not reach gemini."""
    return exchange.method == "tools/call" and fate(exchange) == "refused"


def is_played(exchange: Exchange) -> bool:
    """Whether gemini had a script for it: only then is it known that the call was to run."""
    return bool(exchange.scripts)


def prompt(fits: Callable[[str], bool]) -> Predicate:
    """Calls that must reach gemini with such a prompt."""
    reaches = served()
    return lambda exchange: reaches(exchange) and fits(exchange.arguments["prompt"])
