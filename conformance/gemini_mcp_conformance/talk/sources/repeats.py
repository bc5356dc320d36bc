"""Repeats: calls that say again a part of what an earlier call has said, or say nearly the same.

Nothing else of that call may come back. A port that remembers by one value, or by what it makes of a value, shows it
nowhere else: everywhere else values differ.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from itertools import cycle, product

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import fails, hangs, session
from gemini_mcp_conformance.talk.showing import everything_shows, shown_by
from gemini_mcp_conformance.talk.sources import Maker, Sources, sequences
from gemini_mcp_conformance.talk.steps import Cancel, Request, Step, path

ORDER = 40
WORDS = "words"
ENDS = ("answered", "failed", "cancelled")
"""What becomes of the call that has said it all."""
BASES = ("mcp", "1e3", "Été und Straße, no doubt?")
"""Prompts that could be a command or a number, and one that could not; with other capitals it may be otherwise."""
PLACES = {f"place-{number}": None for number in range(2)}


def conversations(sources: Sources) -> Iterable[Conversation]:
    """For each pair of tools that have a prompt."""
    names = sources.spec.told_apart
    for first, second in product(names, names):
        yield Repeats(sources, second).behind(first)
    for tool in names:
        yield Repeats(sources, tool).alike()


class Repeats(Maker):
    """Calls of one tool that repeat a part of an earlier one."""

    phase, prefix = "sequences", "sequence-repeats-"

    def __init__(self, sources: Sources, tool: str) -> None:
        super().__init__(sources)
        self.tool, self.turn = tool, 0

    def behind(self, tool: str) -> Conversation:
        """Behind calls with everything: each value alone, and everything with one other value."""
        steps = [step for end in ENDS for step in self._repeated(tool, end)]
        title = f"Calls of `{self.tool}` that repeat a part of a call of `{tool}`."
        shows = (*sequences.shows(self.sources), "result:text")
        return self.conversation(f"{tool}-{self.tool}", title, steps, *shows, files=PLACES)

    def alike(self) -> Conversation:
        """Prompts, ids, options and texts in files that differ from those before in capitals, blanks or marks."""
        steps: list[Step] = []
        for base in BASES:
            others = (_forms("Ça und-straße"), _forms("Be brief, Été."))
            for words, name, file in zip(_forms(base), *map(cycle, others), strict=False):
                own = {"session": f"session {name}", "option": f"model {name}", "file": file}
                steps.append(self._asked({WORDS: words, **own}))
        title = f"Calls of `{self.tool}` that are nearly the same."
        shown = shown_by(self.spec, self.tool, *self.spec.tools[self.tool].properties)
        shows = (*sequences.shows(self.sources), "result:text", *everything_shows(self.spec, self.tool), *shown)
        return self.conversation(f"alike-{self.tool}", title, steps, *dict.fromkeys(shows))

    def _repeated(self, tool: str, end: str) -> Iterator[Step]:
        said = self._new()
        yield from self._said(tool, said, end)
        kinds = [kind for kind, value in said.items() if self._takes(kind, value)]
        for kind in kinds:
            yield self._asked({WORDS: self._new()[WORDS], kind: said[kind]})
        for kind in kinds if end == "answered" else ():
            yield self._asked({**said, kind: self._new()[kind]})

    def _said(self, tool: str, meant: Mapping[str, Json], end: str) -> Iterator[Step]:
        if end == "answered":
            yield self._asked(meant, tool)
        elif end == "failed":
            yield self._call(tool, meant, fails(stderr="It failed.\n"))
        else:
            name = f"cancelled in turn {self.turn}"
            yield self._call(tool, meant, hangs(), name=name, until="started")
            yield Cancel(name)

    def _asked(self, meant: Mapping[str, Json], tool: str | None = None) -> Request:
        self.turn += 1
        own = session(f"answer to turn {self.turn}")
        answer = self.answers(f"The answer to turn {self.turn}.", str(meant.get("session", own)))
        return self._call(tool or self.tool, meant, answer)

    def _call(self, tool: str, meant: Mapping[str, Json], script: Script, **how: Json) -> Request:
        others = {kind: value for kind, value in meant.items() if kind != WORDS}
        return self.ask(tool, str(meant[WORDS]), script, **others, **how)

    def _takes(self, kind: str, value: Json) -> bool:
        """Whether the tool has an argument of that kind."""
        return self.arguments(self.tool, **{kind: value}) != self.arguments(self.tool)

    def _new(self) -> dict[str, Json]:
        """Values that no other call has, but for the directory, of which there are two in turn."""
        self.turn += 1
        return {
            WORDS: f"These are the words of turn {self.turn}.",
            "session": session(f"repeats {self.turn}"),
            "file": f"You are number {self.turn}.",
            "directory": path(f"place-{self.turn % 2}"),
            "option": f"model-{self.turn}",
        }


def _forms(text: str) -> tuple[str, ...]:
    """The text between blanks, with other capitals, as it is, beside a blank, taken apart, and as it is again."""
    apart = unicodedata.normalize("NFD", text)
    others = (text.upper(), text, text.swapcase(), f" {text}", f"{text} ", text.replace(" ", "  "), apart, text)
    forms = (f" {text} ", *others)
    return tuple(each for each, before in zip(forms, ("", *forms), strict=False) if each != before)
