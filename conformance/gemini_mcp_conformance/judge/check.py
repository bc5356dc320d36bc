"""Check: a requirement, and the function that decides it from what was seen; pure.

What was seen is an exchange or an observation of a server, or the answers of a host. A check that complains fails; one
that does not complain passes. A new kind of check is a class here.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from gemini_mcp_conformance.judge.judgement import Verdict
from gemini_mcp_conformance.see.observation import Exchange, Observation

Seen = TypeVar("Seen")
Complaints: TypeAlias = Iterable[str]
Conclusion: TypeAlias = tuple[Verdict, str]
"""A verdict and the sentence that explains it."""

PASS: Conclusion = ("pass", "")


class NotApplicable(Exception):
    """The requirement does not bind the port in what was observed; the message says why."""


class CouldNotRun(Exception):
    """What would show the requirement could not be observed; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """A requirement, and the name and sentence of a function that decides it.

    `about` says what its complaints are about. `any_outcome` says that it can pass on a call that failed although it
    should have succeeded; such a call shows nothing to other checks. `tool` is the only tool whose calls it judges.
    `rests` is the requirement that explains a complaint, where a port breaks that as well.
    """

    requirement: str
    name: str
    sentence: str
    about: str = ""
    any_outcome: bool = False
    tool: str | None = None
    rests: str = ""


@dataclass(frozen=True, kw_only=True)
class CheckOf(Check, Generic[Seen]):
    """A check with its function, and with what it can judge."""

    judges: Callable[[Seen], bool]
    complain: Callable[[Seen], Complaints]

    def verdict(self, seen: Seen) -> Conclusion | None:
        """Its conclusion, or None where it cannot judge. A check that raises is the suite's fault, not the port's."""
        try:
            if not self.judges(seen):
                return None
            complaints = " ".join(self.complain(seen))
        except NotApplicable as reason:
            return "not-applicable", str(reason)
        except CouldNotRun as reason:
            return "could-not-run", str(reason)
        except Exception as error:
            raised = "".join(traceback.format_exception_only(error)).strip()
            return "harness-error", f"The check {self.name!r} raised {raised}."
        return ("fail", complaints) if complaints else PASS


@dataclass(frozen=True, kw_only=True)
class CheckOfExchange(CheckOf[Exchange]):
    """A check of one exchange."""


@dataclass(frozen=True, kw_only=True)
class CheckOfObservation(CheckOf[Observation]):
    """A check of a conversation as a whole."""
