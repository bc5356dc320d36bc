"""Files of system prompts: side by side, while gemini runs, and when a call is stopped or cannot run.

They wait, so they are played beside the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.judge.expectation import TOOLS
from gemini_mcp_conformance.play.fake.script import Script
from gemini_mcp_conformance.talk.conversation import Cancel, Conversation, Step, call
from gemini_mcp_conformance.talk.exploration import reply
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.texts import PLAIN, SESSION

ORDER = 60
PHASE = "files"
MOMENT, LONG = 0.6, 3.0
"""Seconds that gemini runs, so that what happens to its files meanwhile is seen."""


def conversations(sources: Sources) -> Iterable[Conversation]:
    """For either tool."""
    for tool in TOOLS:
        life = (_call(tool, 1, _late(1, LONG)),)
        yield _conversation(f"{tool}-system-life", life, "system:life", "system:removed:success")
        yield from _without_gemini(tool)
        yield from _stopped(tool, sources.scripts["hang"])
        held = (call(tool, {"prompt": PLAIN}, sources.scripts["grandchild-holds-stdout"]),)
        yield _conversation(f"{tool}-held-output", held, "process:held-output")
    several = tuple(
        _call(("chat", "chat-reply")[number % 2], number, _late(number), until="sent") for number in range(6)
    )
    yield _conversation("system-prompts-side-by-side", several, "system:isolation", "system:life")


def _without_gemini(tool: str) -> Iterator[Conversation]:
    step = (_call(tool, 1),)
    title = "A system prompt for a gemini that cannot be started."
    for gemini in ("absent", "not-executable"):
        id = f"{tool}-system-{gemini}"
        yield Conversation(id, title, step, PHASE, ("system:removed:failure",), aside=True, gemini=gemini)


def _stopped(tool: str, hang: Script) -> Iterator[Conversation]:
    begun = _call(tool, 1, hang, name="it", until="started")
    yield _conversation(f"{tool}-system-cancel", (begun, Cancel("it")), "system:removed:cancel")


def _conversation(id: str, steps: tuple[Step, ...], *shows: str) -> Conversation:
    return Conversation(id, "System prompts, and what is left of them.", steps, PHASE, shows, aside=True)


def _call(tool: str, number: int, *scripts: Script, **more: Json) -> Step:
    arguments = {"prompt": f"This is call {number}.", "systemPrompt": f"You are number {number}."}
    session = {"sessionId": f"{SESSION[:-1]}{number}"} if tool == "chat-reply" else {}
    return call(tool, {**arguments, **session}, *scripts, **more)


def _late(number: int, seconds: float = MOMENT) -> Script:
    answer = reply(f"The answer to call {number}.", f"{SESSION[:-1]}{number}")
    return Script("late", ({"wait": seconds}, *answer.play))
