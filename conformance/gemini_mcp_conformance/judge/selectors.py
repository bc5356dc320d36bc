"""Selectors: which exchanges a check can judge; pure. Each is a predicate, or makes one."""

from __future__ import annotations

from collections.abc import Callable

from gemini_mcp_conformance.judge.expectation import TOOLS, answer, fate, is_settled
from gemini_mcp_conformance.see.observation import Exchange

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
        return called(exchange) and fits and is_played(exchange) and fate(exchange) == "served" and was_due(exchange)

    return accepts


def reaching(tool: str | None = None, *arguments: str, without: tuple[str, ...] = ()) -> Predicate:
    """Calls that must reach gemini, and those that need not and did, as long as these arguments are settled."""
    called, must = calls(tool), served(tool, *arguments, without=without)

    def accepts(exchange: Exchange) -> bool:
        given = exchange.arguments
        settled = all(is_settled(name, given.get(name)) for name in arguments)
        fits = called(exchange) and settled and not any(given.get(name) for name in without)
        return must(exchange) or (fits and bool(exchange.runs) and fate(exchange) == "either")

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


def was_due(exchange: Exchange) -> bool:
    """Whether nothing came between the call and its gemini: what is cancelled in time need not run."""
    return exchange.silence not in ("cancelled", "ended") or bool(exchange.runs)


def prompt(fits: Callable[[str], bool]) -> Predicate:
    """Calls that reach gemini with such a prompt."""
    reaches = reaching(None, "prompt")
    return lambda exchange: reaches(exchange) and fits(exchange.arguments["prompt"])
