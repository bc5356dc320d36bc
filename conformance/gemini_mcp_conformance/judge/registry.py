"""Registry: the checks by the requirement they decide, each a pure function with the selector of what it can judge.

A check returns complaints about one exchange, or one observation; none is a pass. It raises NotApplicable where the
requirement does not bind the port. To add one, decorate a function in `checks/`; importing its module registers it.
A check of a family, such as `tools:{tool}`, is given the subject of each requirement as well.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, TypeVar

from gemini_mcp.spec import Requirement
from gemini_mcp.spec.families import Subject
from gemini_mcp_conformance.judge.check import Check, CheckOfExchange, CheckOfObservation, Complaints
from gemini_mcp_conformance.see.observation import Exchange, Observation

Function: TypeAlias = Callable[..., Complaints]
Registered = TypeVar("Registered", bound=Function)
Given = TypeVar("Given")
OfExchange: TypeAlias = Callable[[Exchange], Given] | Callable[[Exchange, Subject], Given]
OfObservation: TypeAlias = Callable[[Observation], Given] | Callable[[Observation, Subject], Given]

About: TypeAlias = Literal["", "prompt", "options", "session", "text", "file", "directory", "process", "stderr", "list"]
"""What a complaint is about: two checks that complain about the same thing of one exchange have seen one fault."""


@dataclass(frozen=True)
class _Rule:
    """A registered function, for every requirement of a family."""

    family: str
    function: Function
    judges: Callable[..., bool]
    is_of_exchange: bool
    anyway: bool
    about: str

    def bound(self, requirement: Requirement) -> Check:
        """The check of one requirement."""
        kind = CheckOfExchange if self.is_of_exchange else CheckOfObservation
        return kind(
            requirement=requirement.id,
            name=self.function.__name__,
            sentence=_sentence(self.function),
            about=self.about or (self.function.__name__ if self.is_of_exchange else requirement.id),
            judges=_bound(self.judges, requirement.subject),
            complain=_bound(self.function, requirement.subject),
            anyway=self.anyway,
        )


def always(observation: Observation) -> bool:
    """Every conversation."""
    return True


_RULES: dict[tuple[str, str], _Rule] = {}


def check(
    *families: str, judges: OfExchange[bool], anyway: bool = False, about: About = ""
) -> Callable[[Registered], Registered]:
    """Register a function that judges every exchange which `judges` accepts."""
    return _registered(families, judges, True, anyway, about)


def check_all(
    *families: str, judges: OfObservation[bool] = always, about: About = ""
) -> Callable[[Registered], Registered]:
    """Register a function that judges every conversation which `judges` accepts, as a whole."""
    return _registered(families, judges, False, True, about)


def checks_for(requirements: Iterable[Requirement]) -> tuple[Check, ...]:
    """The checks of some requirements, in the order of registration."""
    known: dict[str, list[Requirement]] = {}
    for requirement in requirements:
        known.setdefault(requirement.family, []).append(requirement)
    return tuple(rule.bound(each) for rule in _RULES.values() for each in known.get(rule.family, ()))


def families() -> frozenset[str]:
    """The ids of `requirements.json` that some check decides, with their placeholders."""
    return frozenset(family for family, _ in _RULES)


def _registered(
    families: tuple[str, ...], judges: Callable[..., bool], is_of_exchange: bool, anyway: bool, about: str
) -> Callable[[Registered], Registered]:
    def register(function: Registered) -> Registered:
        for family in families:
            rule = _Rule(family, function, judges, is_of_exchange, anyway, about)
            _RULES[(family, function.__name__)] = rule
        return function

    return register


def _bound(function: Callable[..., Any], subject: Subject) -> Callable[[Any], Any]:
    """The function with the subject of a requirement, if it asks for one."""
    asks = len(inspect.signature(function).parameters) == 2
    return partial(function, subject=subject) if asks else function


def _sentence(function: Function) -> str:
    return (inspect.getdoc(function) or function.__name__.replace("_", " ")).split("\n")[0]
