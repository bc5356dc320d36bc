"""Registry: the checks by the requirement they decide, each a pure function with the selector of what it can judge.

A check returns complaints about one exchange, or one observation; none is a pass. It raises Spared where the
requirement does not bind the port. To add one, decorate a function in `checks/`; importing its module registers it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gemini_mcp_conformance.see.observation import Exchange, Observation

Complaints = list[str]
OfExchange = Callable[[Exchange], Complaints]
OfObservation = Callable[[Observation], Complaints]


class Spared(Exception):
    """The requirement does not bind the port, for what was observed; the sentence says why."""


@dataclass(frozen=True)
class Check:
    """A requirement, the function that decides it, and what it can judge; one of the two pairs is set.

    `anyway` says that it judges a call that should have succeeded and did not, which else passes nothing.
    """

    requirement: str
    name: str
    sentence: str
    exchange: tuple[Callable[[Exchange], bool], OfExchange] | None = None
    observation: tuple[Callable[[Observation], bool], OfObservation] | None = None
    anyway: bool = False


_CHECKS: dict[str, Check] = {}


def check(
    *requirements: str, judges: Callable[[Exchange], bool], anyway: bool = False
) -> Callable[[OfExchange], OfExchange]:
    """Register a function that judges every exchange which `judges` accepts."""

    def register(function: OfExchange) -> OfExchange:
        for requirement in requirements:
            _add(Check(requirement, function.__name__, _sentence(function), (judges, function), None, anyway))
        return function

    return register


def check_all(
    *requirements: str, judges: Callable[[Observation], bool] = lambda _: True
) -> Callable[[OfObservation], OfObservation]:
    """Register a function that judges every conversation which `judges` accepts, as a whole."""

    def register(function: OfObservation) -> OfObservation:
        for requirement in requirements:
            _add(Check(requirement, function.__name__, _sentence(function), None, (judges, function), True))
        return function

    return register


def checks() -> tuple[Check, ...]:
    """Every registered check, in the order of registration."""
    return tuple(_CHECKS.values())


def checks_of(requirement: str) -> tuple[Check, ...]:
    return tuple(check for check in checks() if check.requirement == requirement)


def unknown(requirements: Iterable[str]) -> tuple[str, ...]:
    """The requirements that checks claim to decide and the specification does not have."""
    known = set(requirements)
    return tuple(check.requirement for check in checks() if check.requirement not in known)


def _add(new: Check) -> None:
    _CHECKS[f"{new.requirement} {new.name}"] = new


def _sentence(function: Callable[..., Complaints]) -> str:
    return (inspect.getdoc(function) or function.__name__.replace("_", " ")).split("\n")[0]
