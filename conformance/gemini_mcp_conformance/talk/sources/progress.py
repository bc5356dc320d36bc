"""Calls that ask for progress, with tokens of every type, in both tools, quick and long, and calls that do not ask."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_mcp_conformance.play.fake.script import Script
from gemini_mcp_conformance.talk.conversation import Await, Conversation, Json, Release, Request, call
from gemini_mcp_conformance.talk.plays import SESSION, answers
from gemini_mcp_conformance.talk.sources import Sources

ORDER = 70
PHASE = "progress"
LONG = 11.0
"""Seconds of a call that is long enough to show an interval of ten."""

TOKENS: tuple[Json, ...] = ("a token", 0, "", -3, 4_294_967_297, "7", 7, "질문", "t" * 200)
TOOLS = ("chat", "chat-reply")
SHOWN = ("token", "increase", "end", "start")


def conversations(sources: Sources) -> Iterable[Conversation]:
    """The long one is begun early, whatever its place."""
    yield _tokens()
    yield _at_once()
    yield _long()


def asking(tool: str, token: Json, script: Script, name: str = "", **more: Json) -> Request:
    """A call with a progress token."""
    arguments = {"prompt": f"Progress of {tool} {name or token!r}"} | ({"sessionId": SESSION} if "-" in tool else {})
    params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": token}}
    return Request("tools/call", params, (script,), name, **more)


def _tokens() -> Conversation:
    steps: list[Request] = []
    for number, token in enumerate(TOKENS):
        tool = TOOLS[number % 2]
        steps += [asking(tool, token, answers("Done."), str(number)), Request("ping")]
    steps += [call(tool, {"prompt": f"No progress of {tool}"}, answers("Done.")) for tool in TOOLS]
    steps += [Request("ping")]
    shows = tuple(f"progress:{name}" for name in (*SHOWN, "unasked"))
    return Conversation("progress-tokens", "Progress tokens of every type.", tuple(steps), PHASE, shows)


def _at_once() -> Conversation:
    """Two calls that asked and one that did not; each is told of its own progress."""
    steps = (
        asking("chat", "first", answers("First.", release="first"), "first", until="started"),
        asking("chat-reply", "second", answers("Second.", release="second"), "second", until="started"),
        call("chat", {"prompt": "No progress wanted"}, answers("Third.")),
        Release("second"),
        Await("second"),
        Release("first"),
        Await("first"),
        Request("ping"),
    )
    return Conversation("progress-at-once", "Progress of two calls at once.", steps, PHASE, ("progress:token",))


def _long() -> Conversation:
    """Two long calls, and one that ends while they run; nothing is told for it afterwards."""
    steps = (
        asking("chat", "long", answers("At last.", wait=LONG), "long", until="started"),
        asking("chat-reply", 0, answers("At last, too.", wait=LONG), "reply", until="started"),
        asking("chat", "short", answers("At once."), "short"),
        call("chat", {"prompt": "Long, and not asked"}, answers("At last as well.", wait=LONG), until="started"),
        Await("long"),
        Await("reply"),
        Request("ping"),
    )
    shows = tuple(f"progress:{name}" for name in (*SHOWN, "interval", "unasked"))
    return Conversation("progress-long", "Calls that take eleven seconds.", steps, PHASE, shows, aside=True)
