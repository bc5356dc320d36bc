"""The same request many times: a port must answer the hundredth as the first, also after many failures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle

from gemini_mcp.spec.families import kebab
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.interpreter import refusals
from gemini_mcp_conformance.spec.schema import takes_text
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.outcomes.failures import EXITS, exits_with_meaning
from gemini_mcp_conformance.talk.plays import ends, hangs, session
from gemini_mcp_conformance.talk.sources import Maker, Sources, sequences
from gemini_mcp_conformance.talk.steps import Await, Cancel, Notify, Release, Request, Step, call, path, told

ORDER = 75
MANY = 105
"""Requests that cost a port hardly anything."""
NOTICES = 66
"""Notifications: more than a table of 64 holds."""
CALLS = 260
"""Calls that start nothing: more than a byte can count."""
SOME = 18
"""Calls that fail: more than a pool is likely to have places, in case it never gets them back."""
TOLD = 36
"""Calls that are told of their progress: more than a table of 32 tokens holds."""
IN_A_ROW = 4
"""The same failures, behind fewer of which some clients would try no more for a while."""
FILE, NOWHERE = "a-folder/a-file", "a-folder/nowhere"
FEW, FAMILIES = 6, 2
ALIKE: Mapping[str, Json] = {"option": "one-model", "file": "You are the same.", "directory": path()}
WAITING = 30
"""Further calls that are cancelled, whether or not they have begun: in all, more than a port may have places for. Only
their prompts tell their runs from those of others."""


def conversations(sources: Sources) -> Iterable[Conversation]:
    """What is cheap first."""
    made = Counts(sources)
    yield made.requests()
    yield made.calls()
    yield made.told()
    for tool in sources.spec.names:
        yield made.refusals(tool)
        yield made.failures(tool)
        yield made.cancellations(tool)


def _meaningless(sources: Sources) -> Sequence[int]:
    """The smallest and the largest exit codes without a sentence of their own that other failures do not have."""
    known = {*exits_with_meaning(sources.spec), *EXITS}
    every = [code for code in range(1, 256) if code not in known]
    return [*every[:SOME], *every[-SOME:]]


class Counts(Maker):
    """Requests of one specification, again and again."""

    phase, prefix = "counts", "many-"

    def __init__(self, sources: Sources) -> None:
        super().__init__(sources)
        self.exits = cycle(_meaningless(sources))

    def requests(self) -> Conversation:
        """Pings, lists and what is refused. Of two calls before them all, one is cancelled behind them."""
        hung, held = "hung before many", "held before many"
        steps: list[Step] = [
            self.ask(self.last, "No end?", hangs(), session=session(hung), name=hung, until="started"),
            self.held(self.first, held, session=session(held)),
        ]
        for number in range(MANY):
            steps += [Request("ping"), Request("tools/list")]
            if number % 10 == 0:
                steps += self._wrong(number)
        steps += [*([Notify("notifications/no-such")] * NOTICES), Cancel(hung), Request("tools/list")]
        steps += [Release(held), Await(held)]
        shows = (
            "lifecycle:ping",
            "tools:order",
            "rpc:error:method",
            "rpc:notification:unanswered",
            "tools:unknown",
            "arguments:refused:not-started",
            "cancel:child",
            "cancel:unanswered",
            "cancel:others",
        )
        listed = tuple(f"tools:{tool}" for tool in self.names)
        return self.conversation("requests", f"{MANY} pings and lists.", steps, *shows, *listed)

    def _wrong(self, number: int) -> Iterator[Request]:
        tool = self.names[number // 10 % len(self.names)]
        yield Request("no/such/method", {})
        yield call("no-such-tool", self.arguments(tool, "x"))
        yield call(tool, {name: {"not": "allowed"} for name in self.spec.tools[tool].required})

    def refusals(self, tool: str) -> Conversation:
        """Refusals of each kind in a row, also of a tool that does not exist, and a call that is served behind each."""
        steps: list[Step] = []
        kinds = {"no right argument": call(tool, self.wrong(tool)), "no such tool": call("no-such-tool", {})}
        for number, (name, value) in enumerate(self._refused(tool)):
            if self.sources.falls_to(tool, number):
                given = {**self.arguments(tool, "Who is refused again?"), name: value}
                kinds[f"a wrong {name}, {number}"] = call(tool, given)
        for kind, refused in kinds.items():
            steps += [refused] * SOME
            words = f"Served behind {kind}."
            steps += [self.ask(each, f"Which {each} comes behind {kind}?", self.answers(words)) for each in self.names]
        shows = ("concurrency:after-failure", "arguments:refused:not-started", "tools:unknown", "command:once",
                 "cwd:default")  # fmt: skip
        title, files = f"{SOME} refusals of {tool} of each kind.", {FILE: "A file."}
        return self.conversation(f"refusals-{tool}", title, steps, *shows, files=files)

    def _refused(self, tool: str) -> Iterator[tuple[str, Json]]:
        """An argument, and a text for it that no port serves: a directory that is none, or what a rule forbids."""
        spec = self.spec
        for name, schema in spec.tools[tool].properties.items():
            if name == spec.directory(tool):
                yield from ((name, path(FILE)), (name, path(NOWHERE)))
            elif takes_text(schema):
                refused = (text for text in self.forbidden(name) if refusals(name, text, spec.invocation))
                yield from ((name, text) for text in refused)

    def calls(self) -> Conversation:
        """Calls that start nothing, and behind them one that does."""
        steps: list[Step] = [call("no-such-tool", {})] * CALLS
        steps += [self.ask(tool, f"Behind {CALLS} calls of {tool}?", self.answers("Served.")) for tool in self.names]
        title = f"{CALLS} calls of an unknown tool."
        return self.conversation("calls", title, steps, "tools:unknown", "command:once")

    def told(self) -> Conversation:
        """Calls with a token each: first lists that name nobody, and errors with warnings; then what is usual."""
        steps: list[Step] = []
        keys = self.spec.outcome.answer
        for number in range(TOLD):
            tool, name = self.names[number // 2 % len(self.names)], f"number {number}"
            error = {keys["error"]: {"message": "No."}, keys["warnings"]: [f"Warned by {name}."]}
            scripts = (
                self.sources.unnamed(f"Nobody names {name}.", {"stdout": "No sessions.\n"}),
                self.sources.listed(f"A list names {name}.", session(name)),
                Script("error", ({"stdout": json.dumps(error)},)),
                self.answers(f"The answer to {name}.", session(name)),
            )
            script = scripts[number // FEW % len(scripts)]
            # Who stays with what several calls in a row have had, shows it in those behind them.
            alike = dict(ALIKE, session=session("told")) if script.id == "answers" else {}
            asked = self.ask(tool, f"The question of {name}?", script, **alike)
            steps.append(told(asked, name))
        steps += [self.ask(tool, f"Nothing told of {tool}?", self.answers("Untold.")) for tool in self.names]
        shows = (
            *("rpc:response:id", "progress:start", "progress:token"),
            *("fallback:list-sessions", "fallback:none", "result:warnings"),
            *sequences.shows(self.sources),
            "progress:unasked",
        )
        return self.conversation("told", f"{TOLD} calls with progress.", steps, *shows)

    def failures(self, tool: str) -> Conversation:
        """Failures in a row, then calls that are served."""
        steps: list[Step] = []
        for number in range(SOME):
            stderr = f"It failed in the way {number}.\n" if number % 2 else ""
            end: Json = {"exit": next(self.exits)}
            script = (
                self.sources.ends_behind_answer(end, stderr, session("failed")) if number % 3 else ends(end, stderr)
            )
            steps.append(self.ask(tool, f"Failure {number}", script, file="Be kind.", option="a-model"))
        for number, code in enumerate(exits_with_meaning(self.spec)):
            if self.sources.falls_to(tool, number):
                again = self.ask(
                    tool, f"How often does it end with {code}?", ends({"exit": code}, "Again.\n"), option="a-model"
                )
                steps += [again] * IN_A_ROW
        steps += [
            self.ask(each, f"After the failures of {tool}", self.answers("Served."), option="a-model")
            for each in self.names
        ]
        shows = ("concurrency:after-failure", "command:once", "error:exit", "system:removed:failure")
        options = (f"command:{kebab(each)}:{kebab(name)}" for each in self.names for name in self.spec.options(each))
        shows = (*shows, "error:stderr", "error:stderr:empty", "error:is-error", *options)
        return self.conversation(f"failures-{tool}", f"{SOME} failures of {tool}.", steps, *shows)

    def cancellations(self, tool: str) -> Conversation:
        """Calls that run at the same time and are cancelled, the oldest first; with the same arguments each."""
        steps: list[Step] = []
        waiting = WAITING if tool in self.spec.told_apart else 0
        for number in range(FEW + waiting):
            name, until = f"{number} of the cancelled {tool}", "started" if number < FEW else "sent"
            how: dict[str, Json] = {"session": session(name), "name": name, "until": until}
            # The last ones before the rest have started something that ignores SIGTERM.
            family = FAMILIES <= number < FEW
            steps.append(self.ask(tool, f"No end of {name}", hangs(child=family), **how))
        names = [step.name for step in steps if isinstance(step, Request)]
        steps += [*(Cancel(name, "sent") for name in names), *map(Await, names)]
        steps.append(self.ask(tool, "Served after them", self.answers("Served after them.")))
        shows = ("cancel:child", "cancel:group", "cancel:unanswered", "cancel:others")
        return self.conversation(f"cancelled-{tool}", f"{FEW + waiting} cancelled calls of {tool}.", steps, *shows)
