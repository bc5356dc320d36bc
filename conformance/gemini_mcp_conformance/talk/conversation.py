"""Conversation: what the suite says to a port, and in what circumstances, as a value that JSON can hold; pure.

A new circumstance is a field, and part of `circumstances` where ports that differ in it cannot be shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.talk.clients import is_marked
from gemini_mcp_conformance.talk.durations import of_steps
from gemini_mcp_conformance.talk.steps import End, Http, Raw, Request, Step


@dataclass(frozen=True)
class Conversation:
    """Steps, and the circumstances in which they are played.

    It is made to show `requirements`, but every check judges what it can. `aside` means that it mostly waits, so that
    it runs beside others. `fresh` means that it needs a new port. `revision` is the protocol revision to speak.
    `greet=False` leaves out the handshake. `stdio=True` demands pipes. `files` are written below the port's working
    directory; None is a directory. `gemini` may be absent from PATH, or a file that cannot be executed, or the only one
    there, so that a step can take it away.
    """

    id: str
    title: str
    steps: tuple[Step, ...]
    phase: str = "examples"
    requirements: tuple[str, ...] = ()
    aside: bool = False
    fresh: bool = False
    revision: str | None = None
    greet: bool = True
    files: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    stdio: bool = False
    gemini: Literal["present", "only", "absent", "not-executable"] = "present"

    @property
    def alone(self) -> bool:
        """Whether it is not played on the port that most conversations share."""
        return self.aside or self.needs_new_port or self.ends or not self.is_ordinary

    @property
    def only_waits(self) -> bool:
        """Whether waiting is the only reason why it does not use the shared port."""
        return self.alone and self.is_ordinary and not self.needs_new_port and not self.ends

    @property
    def needs_new_port(self) -> bool:
        """Whether it needs a port that has served nothing else."""
        return self.fresh or not self.greet

    @property
    def ends(self) -> bool:
        """Whether it ends its port or its session."""
        return any(isinstance(step, End) or (isinstance(step, Http) and step.verb == "DELETE") for step in self.steps)

    @property
    def circumstances(self) -> tuple[object, ...]:
        """How its port is started and greeted. Conversations with equal circumstances can share a port."""
        return (self.revision, self.gemini, *sorted(self.env.items()))

    @property
    def is_ordinary(self) -> bool:
        """Whether its circumstances are the usual ones."""
        return self.circumstances == Conversation("", "", ()).circumstances

    @cached_property
    def seconds(self) -> float:
        """How long it waits."""
        return of_steps(self.steps)

    @property
    def needs_stdio(self) -> bool:
        """Whether it needs a port that the suite starts and speaks to over pipes."""
        # A port that runs already cannot be given variables, another PATH, broken bytes or an end.
        says = self.stdio or any(isinstance(step, Raw | End) for step in self.steps)
        return says or bool(self.env) or self.gemini != "present"

    @property
    def needs_handshake(self) -> bool:
        """Whether its raw lines hold requests that are valid only after a handshake."""
        return any(isinstance(step, Raw) and step.until == "answered" for step in self.steps)

    @property
    def needs_http(self) -> bool:
        """Whether it sends plain requests over HTTP, or those of another client."""
        return any(isinstance(step, Http) or (isinstance(step, Request) and is_marked(step.id)) for step in self.steps)

    @property
    def needs_gemini(self) -> bool:
        """Whether gemini plays a script in it."""
        return any(step.scripts for step in self.steps if isinstance(step, Request | Raw))


def with_ids(conversation: Conversation, ids: Iterable[Json]) -> Conversation:
    """The conversation with the ids that its requests were given, so that a replay sends the same bytes."""
    given = iter(ids)
    steps = [
        replace(step, id=next(given, step.id)) if isinstance(step, Request) else step for step in conversation.steps
    ]
    return replace(conversation, steps=tuple(steps))
