"""Calls with progress tokens of every type, quick and long ones, and calls without a token."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import session
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.steps import Await, Release, Request

ORDER = 70
PHASE = "progress"
LONG = 11.0
"""Seconds of a call that is long enough to show an interval of ten."""
VERY_LONG = 45.0
"""Seconds of such a call in a thorough run, which shows several intervals."""

TOKENS: tuple[Json, ...] = ("a token", 0, "", -3, 4_294_967_297, "7", 7, "질문", "t" * 200)
SHOWN = ("token", "increase", "end", "start")


def conversations(sources: Sources) -> Iterable[Conversation]:
    """The long one is begun early, whatever its place."""
    yield _tokens(sources)
    yield _at_once(sources)
    yield _long(sources)


def asking(sources: Sources, tool: str, token: Json, script: Script, name: str = "", **more: Json) -> Request:
    """A call with a progress token."""
    arguments = sources.arguments(tool, f"Progress of {tool} {name or token!r}", session=session(name))
    params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": token}}
    return Request("tools/call", params, (script,), name, **more)


def _tokens(sources: Sources) -> Conversation:
    steps: list[Request] = []
    names, answers = sources.spec.names, sources.answers
    for number, token in enumerate(TOKENS):
        steps += [asking(sources, names[number % len(names)], token, answers("Done."), str(number)), Request("ping")]
    steps += [sources.ask(tool, f"No progress of {tool}", answers("Done.")) for tool in names]
    steps += [Request("ping")]
    shows = tuple(f"progress:{name}" for name in (*SHOWN, "unasked"))
    return Conversation("progress-tokens", "Progress tokens of every type.", tuple(steps), PHASE, shows)


def _at_once(sources: Sources) -> Conversation:
    """Two calls that asked and one that did not; each is told of its own progress."""
    one, answers = sources.first, sources.answers
    other = sources.after(one)
    steps = (
        asking(sources, one, "first", answers("First.", release="first"), "first", until="started"),
        asking(sources, other, "second", answers("Second.", release="second"), "second", until="started"),
        sources.ask(one, "No progress wanted", answers("Third.")),
        Release("second"),
        Await("second"),
        Release("first"),
        Await("first"),
        Request("ping"),
    )
    return Conversation("progress-at-once", "Progress of two calls at once.", steps, PHASE, ("progress:token",))


def _long(sources: Sources) -> Conversation:
    """Two long calls, and one that ends while they run; nothing is told for it afterwards."""
    one, answers, long = sources.first, sources.answers, VERY_LONG if sources.thorough else LONG
    unasked = answers("At last as well.", wait=long)
    steps = (
        asking(sources, one, "long", answers("At last.", wait=long), "long", until="started"),
        asking(sources, sources.after(one), 0, answers("At last, too.", wait=long), "reply", until="started"),
        asking(sources, one, "short", answers("At once."), "short"),
        sources.ask(one, "Long, and not asked", unasked, until="started"),
        Await("long"),
        Await("reply"),
        Request("ping"),
    )
    shows = tuple(f"progress:{name}" for name in (*SHOWN, "interval", "unasked"))
    return Conversation("progress-long", "Calls that take eleven seconds.", steps, PHASE, shows, aside=True)
