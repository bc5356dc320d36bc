"""What becomes of calls whose session only the list of sessions names, for each tool."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from gemini_mcp.spec.families import kebab
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import session
from gemini_mcp_conformance.talk.sources import Maker, Sources
from gemini_mcp_conformance.talk.steps import Await, Release, Request, path

ORDER = 16

SESSION = "3d3f1c0e-6f0a-4b53-9a43-5d1a0c5a7e11"
SLOW = 2.0
"""Seconds that a slow list takes, unless a port waits for less than twice as long."""
ALL, AT_ONCE = "all lists", 8
"""Lists at once, as many as every port can run; they take too long where they come one after another."""
LARGE, MANY = (1 << 16) + 50, 150
"""The highest index of a long list, and how many sessions it holds."""
LINE = 1 << 16
"""Characters of a line that readers of lines may take for the end."""
FALLBACK = (
    *("fallback:list-sessions", "fallback:last", "fallback:brackets", "fallback:stderr", "fallback:cwd"),
    *("fallback:failure", "fallback:none", "fallback:by-id", "fallback:latest"),
)


def conversations(sources: Sources) -> Iterable[Conversation]:
    for tool in sources.spec.names:
        made = Listings(sources, tool)
        yield made.listings()
        yield made.slow_listing()


class Listings(Maker):
    """Calls of one tool that gemini answers without a session."""

    phase, prefix = "outcomes", ""

    def __init__(self, sources: Sources, tool: str) -> None:
        super().__init__(sources)
        self.tool, self.ask = tool, partial(sources.ask, tool)

    def listings(self) -> Conversation:
        """The entry with the highest index is neither the first nor the last line, and ten is more than nine."""
        order = (3, 1, 12, 2, 10, 11, 9, 8, 7, 6, 5, 4)
        text = self._list(order)
        # The newest one at the very end, behind titles one of which no buffer holds.
        last = self._list(sorted(order)).rstrip("\n").replace(SESSION[:8], "f00dcafe").replace("Title", "Long" * 1_500)
        last = last.replace("Long", "Longer" * (LINE // 6), 1)
        # The newest one at the very beginning, behind a title of many words: further from the end than anybody looks,
        # and with numbers around those that two bytes hold.
        first = self._list(range(LARGE, LARGE - MANY, -1)).replace("Title", "A title of many words " * 4)
        unnamed = partial(self.sources.unnamed, "No session is named here.")
        listed = {
            "both": unnamed({"stderr": "some noise [x]\n"}, {"stdout": text}),
            "stderr": unnamed({"stderr": text}),
            "again": unnamed({"stderr": "[STARTUP] Ready.\n"}, {"stdout": last}),
            "the first": unnamed({"stdout": first}),
            # Gemini CLI before 0.24 prints the list to stderr.
            "head": unnamed({"stdout": "Available sessions:\n"}, {"stderr": text}),
            "failure": unnamed({"stdout": text}, {"exit": 1}),
            "nothing": unnamed({"stdout": "No previous sessions found for this project.\n"}),
            "brackets": unnamed({"stdout": "No previous sessions found for [the-project].\n"}),
            "death": unnamed({"stdout": text}, {"signal": "TERM"}),
            "the place 0": unnamed({"stdout": f"{self.sources.entry(0, SESSION)}\n"}),
        }
        # Every second one has a text in a file, behind which comes one that has none.
        steps = [
            self.ask(f"Which session, by {name}?", script, file=f"You know of {name}." if number % 2 == 0 else None)
            for number, (name, script) in enumerate(listed.items(), self.names.index(self.tool))
        ]
        if self.spec.session(self.tool):
            steps.append(self.ask("And by id?", listed["both"], session="11111111-2222-3333-4444-555555555555"))
        for where, folder in (("elsewhere", path("elsewhere")), ("elsewhere from here", "elsewhere")):
            if self.spec.directory(self.tool):
                steps.append(self.ask(f"Which session, {where}?", listed["both"], directory=folder))
                if (latest := self.spec.latest(self.tool)) is not None:
                    words = f"Which session, {where}, by the name of the latest?"
                    steps.append(self.ask(words, listed["both"], directory=folder, session=latest))
        shows = (*FALLBACK, "system:removed:success", "system:leak")
        if (reply := self.spec.resumes) is not None:
            # The latest session is gemini's to find, and not the one that a list has named.
            steps.append(
                self.sources.ask(reply, f"And the latest, after {self.tool}?", self.sources.answers("Latest."))
            )
            shows = (*shows, f"command:{kebab(reply)}:latest")
        title, files = f"{self.tool}, when the list must be asked.", {"elsewhere": None}
        return self.conversation(f"listings-{self.tool}", title, steps, *shows, files=files)

    def _list(self, order: Iterable[int]) -> str:
        """A list of sessions; the places of their ids are those of the entries."""
        lines = [self.sources.entry(index, f"{SESSION[:-2]}{index:02}") for index in order]
        return "\n".join(("", f"Available sessions for this project ({len(lines)}):", *lines, ""))

    def slow_listing(self) -> Conversation:
        """The lists of sessions of several directories may take a moment, all at once."""
        wait = min(SLOW, self.spec.invocation.listing.timeout / 2)
        places = [f"place-{number}" for number in range(AT_ONCE if self.spec.directory(self.tool) else 1)]
        steps = (*(self._slow(place, wait) for place in places), Release(ALL), *map(Await, places))
        title, files = f"{self.tool}, when lists take {wait:g} seconds.", dict.fromkeys(places)
        return self.conversation(f"listing-slow-{self.tool}", title, steps, *FALLBACK, aside=True, files=files)

    def _slow(self, place: str, wait: float) -> Request:
        unnamed = self.sources.listed(f"Named late in {place}.", session(f"{self.tool} in {place}"), {"wait": wait})
        slow = unnamed.behind({"release": ALL})
        return self.ask(f"Which session is slow in {place}?", slow, directory=path(place), name=place, until="started")
