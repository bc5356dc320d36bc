"""Questions: what a check asks a host, and what it means when the adapter does not answer; pure.

Vectors, properties and scenarios become checks with `checks_of`. Checks with the same name ask the same questions, so
the host is asked once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from gemini_mcp.spec.values import Json, JsonObject
from gemini_mcp_conformance.judge.check import CheckOf, Complaints
from gemini_mcp_conformance.judge.finding import Finding
from gemini_mcp_conformance.see.witness import shown

ANSWER_SECONDS = 30.0

Put = Callable[[JsonObject, float], Json]
"""Sends a request to an adapter and waits that many seconds for its output; raises NoAnswer and CouldNotRun."""


class NoAnswer(Exception):
    """The adapter ended, hung, or wrote something that is no answer; the message says which."""


class Questions:
    """Asks in one profile, and keeps the requests of the current example."""

    def __init__(self, put: Put, profile: str) -> None:
        self._put = put
        self.profile = profile
        self.requests: list[JsonObject] = []

    def ask(self, behaviour: str, value: Json, name: str = "", seconds: float = ANSWER_SECONDS) -> Json:
        """The output for an input; raises what the adapter raises."""
        identity = name or f"{behaviour}-{len(self.requests) + 1}"
        request = {"id": identity, "behaviour": behaviour, "profile": self.profile, "input": value}
        self.requests.append(request)
        return self._put(request, seconds)

    def begin(self) -> None:
        """Forget the requests of the last example."""
        self.requests.clear()


HostCheck = CheckOf[Questions]


def checks_of(
    name: str, sentence: str, requirements: Iterable[str], profile: str, complain: Callable[[Questions], Complaints]
) -> Iterator[HostCheck]:
    """A check for each requirement, for that profile of hosts or for both; no answer is a complaint."""

    def complaints(questions: Questions) -> Complaints:
        try:
            return complain(questions)
        except NoAnswer as silence:
            return [str(silence)]

    for requirement in requirements:
        yield HostCheck(
            requirement=requirement,
            name=name,
            sentence=sentence,
            judges=lambda asked: profile in (asked.profile, "both"),
            complain=complaints,
        )


def together(checks: Iterable[HostCheck], questions: Questions) -> list[tuple[HostCheck, ...]]:
    """The checks that bind the profile, in groups that ask the same questions."""
    bound = (check for check in checks if check.judges(questions))
    return [tuple(group) for _, group in groupby(bound, key=lambda check: check.name)]


def findings(checks: Sequence[HostCheck], questions: Questions) -> tuple[Finding, ...]:
    """Ask the questions of these checks once; one finding for each of their requirements."""
    questions.begin()
    check = checks[0]
    verdict, message = check.verdict(questions) or ("not-applicable", "")
    found = Finding(check.requirement, check.name, check.name, verdict, message, _witness(check, questions.requests))
    return tuple(replace(found, requirement=each.requirement) for each in checks)


def is_staged(requests: Iterable[JsonObject]) -> bool:
    """Whether the questions need servers that the suite starts."""
    return any(request["behaviour"] == "scenario" for request in requests)


def _witness(check: HostCheck, requests: Sequence[JsonObject]) -> str:
    """The requests, without those that hold the paths of a scenario."""
    asked = "" if is_staged(requests) or not requests else f": asked {shown(requests)}"
    return check.name + asked
