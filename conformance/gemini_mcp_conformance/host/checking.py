"""A check of a host: an adapter to ask in, a finding out; pure.

Vectors, properties and scenarios all become checks; how an adapter's silence counts is decided here, once for all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from gemini_mcp_conformance.host.values import Json, JsonObject
from gemini_mcp_conformance.tell.report import Verdict

ANSWER_SECONDS = 30.0


class NoAnswer(Exception):
    """The adapter ended, hung, or answered something that is no answer."""


class Unsupported(Exception):
    """The adapter does not offer the behaviour that the message names."""


class GivenUp(Exception):
    """The adapter ended or hung so often that it is not started again."""


class Adapter(Protocol):
    """Whatever answers."""

    def ask(self, request: JsonObject, seconds: float) -> Json:
        """The output; raises Unsupported, NoAnswer and GivenUp."""
        ...


class Questions:
    """What one check asks, in one profile; it remembers the requests of its last example."""

    def __init__(self, adapter: Adapter, profile: str) -> None:
        self._adapter = adapter
        self._profile = profile
        self.requests: list[JsonObject] = []

    def ask(self, behaviour: str, value: Json, name: str = "", seconds: float = ANSWER_SECONDS) -> Json:
        """The output for an input; raises what the adapter raises."""
        identity = name or f"{behaviour}-{len(self.requests) + 1}"
        request = {"id": identity, "behaviour": behaviour, "profile": self._profile, "input": value}
        self.requests.append(request)
        return self._adapter.ask(request, seconds)

    def begin_example(self) -> None:
        """Forget the requests of the example before."""
        self.requests.clear()


@dataclass(frozen=True)
class Check:
    """What decides on requirements; `complaint` says what is wrong, or None."""

    name: str
    requirements: tuple[str, ...]
    complaint: Callable[[Questions], str | None]


@dataclass(frozen=True)
class Finding:
    """What one check found, and the requests that show it."""

    check: str
    requirements: tuple[str, ...]
    outcome: Verdict
    message: str = ""
    requests: tuple[JsonObject, ...] = ()


def checked(check: Check, adapter: Adapter, profile: str) -> Finding:
    """Run a check."""
    questions = Questions(adapter, profile)
    outcome, message = _outcome(check, questions)
    return Finding(check.name, check.requirements, outcome, message, tuple(questions.requests))


def _outcome(check: Check, questions: Questions) -> tuple[Verdict, str]:
    try:
        complaint = check.complaint(questions)
    except Unsupported as error:
        return "could-not-run", f"the adapter does not support `{error}`"
    except GivenUp as error:
        return "could-not-run", str(error)
    except NoAnswer as error:
        return "fail", str(error)
    except Exception as error:
        return "harness-error", repr(error)
    return ("pass", "") if complaint is None else ("fail", complaint)
