"""Registry: the checks by the requirement they decide, each a pure function with the selector of what it can judge.

A check returns complaints about one exchange, or one observation; none is a pass. It raises Spared where the
requirement does not bind the port. To add one, decorate a function in `checks/`; importing its module registers it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

from gemini_mcp_conformance.judge.check import Check, CheckOfExchange, CheckOfObservation, Complaints, NotApplicable
from gemini_mcp_conformance.see.observation import Exchange, Observation

OfExchange = Callable[[Exchange], Complaints]
OfObservation = Callable[[Observation], Complaints]
Spared = NotApplicable


_CHECKS: dict[str, Check] = {}


def check(
    *requirements: str, judges: Callable[[Exchange], bool], anyway: bool = False
) -> Callable[[OfExchange], OfExchange]:
    """Register a function that judges every exchange which `judges` accepts."""

    def register(function: OfExchange) -> OfExchange:
        name, sentence = function.__name__, _sentence(function)
        for id in requirements:
            _add(
                CheckOfExchange(
                    requirement=id, name=name, sentence=sentence, judges=judges, complain=function, anyway=anyway
                )
            )
        return function

    return register


def check_all(
    *requirements: str, judges: Callable[[Observation], bool] = lambda _: True
) -> Callable[[OfObservation], OfObservation]:
    """Register a function that judges every conversation which `judges` accepts, as a whole."""

    def register(function: OfObservation) -> OfObservation:
        name, sentence = function.__name__, _sentence(function)
        for id in requirements:
            _add(CheckOfObservation(requirement=id, name=name, sentence=sentence, judges=judges, complain=function))
        return function

    return register


def checks() -> tuple[Check, ...]:
    """Every registered check, in the order of registration."""
    return tuple(_CHECKS.values())


def checks_of(requirement: str) -> tuple[Check, ...]:
    return tuple(check for check in checks() if check.requirement == requirement)


def _add(new: Check) -> None:
    _CHECKS[f"{new.requirement} {new.name}"] = new


def _sentence(function: Callable[..., Complaints]) -> str:
    return (inspect.getdoc(function) or function.__name__.replace("_", " ")).split("\n")[0]
