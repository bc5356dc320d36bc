"""Clients that read late or write all at once: what fills every buffer must wait, and arrive whole and in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import hangs, session
from gemini_mcp_conformance.talk.sources import Maker, Sources
from gemini_mcp_conformance.talk.steps import Await, Cancel, Listen, Release, Request, Step, call

ORDER = 65
CALLS = 5
LISTS = 200
ANSWER = "All work and no play. 서울 👍 "
LATE, SOON = 4.0, 1.0
"""Seconds for which nobody reads, and until the answers fill every buffer."""
IDLE = 16.0
"""Seconds for which nobody asks for anything: programs like to give up after ten or fifteen."""
LOGS = "stdio:stderr:private"
TIMES, MORE = 12_000, 36_000
"""How often an answer repeats it: some hundred kilobytes, more than a pipe and its reader hold, or over a megabyte."""

SHOWN = (
    *("stdio:framing", "stdio:stdout", "stdio:encoding", "result:text", "result:large-stdout"),
    *("concurrency:crossed", "rpc:response:id"),
)


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Lists, nothing at all, calls side by side, and calls one after the other."""
    made = Reading(sources)
    yield made.lists()
    yield from made.idle()
    yield made.together()
    if sources.spec.told_apart:
        yield made.side_by_side()
        yield made.released()
        yield made.one_by_one()


class Reading(Maker):
    """Requests of one specification whose answers are read late."""

    phase, prefix = "reading", "unread-"

    def conversation(self, id: str, title: str, steps: Iterable[Step], *shows: str, **more: Json) -> Conversation:
        """One over pipes: how much a connection holds is not the port's affair."""
        return super().conversation(id, title, steps, *shows, stdio=True, **more)

    def lists(self) -> Conversation:
        """Answers that are short, and so many that no pipe holds them all."""
        names = [f"unread {number}" for number in range(LISTS)]
        asked = (Request("tools/list", id=name, name=name, until="sent") for name in names)
        steps = (Listen(False), *asked, Listen(True, LATE), Request("ping"))
        shows = ("rpc:response:id", "stdio:framing", "tools:order")
        return self.conversation("lists", "Lists that are read late.", steps, *shows, aside=True)

    def together(self) -> Conversation:
        """Messages that come at once, as from a client that writes all that it has; a call is cancelled among them."""
        gone, names = "gone at once", [f"{tool}, together" for tool in self.names]
        endless = self.ask(self.last, "No end, and no time", hangs(child=True), session=session(gone), name=gone)
        calls = [
            self.ask(tool, f"The question of {name}?", self.answers(f"For {name}."), session=session(name), name=name)
            for tool, name in zip(self.names, names, strict=True)
        ]
        others = (
            Request("tools/list"),
            Request("no/such/method"),
            call("no-such-tool", self.arguments(self.first, "x")),
        )
        held = (replace(each, until="held") for each in (*calls, *others))
        steps = (replace(endless, until="held"), Cancel(gone, "sent"), Await(gone), *held, Request("ping"))
        shows = ("cancel:child", "cancel:group", "cancel:unanswered", "rpc:response:id")
        shows = (*shows, "concurrency:lost", "concurrency:crossed")
        title = "Messages that are written at once."
        return self.conversation("together", title, (*steps, *map(Await, names)), *shows)

    def idle(self) -> Iterable[Conversation]:
        """Nothing is asked for a while, where a call runs or none does; then all is as before."""
        held = self.ask(self.first, "Who waits?", self.answers("I do.", release="idle"), name="idle", until="started")
        served = [self.ask(tool, f"Who answers to {tool}?", self.answers("I do.")) for tool in self.names]
        again = (*served, Request("ping"), Request("tools/list"))
        idle = (Listen(False), Listen(True, IDLE))
        shows = ("tools:order", "result:text", "command:once")
        title = "Nobody asks for anything for a while."
        yield self.conversation("idle", title, (*served, *idle, *again), *shows)
        title, steps = f"{title[:-1]}, and a call runs.", (*served, held, *idle, Release("idle"), Await("idle"))
        yield self.conversation("idle-busy", title, (*steps, *again), *shows)

    def side_by_side(self) -> Conversation:
        """When the buffers are full a call is cancelled, which the port may notice as late as it is read."""
        calls = [step for number in range(CALLS) for step in self._asked(number)]
        how: dict[str, Json] = {"session": session("unread"), "name": "unread", "until": "started"}
        endless = self.ask(self.spec.told_apart[0], "No end of what nobody reads", hangs(), **how)
        late = [Request(method, until="sent", name=f"late {method}") for method in ("ping", "tools/list", "no/such")]
        unread = (Listen(False), *calls, Listen(False, SOON), Cancel(endless.name, "sent"), *late)
        unread = (*unread, Listen(True, LATE - SOON))
        held = self.held(self.spec.told_apart[0], "held meanwhile", session=session("held meanwhile"))
        # A port may read none of the calls until it is read itself.
        asked = (endless.name, *(each.name for each in late), *(f"call {number}" for number in range(CALLS)))
        steps = (held, endless, *unread, *map(Await, asked), Release(held.name), Await(held.name), Request("ping"))
        shows = (*SHOWN, "cancel:child", "cancel:unanswered", "concurrency:ping", "concurrency:list")
        title = "Calls whose answers are read late."
        return self.conversation("side-by-side", title, steps, *shows, aside=True)

    def released(self) -> Conversation:
        """Answers that come at the same time, while the port has nothing else to say."""
        calls = [
            replace(asked, scripts=tuple(script.behind({"release": "unread"}) for script in asked.scripts))
            for asked, *_ in map(self._asked, range(1, CALLS))
        ]
        started = (replace(each, until="started") for each in calls)
        steps = (*started, Listen(False), Release("unread"), Listen(True, LATE), *(Await(each.name) for each in calls))
        title, shows = "Calls that end while nobody reads.", (*SHOWN, "concurrency:lost")
        return self.conversation("released", title, (*steps, Request("ping")), *shows, aside=True)

    def one_by_one(self) -> Conversation:
        steps: list[Step] = []
        for number in range(CALLS):
            asked, *others = self._asked(number)
            # Each answer fills every buffer for a while, and what is asked behind it comes all the same.
            steps += [Listen(False), asked, *others, Listen(True, SOON), Await(asked.name)]
        title = "Calls whose answers are read late, one by one."
        steps.append(Request("ping"))
        return self.conversation("one-by-one", title, steps, *SHOWN, LOGS, aside=True)

    def _asked(self, number: int) -> list[Request]:
        """A call whose answer is long, a ping and a list."""
        tool, name = self.spec.told_apart[number % len(self.spec.told_apart)], f"call {number}"
        text = f"{number} {ANSWER * (TIMES if number else MORE)}"
        answer = self.answers(text, session(name), ensure_ascii=number % 2 == 0)
        arguments = self.arguments(tool, f"The question of {name}?", session=session(name))
        params: dict[str, Json] = {"name": tool, "arguments": arguments, "_meta": {"progressToken": name}}
        others = [Request(method, until="sent", name=f"{method} {number}") for method in ("ping", "tools/list")]
        return [Request("tools/call", params, (answer,), name, "sent"), *others]
