"""Ends of calls and of the port while gemini runs: whatever ends, nothing of gemini's may live on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gemini_mcp.spec.values import table
from gemini_mcp_conformance.play.fake.script import Script
from gemini_mcp_conformance.talk.conversation import (
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
from gemini_mcp_conformance.talk.plays import SESSION, answers, hangs, lists, session
from gemini_mcp_conformance.talk.sources import Sources

ORDER = 60
TOOLS = ("chat", "chat-reply")
CANCELLED = "notifications/cancelled"
SIGNALS: dict[Ending, str] = {"TERM": "sigterm", "INT": "sigint", "HUP": "sighup"}


def conversations(sources: Sources) -> Iterable[Conversation]:
    """First the ends of calls, then those of the port."""
    for tool in TOOLS:
        yield from _cancellations(tool)
    yield _cancel_stubborn()
    yield _cancel_one_of_several()
    yield _cancel_in_line()
    yield _cancel_in_list()
    yield _same_looking_ids()
    yield from _stdin_ends()
    for how, name in SIGNALS.items():
        yield from _signals(how, name)


def hanging(tool: str, name: str, script: Script | None = None, **more: Json) -> Request:
    """A call whose gemini does not end."""
    own = {"sessionId": session(name)} if tool == "chat-reply" else {}
    arguments = {"prompt": f"No end of {name}", **own, **table(more.pop("and_", None))}
    return call(tool, arguments, script or hangs(), name=name, **{"until": "started", **more})


def served(name: str, tool: str = "chat") -> Request:
    return call(tool, {"prompt": f"Served after {name}"}, answers(f"Served after {name}."))


def _cancel(id: str, title: str, steps: Sequence[Step], *shows: str, **more: Json) -> Conversation:
    return Conversation(f"cancel-{id}", title, tuple(steps), "endings", shows, **more)


def _cancellations(tool: str) -> Iterable[Conversation]:
    """Of one tool: each twice, with ids of both types, and a call served after each."""
    other = TOOLS[tool == "chat"]
    system = {"systemPrompt": "You are cancelled."}
    kinds: tuple[dict[str, Json], ...] = ({}, {"and_": system}, {"id": f"cancelled-{tool}"}, {"id": ""})
    steps: list[Step] = []
    for number, more in enumerate(kinds):
        name = f"{tool} {number}"
        steps += [hanging(tool, name, **more), Cancel(name), served(name, (tool, other)[number % 2])]
    shows = ("cancel:child", "cancel:unanswered", "cancel:others", "system:removed:cancel")
    yield _cancel(f"{tool}", f"A cancelled {tool}.", steps, *shows)
    steps = [hanging(tool, "family", hangs(child=True)), Cancel("family"), served("family", other)]
    yield _cancel(f"{tool}-group", f"A cancelled {tool} whose gemini has started a process.", steps, "cancel:group")
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


def _cancel_stubborn() -> Conversation:
    """It takes a port some time to end what ignores SIGTERM; meanwhile others are served."""
    steps: list[Step] = _stubborn()
    steps += [
        hanging("chat", "quick", answers("Quick.", release="quick")),
        *(Cancel(f"stubborn {tool}") for tool in TOOLS),
    ]
    steps += [Release("quick"), Await("quick"), served("stubborn"), served("stubborn ones", "chat-reply")]
    return _cancel("ignored-term", "Cancelled calls that ignore SIGTERM.", steps, "cancel:ignored-term", aside=True)


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


def _cancel_in_list() -> Conversation:
    """Calls of both tools whose session gemini has not named, while the list of sessions does not end."""
    steps: list[Step] = []
    for tool in TOOLS:
        steps += [_listed(tool), Cancel(f"list of {tool}"), served(f"the list of {tool}", tool)]
    return _cancel("in-list", "Calls cancelled during the list of sessions.", steps, "cancel:child")


def _listed(tool: str) -> Request:
    return call(tool, {"prompt": f"The list of {tool}"}, lists(), name=f"list of {tool}", until="listing")


def _same_looking_ids() -> Conversation:
    """A number and the text that looks like it are two ids, whichever is cancelled and whichever came last."""
    steps: list[Step] = []
    for tool, number in zip((*TOOLS, *TOOLS), range(770_007, 770_011), strict=True):
        kept, gone = (number, str(number)) if number % 2 else (str(number), number)
        names = f"kept {number}", f"gone {number}"
        calls = [hanging(tool, names[0], answers(f"The {names[0]}.", release=names[0]), id=kept)]
        calls += [hanging(tool, names[1], id=gone)]
        steps += calls if number < 770_009 else reversed(calls)
        steps += [Cancel(names[1]), served(names[1]), Notify(CANCELLED, {"requestId": gone}), Request("tools/list")]
        steps += [Release(names[0]), Await(names[0])]
    return _cancel("ids", "Ids that look the same.", steps, "cancel:others")


def _end(id: str, title: str, how: Ending, steps: Sequence[Step], *shows: str) -> Conversation:
    return Conversation(f"end-{id}", title, (*steps, End(how)), "endings", shows)


def _stdin_ends() -> Iterable[Conversation]:
    """During calls of both tools, plain ones, with files and with children; stubborn ones; and a line of replies."""
    shows = ("shutdown:stdin-end:busy", "shutdown:stdin-end:group")
    removed = (*shows, "system:removed:stdin-end", "shutdown:prompt")
    yield _end("stdin-busy", "The end of stdin during calls.", "stdin", _busy(), *removed)
    yield _end(
        "stdin-ignored-term",
        "The end of stdin while gemini ignores SIGTERM.",
        "stdin",
        _stubborn(),
        "shutdown:stdin-end:ignored-term",
    )
    line = [
        call("chat-reply", {"prompt": f"In line {number}"}, hangs(), until=until)
        for number, until in enumerate(("started", "sent"))
    ]
    last = hanging("chat", "the last moment", until="sent")
    title = "The end of stdin right behind a call, while a reply waits for another."
    yield _end("stdin-at-once", title, "stdin", (*line, last), *shows)


def _signals(how: Ending, name: str) -> Iterable[Conversation]:
    group = f"shutdown:{name}:group"
    yield _end(f"{name}-busy", f"{name.upper()} during calls.", how, _busy(), group, *_of_term(how))
    if how == "TERM":
        yield _end(name, "SIGTERM while nothing runs.", how, [served("nothing")], *_of_term(how), "shutdown:prompt")
        yield _end(f"{name}-ignored", "SIGTERM while gemini ignores it.", how, _stubborn(), *_of_term(how))


def _busy() -> list[Step]:
    """Of each tool a plain call, one with a system prompt, one whose gemini has started a process; and a list."""
    plain = [hanging(tool, f"plain {tool}") for tool in TOOLS]
    families = [hanging(tool, f"family of {tool}", hangs(child=True)) for tool in TOOLS]
    return [served("nothing"), *plain, *map(_with_system, TOOLS), *families, _listed("chat")]


def _stubborn() -> list[Step]:
    return [hanging(tool, f"stubborn {tool}", hangs(stubborn=True)) for tool in TOOLS]


def _of_term(how: Ending) -> tuple[str, ...]:
    return ("shutdown:sigterm", "system:removed:sigterm") if how == "TERM" else ()


def _with_system(tool: str) -> Request:
    return hanging(tool, f"system of {tool}", and_={"systemPrompt": "You are interrupted."})
