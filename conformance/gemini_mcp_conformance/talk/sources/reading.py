"""Clients that read slowly: answers that fill every buffer wait until they are read, whole and in order."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import session
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.steps import Await, Listen, Request, Step

ORDER = 65
PHASE = "reading"
CALLS = 5
LISTS = 64
ANSWER = "All work and no play. 서울 👍 "
LATE = 3.5
"""Seconds for which nobody reads."""
TIMES = 12_000
"""How often an answer says so: some hundred kilobytes, more than a pipe and its reader hold."""

SHOWN = (
    "stdio:framing",
    "stdio:stdout",
    "stdio:encoding",
    "result:text",
    "result:large-stdout",
    "concurrency:crossed",
    "rpc:response:id",
)


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Lists, calls side by side, and calls one after the other."""
    yield _lists()
    if sources.spec.told_apart:
        yield _conversation(sources, "unread-side-by-side", "Calls whose answers are read late.", late=True)
        yield _conversation(sources, "unread-one-by-one", "Calls whose answers are read late, one by one.", late=False)


def _lists() -> Conversation:
    """Answers that are short, and so many that no pipe holds them all."""
    names = [f"unread {number}" for number in range(LISTS)]
    asked = (Request("tools/list", id=name, name=name, until="sent") for name in names)
    steps = (Listen(False), *asked, Listen(True, 0.5), Request("ping"))
    shows = ("rpc:response:id", "stdio:framing", "tools:order")
    return Conversation("unread-lists", "Lists that are read late.", steps, PHASE, shows, aside=True)


def _conversation(sources: Sources, id: str, title: str, late: bool) -> Conversation:
    """Each call is sent while nobody listens; a ping and a list are asked for in between."""
    steps: list[Step] = [Listen(False)] if late else []
    for number in range(CALLS):
        asked = _asked(sources, number)
        others = [Request(method, until="sent", name=f"{method} {number}") for method in ("ping", "tools/list")]
        steps += [asked, *others] if late else [Listen(False), asked, *others, Listen(True), Await(asked.name)]
    if late:
        steps.append(Listen(True, LATE))
    return Conversation(id, title, (*steps, Request("ping")), PHASE, SHOWN, aside=True)


def _asked(sources: Sources, number: int) -> Request:
    tool, name = sources.spec.told_apart[number % len(sources.spec.told_apart)], f"call {number}"
    answer = sources.answers(f"{number} {ANSWER * TIMES}", session(name), ensure_ascii=number % 2 == 0)
    arguments = sources.arguments(tool, f"The question of {name}?", session=session(name))
    params: dict[str, Json] = {"name": tool, "arguments": arguments, "_meta": {"progressToken": name}}
    return Request("tools/call", params, (answer,), name, "sent")
