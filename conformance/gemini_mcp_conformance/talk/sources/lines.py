"""Replies that wait in line: in one session, in sessions that look alike, and in the latest one of a directory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from gemini_mcp.spec.families import kebab
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import SESSION, hangs, session
from gemini_mcp_conformance.talk.showing import shown_by
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.steps import Arrange, Await, Cancel, Release, Request, Step, call, path
from gemini_mcp_conformance.talk.together import BESIDE, CROWD, ELSEWHERE, LATEST, Together

ORDER = 40
OTHERS = 66
"""Sessions that come between two replies of one, and calls behind one that runs: more than a table of 64 holds."""
ALIKE = ("Session-7", "session-7", "Session-07", "Session-70", "Session", "ession-7", "Session_7", "Session-\uff17")
"""Ids that look nearly the same."""
ODD = ("s" * 65, "long " * 60, "한국어-👍", "a/b:c", "UPPER and lower")
"""Ids that software may shorten, encode or take apart."""


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Replies in sessions that are named, then replies to the latest one."""
    made, tool = Lines(sources), sources.spec.resumes
    if tool is None or not made.names:
        return
    if tool in made.names:
        yield from made.of_sessions(tool)
    if sources.spec.latest(tool) is not None:
        yield from made.of_latest(tool)


class Lines(Together):
    """Replies of one specification that wait for each other, and those that do not."""

    def of_sessions(self, tool: str) -> Iterable[Conversation]:
        same, different = {"session": SESSION}, {"session": f"{SESSION[:-1]}0"}
        yield self.pair("sessions", "Replies in different sessions.", ELSEWHERE,
                         self.held(tool, "reply", **same), self.held(tool, "other", "reply", **different))  # fmt: skip
        # Where a pattern changes the ids, several may become the same.
        held, *alike = {json.dumps(self.arguments(tool, session=id)): id for id in ALIKE}.values()
        others = [self.quick(tool, f"alike {number}", session=id) for number, id in enumerate(alike)]
        yield self.pair("sessions-alike", "Replies in sessions whose ids look nearly the same.", ELSEWHERE,
                         self.held(tool, "reply", session=held), *others)  # fmt: skip
        others = [self.quick(tool, f"between {number}", session=session(f"o{number}")) for number in range(OTHERS)]
        endless = self.asked(tool, "no end", hangs(), session=session("no end"), until="started")
        yield self.pair("same-session-later", "Replies in one session, and one without end, and others behind them.",
                         ("concurrency:same-session", "concurrency:crossed", "cancel:child"),
                         self.held(tool, "first", **same), endless, *others, *self.behind(tool, "second", **same),
                         Cancel(endless.name))  # fmt: skip
        yield self.pair("same-session-cancelled", "Replies in one session, of which one is cancelled while it waits.",
                         ("concurrency:same-session", "cancel:others", "system:removed:cancel", "system:leak"),
                         self.held(tool, "first", **same),
                         *self.behind(tool, "second", file="You wait.", **same),
                         *self.behind(tool, "third", **same), Cancel("second"),
                         *self.behind(tool, "fourth", **same), *self.behind(tool, "last", **same),
                         # Whoever counts those that have left the line may let the next one in.
                         Cancel("last"), *self.behind(tool, "fifth", **same))  # fmt: skip
        yield self.pair("same-session-left", "Replies in one session, behind one that has left its line.",
                         ("concurrency:same-session", "cancel:others"),
                         self.held(tool, "first", **same), *self.behind(tool, "second", **same),
                         Cancel("second"), *self.behind(tool, "third", **same))  # fmt: skip
        waiting = [self.asked(tool, f"waiting {number}", self.answers(f"The answer to number {number}."), until="sent",
                             **same) for number in range(CROWD)]  # fmt: skip
        meanwhile = (Request("ping"), Request("tools/list"), Release("first"))
        steps = (self.held(tool, "first", **same), *waiting, *meanwhile, *(Await(each.name) for each in waiting))
        yield self.conversation("same-session-full", f"{CROWD} replies that wait in one session.", steps,
                                "concurrency:ping", "concurrency:list", "concurrency:same-session")  # fmt: skip
        yield self._odd_sessions(tool)
        yield self._lines(tool, "sessions", *({"session": session(side)} for side in ("left", "right")))
        first = self.held(tool, "first", **same)
        second, third = (replace(self.held(tool, name, **same), until="sent") for name in ("second", "third"))
        # Those who wait may be served in any order.
        in_turn = (first, second, third, Release("first"), Await("first"), *self.behind(tool, "fourth", **same),
                   Release("second"), *self.aside("aside of second", "second / aside", "second / aside again"),
                   Release("third"), Await("second"), Await("third"))  # fmt: skip
        yield self.conversation("same-session-in-turn", "Replies behind one that had to wait itself.", in_turn,
                                "concurrency:same-session", "concurrency:crossed")  # fmt: skip
        given = dict.fromkeys(shown_by(self.spec, tool, *self.spec.options(tool), *self.spec.files(tool)))
        yield self.pair("same-session", "Replies in one session, four of them.",
                         ("concurrency:same-session", "concurrency:crossed", *given),
                         self.held(tool, "first", option="the-first-model", file="Be first.", **same),
                         call(tool, {**self.arguments(tool, **same), **self.wrong(tool)}, until="sent"),
                         *self.behind(tool, "second", option="a-model", file="Be kind.", **same),
                         *self.behind(tool, "third", **same), *self.behind(tool, "fourth", **same))  # fmt: skip

    def _odd_sessions(self, tool: str) -> Conversation:
        """Two replies in each of several sessions whose ids are unusual."""
        steps: list[Step] = []
        ids = {json.dumps(self.arguments(tool, session=id)): id for id in ODD}.values()
        for number, id in enumerate(ids):
            name, waits = f"odd session {number}", f"behind odd session {number}"
            steps += [self.held(tool, name, session=id), *self.behind(tool, waits, session=id)[:2]]
            steps += [Release(name), Await(name), Await(waits)]
        title, shows = "Replies in sessions with unusual ids.", ("concurrency:same-session", "concurrency:crossed")
        return self.conversation("sessions-odd", title, steps, *shows)

    def _lines(self, tool: str, kind: str, *sides: Mapping[str, Json]) -> Conversation:
        """Replies that wait in two lines: the turn comes in the one, while in the other somebody waits longer."""
        steps: list[Step] = []
        fronts = [f"front of line {number}" for number in range(len(sides))]
        for name, side in zip(fronts, sides, strict=True):
            waits = self.asked(tool, f"behind {name}", self.answers("My turn."), until="sent", **side)
            steps += [self.held(tool, name, **side), waits]
        for name in reversed(fronts):
            steps += [Release(name), Await(name), Await(f"behind {name}")]
        title, files = "Replies that wait in two lines.", {"one": None, "other/one": None}
        shows = ("concurrency:other-session", "concurrency:same-session", "concurrency:latest", "concurrency:crossed")
        return self.conversation(f"lines-of-{kind}", title, steps, *shows, files=files)

    def of_latest(self, tool: str) -> Iterable[Conversation]:
        here, there = path("one"), path("other/one")
        yield self.pair("latest-by-default", "Replies to the latest session where the port runs.", LATEST,
                         self.held(tool, "first"), *self.behind(tool, "second"))  # fmt: skip
        # The list names the newest session, which the next reply could change.
        late = self.sources.listed("The answer to first.", session("listed late"), {"release": "first"})
        yield self.pair("latest-in-list", "A reply to the latest session while another one's session is looked up.",
                         LATEST, self.asked(tool, "first", late, until="listing"),
                         *self.behind(tool, "second"))  # fmt: skip
        if self.begins is not None:
            begin = self.begins
            steps = (self.quick(begin, "before"), self.held(begin, "running"), self.quick(tool, "meanwhile"),
                     Release("running"), Await("running"), self.held(tool, "reply"),
                     self.held(begin, "beside", "reply"), Release("reply"), Await("reply"))  # fmt: skip
            title = "A reply to the latest session, and another call beside it."
            yield self.conversation("latest-and-chat", title, steps, *BESIDE, f"command:{kebab(tool)}:latest")
        if self.spec.directory(tool) is None:
            return
        yield self.pair("latest-elsewhere", "Replies to the latest sessions of two directories.", ELSEWHERE,
                         self.held(tool, "here", directory=here),
                         self.held(tool, "there", "here", directory=there))  # fmt: skip
        yield self.pair("latest", "Replies to the latest session of one directory.", LATEST,
                         self.held(tool, "first", directory=here), *self.behind(tool, "second", directory=here),
                         *self.behind(tool, "third", directory=here))  # fmt: skip
        yield self.pair("latest-by-names", "Replies to the latest session of one directory, by its names.", LATEST,
                         self.held(tool, "first"), *self.behind(tool, "second", directory=path()),
                         *self.behind(tool, "third", session=self.spec.latest(tool)))  # fmt: skip
        yield self.pair("latest-cancelled", "Replies to the latest session, of which one is cancelled as it waits.",
                        (*LATEST, "cancel:others"), self.held(tool, "first"), *self.behind(tool, "second"),
                        *self.behind(tool, "third"), Cancel("second"), *self.behind(tool, "fourth"))  # fmt: skip
        yield self._by_paths(tool)
        yield self._lines(tool, "directories", {"directory": here}, {"directory": there})

    def _by_paths(self, tool: str) -> Conversation:
        """Gemini CLI keeps the sessions of a directory by its path without links, also of one that is called latest."""
        paths = {
            "second": "other",
            "third": path("one/link"),
            "fourth": path("one/..//other/"),
            "fifth": path("one/up/other"),
            "sixth": path("one/within/.."),
        }
        links = {"one/link": "../other", "one/up": "..", "one/within": "../other/one"}
        steps: list[Step] = [Arrange({"one": None, "other/one": None}, links, tuple(links))]
        # A repository is no directory of its own.
        steps.append(Arrange({"cloned/.git": None, "cloned/one": None, "cloned/other": None}))
        beside = [self.held(tool, f"cloned {each}", directory=path(f"cloned/{each}")) for each in ("one", "other")]
        steps += beside
        steps += [step for each in beside for step in (Release(each.name), Await(each.name))]
        for first, named in (("first", None), ("first by name", self.spec.latest(tool))):
            steps.append(self.held(tool, first, session=named, directory=path("other")))
            for name, each in paths.items():
                steps += self.behind(tool, f"{name} behind {first}", session=named, directory=each)
            steps += [Release(first), Await(first)]
        # A link leads elsewhere by now, where the next ones wait for each other and for nobody else.
        steps += [self.held(tool, "left", directory=path("other")), Arrange({}, {"one/link": "up"}, ("one/link",))]
        steps += [
            self.held(tool, "moved", directory=path("one/link")),
            *self.behind(tool, "behind it", directory=path()),
        ]
        steps += [Release("moved"), Await("moved"), Await("behind it"), Release("left"), Await("left")]
        title = "Replies to the latest session of one directory, by several paths."
        return self.conversation("latest-by-paths", title, steps, *LATEST, ELSEWHERE[0])
