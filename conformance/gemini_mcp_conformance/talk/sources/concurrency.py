"""Several calls at once: beside each other, one after the other where they must wait, each with its own answer."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_mcp.spec.values import table
from gemini_mcp_conformance.talk.conversation import Await, Conversation, Json, Release, Request, Step, call, path
from gemini_mcp_conformance.talk.plays import SESSION, answers, fails, session
from gemini_mcp_conformance.talk.sources import Sources

ORDER = 40
PHASE = "concurrency"
CROWD = 16
FEW = 4
"""Calls that every port can run at once."""

BESIDE = ("concurrency:calls", "concurrency:crossed")


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Pairs of every kind, what else is asked meanwhile, a crowd, and what follows failures."""
    yield from _pairs()
    yield _meanwhile()
    yield _out_of_order()
    yield _crowd()
    yield _system_prompts()
    yield from _after_failures()


def held(tool: str, name: str, arguments: Json = None, release: str | None = None) -> Request:
    """A call whose gemini waits for the release of that name."""
    script = answers(f"The answer to {name}.", session(name), release or name)
    return call(tool, _asking(name, arguments), script, name=name, until="started")


def quick(tool: str, name: str, arguments: Json = None) -> Request:
    """A call whose gemini answers at once."""
    return call(tool, _asking(name, arguments), answers(f"The answer to {name}.", session(name)), name=name)


def behind(tool: str, name: str, arguments: Json = None) -> tuple[Step, ...]:
    """A call that should wait; two others are served meanwhile, in which time it would have begun if it did not."""
    waiting = call(tool, _asking(name, arguments), answers(f"The answer to {name}."), name=name, until="sent")
    return (waiting, quick("chat", f"{name} / aside"), quick("chat", f"{name} / aside again"))


def _asking(name: str, arguments: Json) -> Json:
    return {"prompt": f"The question of {name}?", **table(arguments)}


def _pair(id: str, title: str, one: Request, *other: Step, shows: tuple[str, ...]) -> Conversation:
    steps = (one, *other, Release(one.name), Await(one.name))
    return Conversation(f"concurrency-{id}", title, steps, PHASE, shows, files={"one": None, "other": None})


def _pairs() -> Iterable[Conversation]:
    here, there = {"cwd": path("one")}, {"cwd": path("other")}
    same, different = {"sessionId": SESSION}, {"sessionId": f"{SESSION[:-1]}0"}
    beside = ("concurrency:other-session", "concurrency:crossed")
    chat, reply = "chat", "chat-reply"
    yield _pair("chats", "Two chats.", held(chat, "first"), held(chat, "second", release="first"), shows=BESIDE)
    yield _pair("chats-in-one-directory", "Two chats in one directory.",
                held(chat, "first", here), held(chat, "second", here, "first"), shows=BESIDE)  # fmt: skip
    yield _pair("reply-and-chat", "A reply, and a chat beside it.",
                held(reply, "reply", same), held(chat, "chat", release="reply"), shows=BESIDE)  # fmt: skip
    yield _pair("chat-and-reply", "A chat, and a reply beside it.",
                held(chat, "chat"), held(reply, "reply", same, "chat"), shows=BESIDE)  # fmt: skip
    yield _pair("sessions", "Replies in different sessions.",
                held(reply, "reply", same), held(reply, "other", different, "reply"), shows=beside)  # fmt: skip
    yield _pair("latest-elsewhere", "Replies to the latest sessions of two directories.",
                held(reply, "here", here), held(reply, "there", there, "here"), shows=beside)  # fmt: skip
    yield _pair("same-session", "Replies in one session, three of them.", held(reply, "first", same),
                *behind(reply, "second", same), *behind(reply, "third", same),
                shows=("concurrency:same-session", "concurrency:crossed"))  # fmt: skip
    yield _pair("latest", "Replies to the latest session of one directory.", held(reply, "first", here),
                *behind(reply, "second", here), *behind(reply, "third", here),
                shows=("concurrency:latest", "concurrency:crossed"))  # fmt: skip
    yield _pair("latest-by-default", "Replies to the latest session where the port runs.", held(reply, "first"),
                *behind(reply, "second"), shows=("concurrency:latest",))  # fmt: skip
    yield _pair("latest-by-names", "Replies to the latest session of one directory, by its names.",
                held(reply, "first"), *behind(reply, "second", {"cwd": path()}),
                shows=("concurrency:latest",))  # fmt: skip


