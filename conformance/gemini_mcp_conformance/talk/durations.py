"""Durations: how long conversations wait, and how long scripts may take; pure."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from gemini_mcp.spec.values import inside
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.steps import Await, Cancel, End, Listen, Raw, Request, Step

BUSY = 1_000_000
"""Bytes that a slow port on a busy machine handles in a second."""

LISTING = 8
"""Seconds for which a port waits for the list of sessions, where it is not known what the specification says."""
LEEWAY = 2
"""Seconds that a port may wait longer for it."""


STUBBORN = 1.0
"""Seconds that a process which ignores a signal gets to end."""


def of_steps(steps: Iterable[Step]) -> float:
    """How long steps wait, one after the other; requests that are not waited for run meanwhile."""
    steps = tuple(steps)
    asked = [step for step in steps if isinstance(step, Request | Raw)]
    cut_short = {step.name for step in steps if isinstance(step, Cancel)}
    if any(isinstance(step, End) for step in steps):
        awaited = {step.name for step in steps if isinstance(step, Await)}
        cut_short |= {step.name for step in asked if step.name not in awaited}
    # Where only the start of a list is waited for, it is ended before its time.
    meanwhile = [
        min(sum(map(_waits, step.scripts)), STUBBORN if step.name in cut_short else inf)
        for step in asked
        if step.until not in ("answered", "listing")
    ]
    in_turn = sum(_waits(script) for step in asked if step.until == "answered" for script in step.scripts)
    paused = sum(step.pause * len(step.cuts) for step in asked if isinstance(step, Raw))
    paused += sum(step.wait for step in steps if isinstance(step, Listen))
    stubborn = {step.name for step in asked if any(map(ignores, step.scripts))}
    cancelled = [step for step in steps if isinstance(step, Cancel) and step.name in stubborn]
    paused += STUBBORN * len({step.name if step.until == "ended" else "" for step in cancelled})
    return max(in_turn, *meanwhile, 0) + paused


def seconds(step: Request | Raw, listing: float = LISTING) -> float:
    """How long the scripts of a request may take on a busy machine, with the time for their output."""
    return sum(takes(script, listing) for script in step.scripts)


def takes(script: Script, listing: float = LISTING) -> float:
    """How long a script may take on a busy machine, with the time for its output."""
    return _waits(script, listing) + sum(play.get("fill", {}).get("bytes", 0) for play in script.play) / BUSY


def _waits(script: Script, listing: float = LISTING) -> float:
    """How long a script waits. A list that never ends takes the `listing` seconds for which a port waits."""
    waited = sum(play.get("wait", 0) for play in script.play)
    return waited + (listing + LEEWAY) * any("hang" in play for play in script.list_sessions or ())


def ignores(script: Script) -> bool:
    """Whether something that it starts ignores SIGTERM."""
    return any("ignore" in play or inside(play, "child", "ignore") for play in script.play)
