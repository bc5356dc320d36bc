"""A short conversation in each revision of the protocol, because a defect may show in only one of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from gemini_mcp.spec.values import Json, table
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.echoes import KEY
from gemini_mcp_conformance.talk.messages import CAPABILITIES, CLIENT, CLIENT_INFO, NO_CURSORS, VERSION, handshake
from gemini_mcp_conformance.talk.plays import SESSION, fails, hangs, session
from gemini_mcp_conformance.talk.sources import Maker, Sources
from gemini_mcp_conformance.talk.sources.listings import FALLBACK
from gemini_mcp_conformance.talk.steps import AUTO, Await, Cancel, Notify, Release, Request, Step, call, path, told

ORDER = 50
FOLDER = "elsewhere"
TEXT = '{"질문":"🙂", "in":[1,2.50]}\n'
"""An answer that looks like JSON and is a text."""
UNKNOWN = "2099-01-01"
NEAR = ("{oldest}-draft", "{newest}1")
"""Revisions that do not exist and are close to those that do; as texts they lie between them, or behind them all."""
LIFECYCLE = ("lifecycle:initialize", "lifecycle:version:supported", "lifecycle:capabilities:tools", "lifecycle:ping")
SHOWN = ("error:prompt", "error:secrets", "error:stderr", "progress:unasked")
STATELESS = (
    *("stateless:discover", "stateless:no-handshake", "stateless:result-type", "stateless:server-info"),
    *("stateless:caching", "stateless:cancelled", "arguments:optional:null"),
)


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Every revision of the specification; a port that does not speak one declines it."""
    made = Revisions(sources)
    for revision in sources.spec.manifest.handshake_revisions:
        yield made.with_handshake(revision)
    for revision in (UNKNOWN, *made.near()):
        yield made.unknown(revision)
    for revision in sources.spec.manifest.stateless_revisions:
        yield made.stateless(revision)
        yield made.incomplete(revision)


