"""Registry: the checks by the requirement they decide, each a pure function with a predicate for what it can judge.

A check yields complaints about one exchange, or one observation; the first one is reported, and none is a pass. It
raises NotApplicable where the requirement does not bind the port. To add one, decorate a function in `checks/`;
importing its module registers it. One function may decide several requirements. A check of a family is given the
subject of each requirement if it has a parameter `subject`; one of a family with `{tool}` judges calls of that tool.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Literal, TypeAlias, TypeVar

from gemini_mcp.spec import Requirement
from gemini_mcp.spec.families import Subject
from gemini_mcp_conformance.judge.check import Check, CheckOfExchange, CheckOfObservation, Complaints
from gemini_mcp_conformance.see.observation import Exchange, Observation

Registered = TypeVar("Registered", bound=Callable[..., Complaints])
Given = TypeVar("Given")
OfExchange: TypeAlias = Callable[[Exchange], Given] | Callable[[Exchange, Subject], Given]
OfObservation: TypeAlias = Callable[[Observation], Given] | Callable[[Observation, Subject], Given]

About: TypeAlias = Literal[
    "", "command", "session", "text", "file", "directory", "stderr", "list", "warnings", "order", "progress", "told",
    "cause", "line", "end", "left", "served", "not run", "failed", "no text", "succeeded", "reason", "transport",
    "prefix",
]  # fmt: skip
"""What a complaint is about. Two checks that complain about the same thing in one exchange have seen one fault."""


@dataclass(frozen=True)
class _Rule:
    """A registered function, for every requirement of a family."""

    family: str
    function: Callable[..., Complaints]
    judges: Callable[..., bool]
    kind: type[CheckOfExchange | CheckOfObservation]
    any_outcome: bool
    about: str
    rests: str

    def bound(self, requirement: Requirement) -> Check:
        """The check of one requirement."""
        name, subject = self.function.__name__, requirement.subject
        is_of_exchange = self.kind is CheckOfExchange
        complain = _bound(self.function, subject)
        return self.kind(
            requirement=requirement.id,
            name=name,
            sentence=(inspect.getdoc(self.function) or name.replace("_", " ")).split("\n")[0],
            about=self.about or (name if is_of_exchange else requirement.id),
            judges=_bound(self.judges, subject),
            complain=lambda seen: islice(complain(seen), 1),
            any_outcome=self.any_outcome,
            tool=subject.get("tool") if is_of_exchange and "{tool}" in self.family else None,
            rests=self.rests,
        )


_RULES: dict[tuple[str, str], _Rule] = {}


def always(observation: Observation) -> bool:
    """Every conversation."""
    return True


def check(
    *families: str, judges: OfExchange[bool], any_outcome: bool = False, about: About = "", rests: str = ""
) -> Callable[[Registered], Registered]:
    """Register a function that judges every exchange which `judges` accepts."""
    return _registered(families, judges, CheckOfExchange, any_outcome, about, rests)


def check_all(
    *families: str, judges: OfObservation[bool] = always, about: About = ""
) -> Callable[[Registered], Registered]:
    """Register a function that judges every conversation which `judges` accepts, as a whole."""
    return _registered(families, judges, CheckOfObservation, True, about)


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
    families: Iterable[str],
    judges: Callable[..., bool],
    kind: type[CheckOfExchange | CheckOfObservation],
    any_outcome: bool,
    about: str,
    rests: str = "",
) -> Callable[[Registered], Registered]:
    def register(function: Registered) -> Registered:
        for family in families:
            _RULES[family, function.__name__] = _Rule(family, function, judges, kind, any_outcome, about, rests)
        return function

    return register


def _bound(function: Callable[..., Any], subject: Subject) -> Callable[[Any], Any]:
    """The function with the subject of a requirement, if it asks for one."""
    return partial(function, subject=subject) if "subject" in inspect.signature(function).parameters else function
