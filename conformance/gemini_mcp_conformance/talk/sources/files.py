"""Texts that gemini gets in files: several at once, while gemini runs, and when a call is cancelled or cannot run.

These conversations wait, so they run at the same time as others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import SESSION, fails, hangs
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.steps import Await, Cancel, Step
from gemini_mcp_conformance.talk.texts import PLAIN

ORDER = 60
PHASE = "files"
MOMENT, LONG = 0.6, 3.0
"""Seconds that gemini runs, so that what happens to its files meanwhile is seen."""


def conversations(sources: Sources) -> Iterable[Conversation]:
    """For every tool."""
    names = [tool for tool in sources.spec.names if sources.spec.files(tool)]
    for tool in sources.spec.names:
        held = (sources.ask(tool, PLAIN, _holding(sources)),)
        yield _conversation(f"{tool}-held-output", held, "process:held-output")
    for tool in names:
        life = (_call(sources, tool, 1, _late(sources, 1, LONG)),)
        yield _conversation(f"{tool}-system-life", life, "system:life", "system:removed:success")
        yield from _without_gemini(sources, tool)
        begun = _call(sources, tool, 1, hangs(), name="it", until="started")
        yield _conversation(f"{tool}-system-cancel", (begun, Cancel("it")), "system:removed:cancel")
    several = tuple(
        _call(sources, names[number % len(names)], number, _late(sources, number), until="sent")
        for number in range(6 if names else 0)
    )
    for tool in names:
        held = _call(sources, tool, 1, _late(sources, 1, LONG), name="held", until="started")
        failing = _call(sources, tool, 2, fails(1))
        yield _conversation(f"{tool}-system-beside-failure", (held, failing, Await("held")), "system:life")
        equal = _call(sources, tool, 2, sources.answers("The answer to call 2."), file="You are number 1.")
        yield _conversation(f"{tool}-system-beside-equal", (held, equal, Await("held")), "system:life")
    if several:
        yield _conversation("system-prompts-side-by-side", several, "system:isolation", "system:life")


def _without_gemini(sources: Sources, tool: str) -> Iterator[Conversation]:
    step = (_call(sources, tool, 1),)
    title = "A text in a file for a gemini that cannot be started."
    for gemini in ("absent", "not-executable"):
        id = f"{tool}-system-{gemini}"
        yield Conversation(id, title, step, PHASE, ("system:removed:failure",), aside=True, gemini=gemini)


def _holding(sources: Sources) -> Script:
    """An answer whose gemini leaves a process behind that holds stdout open."""
    answer = sources.answers("Held.")
    return Script("holding", ({"child": {"seconds": 30, "holds": "stdout"}}, *answer.play))


def _conversation(id: str, steps: tuple[Step, ...], *shows: str) -> Conversation:
    return Conversation(id, "Texts in files, and what is left of them.", steps, PHASE, shows, aside=True)


def _call(sources: Sources, tool: str, number: int, *scripts: Script, **more: Json) -> Step:
    words, session = f"This is call {number}.", f"{SESSION[:-1]}{number}"
    return sources.ask(tool, words, *scripts, session=session, **{"file": f"You are number {number}.", **more})


def _late(sources: Sources, number: int, seconds: float = MOMENT) -> Script:
    return sources.answers(f"The answer to call {number}.", f"{SESSION[:-1]}{number}", wait=seconds)
