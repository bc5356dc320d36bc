"""Durations: how long the scripts of a step take at least; pure."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.steps import Listen, Raw, Request, Step

BUSY = 1_000_000
"""Bytes that a slow port on a busy machine handles in a second."""

LISTING = 8
"""Seconds for which a port waits for the list of sessions, where it is not known what the specification says."""
LEEWAY = 2
"""Seconds that a port may wait longer for it."""


def of_steps(steps: Iterable[Step]) -> float:
    """How long steps take at least, one after the other; requests that are not waited for run at the same time."""
    steps = tuple(steps)
    asked = [step for step in steps if isinstance(step, Request | Raw)]
    # Where only the start of a list is waited for, it is ended before its time.
    side_by_side = [seconds(step) for step in asked if step.until not in ("answered", "listing")]
    paused = sum(step.pause * len(step.cuts) for step in asked if isinstance(step, Raw))
    paused += sum(step.wait for step in steps if isinstance(step, Listen))
    return sum(seconds(step) for step in asked if step.until == "answered") + max(side_by_side, default=0) + paused


def seconds(step: Request | Raw, listing: float = LISTING) -> float:
    """How long the scripts of a request take at least on a busy machine, with the time for their output."""
    return sum(takes(script, listing) for script in step.scripts)


def takes(script: Script, listing: float = LISTING) -> float:
    """How long a script takes at least. A list that never ends takes the `listing` seconds for which a port waits."""
    written = sum(play.get("wait", 0) + play.get("fill", {}).get("bytes", 0) / BUSY for play in script.play)
    return written + (listing + LEEWAY) * any("hang" in play for play in script.list_sessions or ())
