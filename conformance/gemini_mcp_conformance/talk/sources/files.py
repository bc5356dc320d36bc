"""Texts that gemini gets in files: several at once, while gemini runs, and when a call is cancelled or cannot run.

These conversations wait, so they run at the same time as others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import SESSION, fails, hangs, holder, session
from gemini_mcp_conformance.talk.sources import Maker, Sources
from gemini_mcp_conformance.talk.steps import Await, Cancel, Step
from gemini_mcp_conformance.talk.texts import PLAIN, WRONG_WORD

ORDER = 60
MOMENT, LONG = 0.6, 3.0
"""Seconds that gemini runs, so that what happens to its files meanwhile is seen."""
TITLE = "Texts in files, and what is left of them."
SEVERAL = 6
FOLDER = "held-here"


def conversations(sources: Sources) -> Iterable[Conversation]:
    """For every tool."""
    made = Files(sources)
    names = [tool for tool in sources.spec.names if sources.spec.files(tool)]
    for tool in sources.spec.names:
        yield from made.held_outputs(tool)
        yield made.closed_output(tool)
    for tool in names:
        yield from made.alone(tool)
    apart = [tool for tool in names if tool in sources.spec.told_apart]
    for tool in apart:
        yield from made.beside(tool)
    if apart:
        yield made.side_by_side(apart)
    if names:
        yield made.own_variables(names)


class Files(Maker):
    """Calls of one specification with a text in a file."""

    phase, prefix = "files", ""

    def held_outputs(self, tool: str) -> Iterator[Conversation]:
        """Answers, and lists of sessions, whose gemini leaves a process behind that holds stdout or stderr open."""
        for stream, id in (("stdout", "held-output"), ("stderr", "held-stderr")):
            child = holder(stream)
            holding = Script("holding", (child, *self.answers("Held.").play))
            listing = self.sources.listed("Its list is held.", session(id), child)
            failing = Script("failing", (child, *fails().play))
            steps = (self.ask(tool, PLAIN, holding), self.ask(tool, "In which session?", listing))
            own: dict[str, Json] = {"session": session(id), "directory": FOLDER, "option": "a-model"}
            steps = (*steps, self.ask(tool, "What of a failure?", failing, file="You fail."))
            steps = (*steps, self.ask(tool, "What of everything?", holding, file="You hold.", **own))
            steps = (*steps, self.ask(tool, self.overlong("What of a long question? "), holding))
            removed = ("system:removed:success", "system:removed:failure") if self.spec.files(tool) else ()
            files, shows = {FOLDER: None}, ("process:held-output", *removed)
            yield self.conversation(f"{tool}-{id}", TITLE, steps, *shows, files=files, aside=True)

    def closed_output(self, tool: str) -> Conversation:
        """Runs that go on for a moment after they have closed their output, and then end well or badly."""
        document = self.answers("Closed.").play
        closed: tuple[Json, ...] = ({"close": "stdout"}, {"close": "stderr"}, {"wait": MOMENT})
        steps = [
            self.ask(tool, f"Closed, then {end}", Script("closed", (*document, *closed, end)), file="You go on.")
            for end in ({"exit": 0}, {"exit": 3}, {"signal": "KILL"})
        ]
        late: tuple[Json, ...] = ({"close": "stdout"}, {"wait": MOMENT}, {"stderr": "The reason.\n"}, {"exit": 1})
        steps.append(self.ask(tool, "Closed before the reason", Script("closed", late)))
        life = ("system:life",) if self.spec.files(tool) else ()
        shows = ("result:text", "error:exit", "error:signal", "error:stderr", *life)
        return self.conversation(f"{tool}-closed-output", TITLE, steps, *shows, aside=True)

    def alone(self, tool: str) -> Iterator[Conversation]:
        """A call that takes its time, calls without a gemini, and one that is cancelled."""
        life = (self._call(tool, 1, self._late(1, LONG)),)
        id, shows = f"{tool}-system-life", ("system:life", "system:removed:success")
        yield self.conversation(id, TITLE, life, *shows, aside=True)
        endings: tuple[Json, ...] = ({"exit": 0}, {"exit": 1}, {"signal": "TERM"}, {"hang": True})
        littered = [
            self._call(tool, number, Script("litters", ({"leave": "left.tmp"}, *self.answers("Left.").play, end)))
            for number, end in enumerate(endings[:-1])
        ]
        hanging = Script("litters", ({"leave": "left.tmp"}, endings[-1]))
        steps = (*littered, self._call(tool, 9, hanging, name="left", until="started"), Cancel("left"))
        removed = tuple(f"system:removed:{how}" for how in ("success", "failure", "cancel"))
        title = "Directories into which gemini has put a file of its own."
        yield self.conversation(f"{tool}-system-littered", title, steps, *removed)
        title, step = "A text in a file for a gemini that cannot be started.", self._call(tool, 1)
        for gemini in ("absent", "not-executable"):
            id, shows = f"{tool}-system-{gemini}", ("system:removed:failure",)
            yield self.conversation(id, title, [step], *shows, aside=True, gemini=gemini)
        long: dict[str, Json] = {"option": "x" * WRONG_WORD}
        title = "A text in a file beside an argument that is too long for any command line."
        steps = [self._call(tool, 1, self.answers("It fits."), **long), self._call(tool, 1, self.answers("Next."))]
        shows = ("system:removed:failure", "concurrency:after-failure")
        yield self.conversation(f"{tool}-system-too-long", title, steps, *shows)
        begun = self._call(tool, 1, hangs(), name="it", until="started")
        yield self.conversation(
            f"{tool}-system-cancel", TITLE, (begun, Cancel("it")), "system:removed:cancel", aside=True
        )

    def beside(self, tool: str) -> Iterator[Conversation]:
        """A call that takes its time beside one that fails, and beside one with the same text."""
        held = self._call(tool, 1, self._late(1, LONG), name="held", until="started")
        failing = self._call(tool, 2, fails(1))
        equal = self._call(tool, 2, self.answers("The answer to call 2."), file="You are number 1.")
        for id, other in (("failure", failing), ("equal", equal)):
            steps = (held, other, Await("held"))
            yield self.conversation(f"{tool}-system-beside-{id}", TITLE, steps, "system:life", aside=True)

    def own_variables(self, tools: Sequence[str]) -> Conversation:
        """A port whose own environment has the variables that name the files of its calls."""
        steps = [self._call(tool, number, self.answers("Mine.")) for number, tool in enumerate(tools)]
        env = dict.fromkeys(self.spec.variables, "/no/such/file")
        return self.conversation("system-prompts-of-the-port", TITLE, steps, "system:content", env=env)

    def side_by_side(self, tools: Sequence[str]) -> Conversation:
        steps = [
            self._call(tools[number % len(tools)], number, self._late(number), until="sent")
            for number in range(SEVERAL)
        ]
        shows = ("system:isolation", "system:life")
        return self.conversation("system-prompts-side-by-side", TITLE, steps, *shows, aside=True)

    def _call(self, tool: str, number: int, *scripts: Script, **more: Json) -> Step:
        words, session = f"This is call {number}.", f"{SESSION[:-1]}{number}"
        return self.ask(tool, words, *scripts, session=session, **{"file": f"You are number {number}.", **more})

    def _late(self, number: int, seconds: float = MOMENT) -> Script:
        return self.answers(f"The answer to call {number}.", f"{SESSION[:-1]}{number}", wait=seconds)