class Revisions(Maker):
    """What is said in each revision of one specification."""

    phase, prefix = "revisions", "revision-"

    def with_handshake(self, revision: str) -> Conversation:
        steps = (Request("ping"), *self._steps(), *self._false_ids(revision), Request("ping"))
        shows, title = (*LIFECYCLE, *FALLBACK, *SHOWN), f"The revision {revision}."
        return self.conversation(revision, title, steps, *shows, revision=revision, files={FOLDER: None})

    def near(self) -> Iterable[str]:
        revisions = sorted(self.spec.manifest.handshake_revisions)
        return (form.format(oldest=revisions[0], newest=revisions[-1]) for form in NEAR if revisions)

    def unknown(self, revision: str) -> Conversation:
        id, title = f"unknown-{revision}", "A client of a revision that does not exist."
        # A client may ask whether anybody is there before it greets.
        steps: list[Step] = [Request("ping"), Request("initialize", handshake(revision))]
        steps += [Notify("notifications/initialized"), *(self._told(tool) for tool in self.names)]
        shows = ("lifecycle:version:unsupported", "progress:start", "progress:token")
        return self.conversation(id, title, steps, *shows, greet=False)

    def stateless(self, revision: str) -> Conversation:
        steps = (Request("server/discover"), *self._steps(), *self._false_ids(revision), *self._cancelled())
        steps = (*steps, Request("server/discover"))
        shows, title = (*STATELESS, *FALLBACK, *SHOWN), f"The revision {revision}."
        return self.conversation(revision, title, steps, *shows, revision=revision, files={FOLDER: None})

    def incomplete(self, revision: str) -> Conversation:
        """Requests that name a version and no capabilities, or a version that does not exist; then among others."""
        client = {CLIENT_INFO: dict(CLIENT)}
        steps, again = list[Step](), list[Step]()
        asked = (("tools/list", None), ("server/discover", None), *self._calls())
        for number, (method, params) in enumerate(asked):
            lacking = Request(method, {**table(params), "_meta": {VERSION: revision, **client}}, bare=True)
            meta: Json = {CAPABILITIES: {}, **client, VERSION: UNKNOWN}
            unknown = Request(method, {**table(params), "_meta": meta}, bare=True)
            steps += [lacking, unknown, replace(unknown, id=f"{method} of {number}")]
            again += [Request(method, params, self._scripts(method)), lacking, unknown]
        unheard: Json = {"requestId": "nobody", "_meta": {CAPABILITIES: {}, **client, VERSION: UNKNOWN}}
        steps += [Notify("notifications/no-such", unheard), Notify("notifications/cancelled", unheard)]
        between = f"{self.spec.manifest.handshake_revisions[-1][:4]}-12-31"
        for near in (f"{revision}1", revision.replace("-0", "-"), f"0{revision}", between):
            steps.append(Request("tools/list", {"_meta": {VERSION: near, CAPABILITIES: {}, **client}}, bare=True))
        # Nobody has to say who asks.
        nameless = Request("tools/list", {"_meta": {VERSION: revision, CAPABILITIES: {}}}, bare=True)
        id, title = f"{revision}-incomplete", "Requests that lack what they need."
        shows = ("stateless:meta", "stateless:version", "stateless:no-handshake", "rpc:notification:unanswered")
        held = self.held(self.first, "served all the same", session=session("served all the same"))
        # A client of another era may ask for it; a call that runs is answered in its own.
        foreign = Request("ping", bare=True)
        every = (*steps, nameless, Request("tools/list"), held, *again, foreign, Release(held.name), Await(held.name))
        return self.conversation(id, title, every, *shows, revision=revision)

    def _scripts(self, method: str) -> tuple[Script, ...]:
        return (self.answers("Complete, and served."),) if method == "tools/call" else ()

    def _calls(self) -> Iterable[tuple[str, Json]]:
        for tool in self.names:
            yield "tools/call", {"name": tool, "arguments": self.arguments(tool, f"An incomplete {tool}")}

    def _steps(self) -> Iterable[Step]:
        """Every tool, what it refuses and how it fails, ids, progress, a call beside another, and a cancellation."""
        yield from (Request("tools/list"), Notify("notifications/no-such"))
        yield from (Request("tools/list", {"cursor": cursor}) for cursor in NO_CURSORS)
        # No progress of a list is told, nor under its token any of the call behind it.
        yield Request("tools/list", {"_meta": {"progressToken": "of a list"}})
        yield Request("no/such/method", {}, id="unknown")
        for tool in self.names:
            yield from self._of_tool(tool)
        yield self.ask(self.first, "What does nobody declare?", self.answers("This."), also={"x-note": ["of", None]})
        yield call("no-such-tool", self.arguments(self.first, "x"), self.answers("x"))
        yield Request("tools/call", {"name": self.first, "arguments": ["prompt"]})
        yield from self._beside()

    def _false_ids(self, revision: str) -> Iterable[Step]:
        """The ids that many languages take for none, with another kind of request in each revision."""
        manifest = self.spec.manifest
        place = (*manifest.handshake_revisions, *manifest.stateless_revisions).index(revision)
        unknown = call("no-such-tool", self.arguments(self.first, "x"))
        failing = self.ask(self.first, "A failure of no id", fails(1))
        served = self.ask(self.last, "A question of no id", self.answers("An answer."))
        kinds = (unknown, failing, Request("no/such/method", {}), served, self._refused(self.last))
        for number, id in enumerate((0, "")):
            yield replace(kinds[(place + number) % len(kinds)], id=id)

    def _of_tool(self, tool: str) -> Iterable[Step]:
        ask, answers = self.ask, self.answers
        more: Json = {"session": SESSION, "option": "another-model"} if self.spec.session(tool) else {}
        yield ask(tool, f"The {tool}'s question?", answers(f"The {tool}'s answer.", session(tool)), **more)
        yield ask(tool, f"The failing {tool}", fails(1), **more)
        yield self._leaking(tool, **more)
        yield self._refused(tool)
        for name in self.spec.tools[tool].optional:
            yield call(tool, {**self.arguments(tool, f"Null for the {tool}"), name: None}, answers("Of null."))
        yield ask(tool, f"After a failed {tool}", answers(TEXT), id=f"text {tool}", **more)
        yield ask(tool, f"What warns {tool}?", self._warned(), **more)
        unlisted = self.sources.unnamed("Warned of.", {"exit": 1}, warnings=["Something else may be wrong."])
        yield ask(tool, f"What warns {tool} outside a session?", unlisted)
        yield self._told(tool, **more)
        listed = self.sources.listed("Look.", session(tool))
        yield ask(tool, f"Which session has {tool}?", listed, directory=path(FOLDER))

    def _told(self, tool: str, **more: Json) -> Request:
        """A call whose progress is told."""
        return told(self.ask(tool, f"The {tool}'s progress", self.answers("Progress."), **more), f"of {tool}")

    def _leaking(self, tool: str, **more: Json) -> Request:
        """A failure that repeats the prompt and shows a key, on stderr and in its message."""
        words = f"The {tool}'s question that nobody else may read?"
        message = json.dumps({self.spec.outcome.answer["error"]: {"message": f"refused: {words} with {KEY}"}})
        script = Script("leaks", ({"stderr": f"cannot use {KEY}\nfor {words}\n"}, {"stdout": message}, {"exit": 1}))
        return self.ask(tool, words, script, **more)

    def _warned(self) -> Script:
        """An empty answer of a model, with a warning."""
        document = self.sources.document("", SESSION, warnings=["Something may be wrong."])
        return Script("warned", ({"stdout": json.dumps(document)},))

    def _refused(self, tool: str) -> Request:
        """A call that lacks what it requires, or has a value that no schema allows."""
        required = self.spec.tools[tool].required
        names = required or tuple(self.spec.tools[tool].properties)[:1]
        given = {**self.arguments(tool), **{name: {"not": "allowed"} for name in names}}
        return call(tool, given, id=f"refused {tool}")

    def _beside(self) -> Iterable[Step]:
        """A call is held, another is cancelled and a third served; then the first is answered."""
        ask, answers, first = self.ask, self.answers, self.first
        held = answers("Held.", session("held"), "held")
        holding = self.spec.resumes or first
        yield ask(holding, "The held question", held, session=SESSION, name="held", until="started")
        endless: dict[str, Json] = {"session": session("cancelled"), "name": "cancelled", "until": "started"}
        yield ask(first, "The cancelled question", hangs(True), id="c", **endless)
        yield from (Cancel("cancelled"), Request("tools/list"))
        if self.spec.resumes:
            waiting: dict[str, Json] = {"session": SESSION, "name": "waiting", "until": "sent"}
            cancelled = ask(self.spec.resumes, "The question that waits and is cancelled", hangs(), **waiting)
            yield told(cancelled, "the waiting one")
            behind: dict[str, Json] = {**waiting, "name": "behind"}
            yield ask(self.spec.resumes, "The question behind it", answers("Behind.", SESSION), **behind)
        yield ask(first, "The quick question", answers("Quick.", session("quick")), session=session("quick"))
        yield from [Cancel("waiting")] if self.spec.resumes else []
        yield from (Release("held"), Await("held"))
        yield from [Await("behind")] if self.spec.resumes else []

    def _cancelled(self) -> Iterable[Step]:
        """A call that is cancelled during its list of sessions, and one of every tool that asked for progress."""
        lists = self.sources.unnamed("Unlisted.", {"hang": True}, id="lists")
        yield self.ask(self.first, "Whose list is cancelled?", lists, name="list", until="listing")
        yield Cancel("list")
        for tool in self.names:
            arguments = self.arguments(tool, f"Whose progress is cancelled, {tool}?")
            params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": tool}}
            # An id of each type.
            id: Json = f"cancelled {tool}" if tool == self.last else AUTO
            yield Request("tools/call", params, (hangs(),), f"progress {tool}", "started", id=id)
            after = self.ask(tool, f"After the cancelled {tool}", self.answers("Yes."))
            yield from (Request("server/discover"), Cancel(f"progress {tool}"), after)
