"""Calls of everything beside others: nothing that a call holds makes it wait, end, or overtake.

In a session that two calls share, one has nothing and the other everything, so that whoever tells sessions apart by
more than their ids lets them overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.interpreter import is_absent
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import fails, hangs, session
from gemini_mcp_conformance.talk.sources import Maker, Sources, sequences
from gemini_mcp_conformance.talk.sources.concurrency import AFTER_FAILURE
from gemini_mcp_conformance.talk.sources.listings import FALLBACK
from gemini_mcp_conformance.talk.steps import AUTO, Await, Cancel, Notify, Release, Request, Step, call, path, told
from gemini_mcp_conformance.talk.together import BESIDE, LATEST

ORDER = 43
SAME = ("concurrency:same-session", "concurrency:crossed")
FOLDER, ANOTHER = "shared", "another"

_DIFFERENCES: tuple[tuple[str, Mapping[str, Json], tuple[Json, ...], tuple[Json, ...]], ...] = (
    ("ids", {}, (), ()),
    ("ids that look alike", {}, (890_007, "890007"), ()),
    ("tokens that look alike", {}, (), ("890008", 890_008)),
    ("tokens that are ids", {}, ("the one", "the other"), ("the other", "the one")),
    ("files", {"file": "You are the one."}, (), ()),
    ("options", {"option": "b-model"}, (), ()),
    ("directories", {"directory": path(ANOTHER)}, (), ()),
    ("files left out", {"file": None}, (), ()),
    ("ids and tokens of nothing", {}, (0, ""), ("", 0)),
)
"""What two calls do not share: arguments of one of them, ids or tokens."""


def conversations(sources: Sources) -> Iterable[Conversation]:
    """For every two tools whose calls can run at once; then for a session, and for the latest one."""
    made = Overlaps(sources)
    names = sources.spec.told_apart
    for one, other in product(names, names):
        yield made.alike(one, other)
    for tool in names:
        yield made.listing(tool)
        if sources.spec.directory(tool) is not None:
            yield made.lists(tool)
        yield made.twins(tool)
    reply = sources.spec.resumes
    if reply in names:
        yield made.in_line("session", reply, session("the shared one"))
    if reply is not None and sources.spec.latest(reply) is not None:
        yield made.in_line("latest", reply, None)
        yield made.beside_named(reply)


class Overlaps(Maker):
    """Calls of one specification at once."""

    phase, prefix = "concurrency", "overlapping-"

    def alike(self, one: str, other: str) -> Conversation:
        """Calls alike in all but their sessions, and meanwhile what fails or is refused; one of them is cancelled."""
        tools = {"one": one, "two": other, "three": other}
        first, second, third = (self._everything(tool, f"{tool} as {place}") for place, tool in tools.items())
        steps = (first, second, *self._meanwhile(), Release(second.name), Await(second.name))
        steps = (*steps, third, Cancel(third.name), Release(first.name), Await(first.name))
        title = f"Calls of `{one}` and `{other}` at once that are alike."
        shows = (*BESIDE, AFTER_FAILURE, "cancel:others", "cancel:unknown", "progress:start", "tools:unknown")
        shows = (*shows, "prompt:long:whole")
        return self.conversation(f"{one}-{other}", title, steps, *shows, files={FOLDER: None})

    def _everything(self, tool: str, name: str) -> Request:
        """A call of everything, with a long prompt and a token, that is held."""
        own: dict[str, Json] = {"session": session(name), "directory": path(FOLDER), "file": "You are one of two."}
        answer = self.answers(f"The answer to {name}.", session(f"{name}, answered"), name)
        asked = self.ask(tool, self.overlong(f"The long question of {name}. "), answer, option="a-model", **own)
        return told(replace(asked, name=name, until="started"), name)

    def _meanwhile(self) -> Iterator[Step]:
        """What ends badly while other calls run, and so must leave them alone."""
        for tool in self.names:
            yield call(tool, self.wrong(tool))
            yield self.ask(tool, f"What of a failing {tool}?", fails(), session=session(f"failing {tool}"))
        yield from (call("no-such-tool", {}), Request("no/such/method", {}))
        yield from (Notify("notifications/cancelled", {"requestId": id}) for id in ("nobody's", 99_000_002))

    def twins(self, tool: str) -> Conversation:
        """Calls that run in pairs and are alike in all but one thing; of each pair one is cancelled.

        Replies are in sessions of their own, or they would wait for each other.
        """
        steps: list[Step] = []
        for number, (what, differs, ids, tokens) in enumerate(_DIFFERENCES):
            name = f"{what} of {tool}"
            both = self._twin(tool, name, "one", {}), self._twin(tool, name, "other", differs)
            own = zip(both, ids or (AUTO, AUTO), tokens or (each.name for each in both), strict=True)
            pair = [told(replace(each, id=id), token) for each, id, token in own]
            gone, kept = pair if number % 2 else reversed(pair)
            steps += pair
            if number == 0:
                # What stands in the stderr of one call is no secret of it because another asks just that.
                script = fails(stderr=f"The question of {name}?\n")
                steps.append(self.ask(tool, f"What fails beside {name}?", script, session=session(f"{name}, failing")))
            steps += [Cancel(gone.name), Request("ping"), Release(name), Await(kept.name)]
        shows = (*BESIDE, "cancel:others", "cancel:child", "cancel:unanswered", "command:once", "rpc:response:id")
        shows = (*shows, "system:isolation", "system:life", "progress:token", "progress:start", "cwd:used")
        shows = (*shows, "error:stderr")
        title = f"Calls of `{tool}` that are alike in all but one thing."
        return self.conversation(f"twins-{tool}", title, steps, *shows, files=dict.fromkeys((FOLDER, ANOTHER)))

    def _twin(self, tool: str, name: str, place: str, differs: Mapping[str, Json]) -> Request:
        """One of a pair. Nobody can tell which gemini is whose by its prompt, so both wait for the same."""
        same: dict[str, Json] = {"directory": path(FOLDER), "file": "You are a twin.", "option": "a-model"}
        own = {**same, **differs, "session": session(f"{name}, {place}")}
        script = self.answers(f"The answer to {name}.", session(name), name)
        return self.ask(tool, f"The question of {name}?", script, name=f"{place}: {name}", until="started", **own)

    def listing(self, tool: str) -> Conversation:
        """A call beside another that waits for the rest of the list of sessions."""
        name = f"{tool} that is looked up"
        entry = f"{self.sources.entry(1, session(name))}\n"
        half = len(entry) // 2
        listing = ({"stdout": entry[:half]}, {"release": name}, {"stdout": entry[half:]})
        asked = self.ask(tool, f"The question of {name}?", self.sources.unnamed(f"The answer to {name}.", *listing))
        held = replace(asked, name=name, until="listing")
        # A reply may wait for the latest session, which only the list names.
        steps = (held, *self._aside(name))
        title = f"Calls beside a `{tool}` that waits for the list of sessions."
        return self.conversation(f"{tool}-list", title, (*steps, Release(name), Await(name)), *BESIDE, *FALLBACK)

    def lists(self, tool: str) -> Conversation:
        """Two lists of sessions at once: a call beside them is cancelled, and then the older of two."""
        older, newer = (self._listed(tool, place) for place in (FOLDER, ANOTHER))
        newest = self._listed(tool, FOLDER, " again")
        # Its list begins behind the call beside it.
        begun = replace(older, scripts=(older.scripts[0].behind({"release": "older"}),), until="started")
        beside = f"beside the lists of {tool}"
        hung = self.ask(self.first, f"No end {beside}", hangs(), session=session(beside), name=beside, until="started")
        steps: list[Step] = [begun, hung, Release("older"), newer, Cancel(beside), Release(older.name)]
        steps += [Await(older.name), newest, Cancel(newer.name), Release(newest.name), Await(newest.name)]
        title = f"Calls of `{tool}` that wait for lists of sessions, of which one is cancelled."
        shows = ("cancel:others", "cancel:child", "concurrency:crossed", *FALLBACK)
        return self.conversation(f"{tool}-lists", title, steps, *shows, files=dict.fromkeys((FOLDER, ANOTHER)))

    def _listed(self, tool: str, place: str, when: str = "") -> Request:
        """A call in a directory whose list of sessions waits."""
        name = f"{tool}, listed in {place}{when}"
        script = self.sources.listed(f"The answer to {name}.", session(name), {"release": name})
        return self.ask(tool, f"Which session, {name}?", script, directory=path(place), name=name, until="listing")

    def in_line(self, kind: str, tool: str, shared: str | None) -> Conversation:
        """Three replies in one session: the second has all that the others have not, and is held as well."""
        # Those behind the first name the directory in which it runs without a word.
        here: dict[str, Json] = {"session": shared, "directory": "."}
        meant = {name: value for name, value in here.items() if value is not None}
        first, second, third = (f"{place} in the line of the {kind}" for place in ("first", "second", "third"))
        everything: dict[str, Json] = {"option": "a-model", "file": "You wait.", **meant}
        front = told(self.held(tool, first, **({"session": shared} if shared else {})), first)
        front = replace(front, id=first)
        long = self.overlong(f"The long question of {second}? ")
        waiting = self.ask(tool, long, self._answer(second), **everything)
        empty = self._empty(tool, shared)
        last = self.ask(tool, f"The question of {third}?", self._answer(third, False), also=empty, **meant)
        steps: list[Step] = [front, told(replace(waiting, name=second, until="sent"), second), *self._aside(second)]
        steps += [Request("ping"), Request("tools/list")]
        steps += [
            replace(last, name=third, until="sent"),
            *self._aside(third),
            Release(first),
            Await(first),
        ]
        steps += [*self._aside(f"{second} again"), Notify("notifications/cancelled", {"requestId": first})]
        steps += [*self._aside(f"{second} once more"), Release(second), Await(second), Await(third)]
        title = f"Replies in one session, the second of which has everything: {kind}."
        shows = (*(LATEST if kind == "latest" else SAME), "concurrency:ping", "concurrency:list", "progress:token")
        return self.conversation(f"line-{kind}", title, steps, *shows)

    def _empty(self, tool: str, shared: str | None) -> Mapping[str, Json]:
        """An empty session, which stands for the latest."""
        name = self.spec.session(tool) or ""
        return {name: ""} if shared is None and name and is_absent(name, "", self.spec.invocation) else {}

    def beside_named(self, tool: str) -> Conversation:
        """A reply without anything while one of everything runs, for which it may wait; then the same once more."""
        steps: list[Step] = []
        for number in range(2):
            name, other = (f"{each} beside the named one, {number}" for each in ("everything", "nothing"))
            own: dict[str, Json] = {"session": session("the named one"), "option": "a-model", "file": "You are named."}
            steps.append(self.held(tool, name, directory=path(FOLDER), **own))
            bare = self.ask(tool, f"The question of {other}?", self._answer(other, False))
            steps += [replace(bare, name=other, until="sent"), *self._aside(other)]
            steps += [Release(name), Await(name), Await(other)]
        title = f"Calls of `{tool}` with nothing beside one with everything."
        shows = (*sequences.shows(self.sources), "concurrency:crossed")
        return self.conversation(f"named-{tool}", title, steps, *shows, files={FOLDER: None})

    def _answer(self, name: str, is_held: bool = True) -> Script:
        return self.answers(f"The answer to {name}.", session(name), name if is_held else None)

    def _aside(self, name: str) -> Iterator[Step]:
        """Calls of another session, in whose time one that should wait would begin."""
        tool = self.spec.begins
        for number in range(2 if tool is not None else 0):
            words = f"Question {number} aside of {name}?"
            yield self.ask(str(tool), words, self.answers(f"Answer {number} aside.", session(f"{number} aside")))
