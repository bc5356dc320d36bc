"""Ends of calls and of the port while gemini runs: whatever ends, nothing of gemini's may live on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gemini_mcp_conformance.conversation import (
    Await,
    Cancel,
    Conversation,
    End,
    Ending,
    Json,
    Notify,
    Release,
    Request,
    Step,
    call,
)
from gemini_mcp_conformance.conversations import Sources
from gemini_mcp_conformance.fake import Script
from gemini_mcp_conformance.plays import SESSION, answers, hangs, session

ORDER = 60
TOOLS = ("chat", "chat-reply")
CANCELLED = "notifications/cancelled"
SIGNALS: dict[Ending, str] = {"TERM": "sigterm", "INT": "sigint", "HUP": "sighup"}


def conversations(sources: Sources) -> Iterable[Conversation]:
    """First the ends of calls, then those of the port."""
    for tool in TOOLS:
        yield from _cancellations(tool)
    yield _cancel_one_of_several()
    yield _cancel_in_line()
    yield _same_looking_ids()
    yield from _stdin_ends()
    for how, name in SIGNALS.items():
        yield from _signals(how, name)


def hanging(tool: str, name: str, script: Script | None = None, **more: Json) -> Request:
    """A call whose gemini does not end."""
    arguments: Json = {"prompt": f"No end of {name}"} | ({"sessionId": session(name)} if tool == "chat-reply" else {})
    given = {"until": "started", **more}
    return call(tool, {**arguments, **given.pop("and_", {})}, script or hangs(), name=name, **given)


def served(name: str, tool: str = "chat") -> Request:
    return call(tool, {"prompt": f"Served after {name}"}, answers(f"Served after {name}."))


def _cancel(id: str, title: str, steps: Sequence[Step], *shows: str, fresh: bool = False) -> Conversation:
    return Conversation(f"cancel-{id}", title, tuple(steps), "endings", shows, fresh=fresh)


def _cancellations(tool: str) -> Iterable[Conversation]:
    """Of one tool: each twice, with ids of both types, and a call served after each."""
    other = TOOLS[tool == "chat"]
    prompt = {"and_": {"systemPrompt": "You are cancelled."}}
    steps: list[Step] = []
    for number, more in enumerate(({}, prompt, {"id": f"cancelled-{tool}"}, {"id": ""})):
        name = f"{tool} {number}"
        steps += [hanging(tool, name, **more), Cancel(name), served(name, (tool, other)[number % 2])]
    shows = ("cancel:child", "cancel:unanswered", "cancel:others", "system:removed:cancel")
    yield _cancel(f"{tool}", f"A cancelled {tool}.", steps, *shows, fresh=True)
    steps = [hanging(tool, "family", hangs(child=True)), Cancel("family"), served("family", other)]
    yield _cancel(f"{tool}-group", f"A cancelled {tool} whose gemini has started a process.", steps, "cancel:group")
    steps = [hanging(tool, "stubborn", hangs(stubborn=True), **prompt), Cancel("stubborn"), served("stubborn", tool)]
    yield _cancel(
        f"{tool}-ignored-term", f"A cancelled {tool} that ignores SIGTERM.", steps, "cancel:ignored-term", fresh=True
    )
    late: list[Step] = []
    for name in ("late", "later"):
        first = call(tool, {"prompt": f"Answered before {name}"}, answers("Answered."), name=name)
        late += [first, Cancel(name), Request("tools/list"), served(name, other)]
    yield _cancel(f"{tool}-late", f"A {tool} cancelled after its answer.", late, "cancel:late")
    unknown: list[Step] = []
    for id in ("no such call", 99_000_002, 0, ""):
        unknown += [Notify(CANCELLED, {"requestId": id}), Request("tools/list")]
    unknown += [Notify(CANCELLED, {"requestId": "no such call", "reason": "None."}), served("nothing", tool)]
    yield _cancel(f"{tool}-unknown", "A cancellation of an unknown call.", unknown, "cancel:unknown")


def _cancel_one_of_several() -> Conversation:
    """Of four, the first and the third are cancelled while the others run."""
    steps: list[Step] = []
    for number, tool in enumerate((*TOOLS, *TOOLS)):
        name = f"{number} of four"
        script = answers(f"The answer {name}.", release=name) if number % 2 else hangs()
        steps.append(hanging(tool, name, script))
    order: list[Step] = [Cancel("2 of four"), served("one", "chat-reply"), Cancel("0 of four")]
    order += [step for name in ("3 of four", "1 of four") for step in (Release(name), Await(name))]
    swapped = [hanging("chat-reply", "hung"), hanging("chat", "held", answers("Held.", release="held"))]
    steps += [*order, *swapped, Cancel("hung"), Release("held"), Await("held")]
    return _cancel("some", "Calls of which some are cancelled.", steps, "cancel:others", "cancel:child")


def _cancel_in_line() -> Conversation:
    """Replies in one session: the one that runs is cancelled, then one that waits; those behind are served."""

    def reply(name: str, *scripts: Script, until: str = "sent") -> Request:
        return call(
            "chat-reply", {"prompt": f"In line: {name}", "sessionId": SESSION}, *scripts, name=name, until=until
        )

    steps: list[Step] = [reply("runs", hangs(), until="started"), reply("second", answers("Second.", release="second"))]
    steps += [reply("waits", hangs()), reply("last", answers("Last.")), served("the line"), Cancel("waits")]
    steps += [Cancel("runs"), Release("second"), Await("second"), Await("last"), reply("new", answers("New."))]
    return _cancel("in-line", "Replies that wait for a cancelled one.", steps, "cancel:others", "cancel:unanswered")


def _same_looking_ids() -> Conversation:
    """A number and the text that looks like it are two ids."""
    steps: list[Step] = []
    for tool, number in zip(TOOLS, (770_007, 770_008), strict=True):
        text, plain = f"text of {tool}", f"number of {tool}"
        steps += [hanging(tool, text, answers(f"The {text}.", release=text), id=str(number))]
        steps += [hanging(tool, plain, id=number), Cancel(plain), served(plain), Release(text), Await(text)]
    return _cancel("ids", "Ids that look the same.", steps, "cancel:others", fresh=True)


def _end(id: str, title: str, how: Ending, steps: Sequence[Step], *shows: str) -> Conversation:
    return Conversation(f"end-{id}", title, (*steps, End(how)), "endings", shows)


def _stdin_ends() -> Iterable[Conversation]:
    after = [served("nothing"), Request("tools/list")]
    yield _end("stdin", "The end of stdin.", "stdin", after, "shutdown:stdin-end", "shutdown:prompt")
    yield _end("stdin-unused", "The end of stdin before anything was asked.", "stdin", [], "shutdown:stdin-end")
    shows = ("shutdown:stdin-end:busy", "shutdown:stdin-end:group")
    for tool in TOOLS:
        busy = [_with_system(tool), hanging(tool, "family", hangs(child=True))]
        yield _end(f"stdin-{tool}", f"The end of stdin during a {tool}.", "stdin", busy, *shows,
                   "system:removed:stdin-end")  # fmt: skip
        plain = [hanging(tool, "plain")]
        yield _end(f"stdin-{tool}-plain", f"The end of stdin during a plain {tool}.", "stdin", plain, *shows,
                   "shutdown:prompt")  # fmt: skip
    stubborn = [hanging(tool, f"stubborn {tool}", hangs(stubborn=True)) for tool in TOOLS]
    yield _end("stdin-ignored-term", "The end of stdin while gemini ignores SIGTERM.", "stdin", stubborn,
               "shutdown:stdin-end:ignored-term")  # fmt: skip
    line = [call("chat-reply", {"prompt": f"In line {number}"}, hangs(), until=("started", "sent")[number])
            for number in range(2)]  # fmt: skip
    yield _end("stdin-in-line", "The end of stdin while a reply waits for another.", "stdin", line, *shows)
    yield _end("stdin-at-once", "The end of stdin right behind a call.", "stdin", [hanging("chat", "x", until="sent")])


def _signals(how: Ending, name: str) -> Iterable[Conversation]:
    group = f"shutdown:{name}:group"
    families = [_with_system(tool) for tool in TOOLS] + [hanging("chat", "family", hangs(child=True))]
    yield _end(f"{name}-chat", f"{name.upper()} during calls.", how, families, group, *_of_term(how))
    reply = [served("nothing"), hanging("chat-reply", "reply"), hanging("chat-reply", "kin", hangs(child=True))]
    yield _end(f"{name}-reply", f"{name.upper()} during replies.", how, reply, group)
    if how == "TERM":
        yield _end(name, "SIGTERM while nothing runs.", how, [served("nothing")], *_of_term(how), "shutdown:prompt")
        plain = [hanging("chat", "plain")]
        yield _end(f"{name}-plain", "SIGTERM during a plain chat.", how, plain, group, "shutdown:prompt")
        stubborn = [hanging(tool, f"stubborn {tool}", hangs(stubborn=True)) for tool in TOOLS]
        yield _end(f"{name}-ignored", "SIGTERM while gemini ignores it.", how, stubborn, *_of_term(how))


def _of_term(how: Ending) -> tuple[str, ...]:
    return ("shutdown:sigterm", "system:removed:sigterm") if how == "TERM" else ()


def _with_system(tool: str) -> Request:
    return hanging(tool, f"system of {tool}", and_={"systemPrompt": "You are interrupted."})
