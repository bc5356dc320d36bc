"""Registry: the checks by the requirement they decide, each a pure function with the selector of what it can judge.

A check returns complaints about one exchange, one observation, or the answers of a host; none is a pass. To add one of
the server's, decorate a function in `checks/`; importing its module registers it.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.tell.report import Verdict

Seen = TypeVar("Seen")
Complaints = list[str]
Conclusion = tuple[Verdict, str]
"""A verdict and the sentence that explains it."""
OfExchange = Callable[[Exchange], Complaints]
OfObservation = Callable[[Observation], Complaints]

PASS: Conclusion = ("pass", "")


class Spared(Exception):
    """The requirement does not bind the port, for what was observed; the sentence says why."""


class CouldNotRun(Exception):
    """What would show the requirement could not be observed; the sentence says why."""


@dataclass(frozen=True)
class Check:
    """A requirement, and the name and sentence of a function that decides it."""

    requirement: str
    name: str
    sentence: str


@dataclass(frozen=True)
class CheckOf(Check, Generic[Seen]):
    """A check with its function, and with what it can judge."""

    judges: Callable[[Seen], bool]
    complain: Callable[[Seen], Complaints]

    def verdict(self, seen: Seen) -> Conclusion | None:
        """What it says, or None of what it cannot judge. A check that raises is the suite's fault, not the port's."""
        try:
            if not self.judges(seen):
                return None
            complaints = self.complain(seen)
        except Spared as reason:
            return "not-applicable", str(reason)
        except CouldNotRun as reason:
            return "could-not-run", str(reason)
        except Exception as error:
            raised = "".join(traceback.format_exception_only(error)).strip()
            return "harness-error", f"The check {self.name!r} raised {raised}."
        return ("fail", " ".join(complaints)) if complaints else PASS


@dataclass(frozen=True)
class CheckOfExchange(CheckOf[Exchange]):
    """`anyway` says that it judges a call that should have succeeded and did not, which else passes nothing."""

    anyway: bool = False


@dataclass(frozen=True)
class CheckOfObservation(CheckOf[Observation]):
    """A check of a conversation as a whole."""


_CHECKS: dict[str, Check] = {}


def check(
    *requirements: str, judges: Callable[[Exchange], bool], anyway: bool = False
) -> Callable[[OfExchange], OfExchange]:
    """Register a function that judges every exchange which `judges` accepts."""

    def register(function: OfExchange) -> OfExchange:
        for requirement in requirements:
            _add(CheckOfExchange(requirement, function.__name__, _sentence(function), judges, function, anyway))
        return function

    return register


def check_all(
    *requirements: str, judges: Callable[[Observation], bool] = lambda _: True
) -> Callable[[OfObservation], OfObservation]:
    """Register a function that judges every conversation which `judges` accepts, as a whole."""

    def register(function: OfObservation) -> OfObservation:
        for requirement in requirements:
            _add(CheckOfObservation(requirement, function.__name__, _sentence(function), judges, function))
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