def _meanwhile() -> Conversation:
    asked: list[Step] = []
    for tool in ("chat", "chat-reply"):
        asked += [held(tool, tool), Request("ping"), Request("tools/list"), Release(tool), Await(tool), Request("ping")]
    return Conversation(
        "concurrency-meanwhile",
        "A ping and the list of tools while a call runs, of either tool.",
        tuple(asked),
        PHASE,
        ("concurrency:ping", "concurrency:list"),
    )


def _out_of_order() -> Conversation:
    """Four calls of both tools, answered in another order than asked, and one more between."""
    calls = [held("chat", "one"), held("chat-reply", "two", {"sessionId": session("s2")})]
    calls += [held("chat", "three", {"model": "gemini-2.5-pro"})]
    calls += [held("chat-reply", "four", {"sessionId": session("s4")})]
    order = [step for name in ("three", "one", "four", "two") for step in (Release(name), Await(name))]
    steps = (*calls, *order[:4], quick("chat", "five"), *order[4:], quick("chat-reply", "six"))
    return Conversation("concurrency-out-of-order", "Answers out of order.", steps, PHASE, ("concurrency:crossed",))


def _crowd() -> Conversation:
    """Chats and replies in turns; all wait for one release, which comes when the first few, at least, have started."""
    calls: list[Step] = []
    for number in range(CROWD):
        name = f"{number:02} of the crowd"
        arguments = {"sessionId": session(name)} if number % 2 else {}
        script = answers(f"The answer to {name}.", session(f"{name}, answered"), "crowd")
        tool = "chat-reply" if number % 2 else "chat"
        calls.append(
            call(tool, _asking(name, arguments), script, name=name, until="started" if number < FEW else "sent")
        )
    return Conversation(
        "concurrency-crowd",
        "Sixteen calls at once.",
        (*calls, Release("crowd")),
        PHASE,
        ("concurrency:lost", "concurrency:crossed"),
        aside=True,
    )


def _system_prompts() -> Conversation:
    """Each of three calls at once must see its own system prompt, and the one without must see none."""
    calls = (
        held("chat", "pirate", {"systemPrompt": "You are a pirate of the concurrent seas."}, "all"),
        held("chat-reply", "poet", {"systemPrompt": "You are a poet, and late.", "sessionId": SESSION}, "all"),
        held("chat", "nobody", None, "all"),
        held("chat", "twin", {"systemPrompt": "You are a pirate of the concurrent seas."}, "all"),
    )
    shows = ("system:isolation", "concurrency:crossed")
    return Conversation("concurrency-system-prompts", "System prompts at once.", (*calls, Release("all")), PHASE, shows)


def _after_failures() -> Iterable[Conversation]:
    """Whatever the failure and whichever tool, the next calls are served, those that had to wait for it too."""
    for tool in ("chat", "chat-reply"):
        arguments = {"sessionId": SESSION} if tool == "chat-reply" else {}
        failures = [call(tool, {"prompt": f"Failure {exit} of {tool}", **arguments}, fails(exit)) for exit in (1, 53)]
        wrong = call(tool, {"prompt": 7})
        steps = [failures[0], quick(tool, "next", arguments), wrong, quick("chat", "third")]
        steps += [failures[1], quick("chat-reply", "fourth", {"sessionId": SESSION}), quick(tool, "fifth")]
        yield Conversation(
            f"concurrency-after-failed-{tool}", f"Calls after a failed {tool}.", tuple(steps), PHASE, AFTER_FAILURE
        )
    for name, arguments in (("session", {"sessionId": SESSION}), ("latest", {})):
        failing = call("chat-reply", {"prompt": "The failing reply", **arguments}, fails(release="go"), name="failing",
                       until="started")  # fmt: skip
        steps = (failing, *behind("chat-reply", "waiting", arguments), Release("go"), quick("chat-reply", "last"))
        yield Conversation(
            f"concurrency-behind-failed-{name}", "A reply behind one that fails.", steps, PHASE, AFTER_FAILURE
        )


AFTER_FAILURE = ("concurrency:after-failure",)
