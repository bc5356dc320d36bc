"""Pace: how long a port has taken so far, how often it stayed silent, and what it is not asked any more; pure.

What the waits depend on belongs here; `patience` says how long they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from gemini_mcp.spec.values import inside
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.durations import BUSY, takes
from gemini_mcp_conformance.talk.steps import Request, Step

NEVER = 3
"""A kind of request is not sent any more after so many conversations without an answer to it, if none had one."""
ENOUGH = 120.0
"""Seconds lost with waiting in vain, after which nothing more is played."""


class Kind(NamedTuple):
    """What requests have in common that are answered, or are not: `runs` says that gemini has a script for them."""

    method: str
    tool: str
    runs: bool

    def __str__(self) -> str:
        return f"{self.method} of {self.tool!r}" if self.tool else self.method


@dataclass(frozen=True)
class Pace:
    """The past of a port, in seconds and counts.

    `start` is its slowest start, None while it has not started. `took` are the seconds of all `answered` calls for
    which gemini ran and which nothing held up. `silent` counts conversations with a request that was not answered,
    `lost` the seconds for which these requests were waited for. `littered` counts conversations that left files.
    `heard` are the kinds of requests that were answered, `unheard` counts conversations in which a kind was not.
    """

    start: float | None = None
    answered: int = 0
    took: float = 0.0
    silent: int = 0
    lost: float = 0.0
    littered: int = 0
    heard: frozenset[Kind] = frozenset()
    unheard: Mapping[Kind, int] = field(default_factory=dict[Kind, int])

    @property
    def usual(self) -> float:
        """How long a call usually takes; 0 while none was answered."""
        return self.took / self.answered if self.answered else 0.0

    @property
    def hopeless(self) -> frozenset[Kind]:
        """The kinds of requests that the port has shown not to answer."""
        return frozenset(kind for kind, count in self.unheard.items() if count >= NEVER and kind not in self.heard)

    def started(self, after: float) -> Pace:
        """With another start."""
        return replace(self, start=max(after, self.start or 0.0))

    def after(self, seen: Observation, lost: float = 0.0) -> Pace:
        """With what a conversation has shown, in which `lost` seconds were waited in vain."""
        times = [time for each in seen.exchanges if (time := _time(each)) is not None]
        silent = [kind_of(each) for each in seen.exchanges if each.silence == "timeout" and not each.answers]
        # Once one is in vain, the others of the conversation are hardly waited for: their silence says little.
        counts = {**self.unheard, silent[0]: self.unheard.get(silent[0], 0) + 1} if silent else self.unheard
        return replace(
            self,
            answered=self.answered + len(times),
            took=self.took + sum(times),
            silent=self.silent + bool(silent),
            lost=self.lost + lost,
            littered=self.littered + bool(seen.leftovers or any(each.leftovers for each in seen.exchanges)),
            heard=self.heard | {kind_of(each) for each in seen.exchanges if each.answers},
            unheard=counts,
        )

    def given_up(self, conversation: Conversation) -> str | None:
        """Why a conversation would be waited for in vain; None when it should be played.

        What is played alone may show something else, such as how the port ends.
        """
        asked = kinds(conversation.steps)
        if self.lost >= ENOUGH:
            return (
                f"The port kept silent in {self.silent} conversations, for which the suite waited {ENOUGH:g} seconds "
                "in all. It played no further ones. Mend those first."
            )
        if asked and asked <= self.hopeless and not conversation.alone:
            return f"The port never answered {min(asked)}, so the suite sent no more of them. Mend that first."
        return None


def kinds(steps: Iterable[Step]) -> frozenset[Kind]:
    """The kinds of the requests of a conversation."""
    asked = [step for step in steps if isinstance(step, Request)]
    return frozenset(Kind(step.method, _tool(step), bool(step.scripts)) for step in asked)


def kind_of(exchange: Exchange) -> Kind:
    """The kind of a request that was sent."""
    return Kind(exchange.method, exchange.tool, bool(exchange.scripts))


def _tool(step: Request) -> str:
    name = inside(step.params, "name")
    return name if step.method == "tools/call" and isinstance(name, str) else ""


def _time(exchange: Exchange) -> float | None:
    """How long the port itself took for a call; None when it cannot be told."""
    if not (exchange.answers and exchange.runs and exchange.alone):
        return None
    listing = exchange.spec.invocation.listing.timeout
    scripts = sum(takes(script, listing) for script in exchange.scripts)
    spent = exchange.answers[0].at - exchange.sent.at - scripts
    return max(0.0, spent - len(exchange.sent.data) / BUSY)
