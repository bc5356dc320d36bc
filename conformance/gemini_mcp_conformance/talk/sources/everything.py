"""Calls of everything: with all arguments at once, with all but one, and with empty ones between them.

A fault for which several arguments have to meet shows where all are there, and one for which an argument has to be
missing where all others are there. What a call leaves behind shows in the next one, which has nothing of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle

from gemini_mcp.spec.families import kebab
from gemini_mcp.spec.templates import argument_of
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.interpreter import is_absent
from gemini_mcp_conformance.spec.patterns import samples
from gemini_mcp_conformance.spec.schema import is_valid, takes_text
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.covering import Demand, Row, cover
from gemini_mcp_conformance.talk.forms import ORDINARY
from gemini_mcp_conformance.talk.plays import fails, hangs, session
from gemini_mcp_conformance.talk.showing import everything_shows, shown_by
from gemini_mcp_conformance.talk.sources import Maker, Sources, sequences
from gemini_mcp_conformance.talk.sources.listings import FALLBACK
from gemini_mcp_conformance.talk.steps import Cancel, Request, Step, call, path, told
from gemini_mcp_conformance.talk.texts import BLANKS
from gemini_mcp_conformance.talk.ways import ANSWER, FAILURE

ORDER = 61
FOLDER, FILE = "everything", "everything-file"
LEFT_OUT, EMPTY, GIVEN = "left out", "empty", "given"
NUMBERS = ("0", "42", "007", "5.", ".5", "1e3", "0x1f")
"""Texts that are a number: patterns allow so many that their samples are rarely what people write."""
SHARE = 5
"""With one argument missing, every call takes one in so many of the prompts."""
WRONG: Json = {"not": "allowed"}
BEHIND = ("", "\n", "\r\nOf many.\r\n")
"""What follows the first line of a text in a file."""
ENDS = ("answer", "listed", "failed", "signal", "error", "behind answer", "nothing")
CANCELLATIONS = CANCELLED, CANCELLED_LIST = "cancelled", "cancelled list"


def conversations(sources: Sources) -> Iterable[Conversation]:
    """For each tool with a prompt; in every revision without a handshake once more."""
    for tool in sources.spec.names:
        made = Everything(sources, tool)
        yield from made.prompts()
        yield made.outcomes()
        yield from made.empties()
        yield made.refusals()
        for revision in sources.spec.manifest.stateless_revisions:
            yield made.outcomes(revision)


class Everything(Maker):
    """Calls of one tool."""

    phase, prefix = "combinations", "everything-"

    def __init__(self, sources: Sources, tool: str) -> None:
        super().__init__(sources)
        self.tool, self.number = tool, 0
        self.asks_progress = cycle((True, True, False))
        self.prompt = self.spec.prompt(tool)
        declared = self.spec.tools[tool]
        self.optional = [name for name in declared.properties if name not in declared.required]

    def prompts(self) -> Iterator[Conversation]:
        """Every way of the prompt beside everything, and some of them beside everything but one argument."""
        texts, outcomes = self._texts(), cycle(ENDS)
        for number, left_out in enumerate((None, *self.optional)):
            chosen = texts if left_out is None else [*texts[number % SHARE :: SHARE], texts[-1]]
            steps = [step for text in chosen for step in self._steps(self._arguments(text, left_out), next(outcomes))]
            name = kebab(left_out or "nothing")
            title = f"Calls of `{self.tool}` with everything but {name}."
            yield self._conversation(f"but-{name}", title, steps)

    def outcomes(self, revision: str | None = None) -> Conversation:
        """Everything with each outcome, in one tool of two with a long prompt, and behind each a call with nothing."""
        steps: list[Step] = []
        texts = self._texts()
        for number, outcome in enumerate(self._outcomes()):
            is_long = (number + self.names.index(self.tool)) % 2 == 0
            steps += self._steps(self._arguments(texts[-1] if is_long else texts[0]), outcome)
            steps.append(self._bare((self.tool, self.sources.after(self.tool))[number % 2]))
        name = "outcomes" if revision is None else f"outcomes-{revision}"
        title = f"Calls of `{self.tool}` with everything, each behind another outcome."
        return self._conversation(name, title, steps, revision=revision)

    def empties(self) -> Iterator[Conversation]:
        """Every three of the optional arguments left out, empty and given, as far as an empty one counts as absent."""
        values = {
            name: (LEFT_OUT, *([EMPTY] if self._empty(name) is not None else []), GIVEN) for name in self.optional
        }
        if not values:
            return
        rows = cover(values, [Demand(tuple(values), min(3, len(values)))])
        steps = [step for row in rows for step in self._steps(self._of_row(row), "answer")]
        empty = [f"arguments:empty:{kebab(name)}" for name, kinds in values.items() if EMPTY in kinds]
        title = f"Calls of `{self.tool}` with arguments that are left out, empty and given."
        yield self._conversation("empties", title, steps, *empty)

    def refusals(self) -> Conversation:
        """Everything with one argument that no port serves, and behind each a call with nothing."""
        steps: list[Step] = []
        for number, (name, value) in enumerate(self._refused()):
            steps.append(call(self.tool, {**self._arguments(f"Who is refused for {name}?"), name: value}))
            steps.append(self._bare((self.tool, self.sources.after(self.tool))[number % 2]))
        directory = ("cwd:missing", "cwd:file", "cwd:reason") if self.spec.directory(self.tool) else ()
        names = self.spec.tools[self.tool].properties
        shows = (f"arguments:{kebab(name)}:{fault}" for name in names for fault in ("null", "type", "value"))
        title = f"Calls of `{self.tool}` with everything, each with another fault."
        return self._conversation("refusals", title, steps, *shows, *directory, *_REFUSED)

    def _refused(self) -> Iterator[tuple[str, Json]]:
        """An argument, and what is wrong with it: its type, what a rule forbids, a directory that is none."""
        for name, schema in self.spec.tools[self.tool].properties.items():
            if not is_valid(schema, WRONG):
                yield name, WRONG
            texts = self.forbidden(name) if takes_text(schema) else []
            yield from ((name, text) for text in texts if not self.spec.settles(self.tool, name, text))
            if name == self.spec.directory(self.tool):
                yield from ((name, path(f"{FOLDER}-missing")), (name, path(FILE)))

    def _conversation(self, name: str, title: str, steps: Iterable[Step], *more: str, **how: Json) -> Conversation:
        spec, tool = self.spec, self.tool
        arguments = shown_by(spec, tool, *spec.tools[tool].properties)
        every = (*everything_shows(spec, tool), *arguments, *ANSWER, *FAILURE, *FALLBACK, *_AFTERWARDS, *more)
        every = (*every, *sequences.shows(self.sources))
        shows = tuple(dict.fromkeys(every))
        return self.conversation(f"{tool}-{name}", title, steps, *shows, files={FOLDER: None, FILE: "A file."}, **how)

    def _texts(self) -> list[str]:
        """A prompt of each form: an ordinary one first, those that need care, and last one that is long."""
        if self.prompt is None:
            return [""]
        forms = (cases for cases in self.spec.invocation.forms.values() if argument_of(cases) == self.prompt)
        patterns = [case.pattern for cases in forms for case in cases if case.pattern is not None]
        risky = [text for pattern in patterns for text in (*samples(pattern), *NUMBERS)]
        settled = [text for text in dict.fromkeys(risky) if self.spec.settles(self.tool, self.prompt, text)]
        return [ORDINARY, *settled, self.overlong(f"{ORDINARY} ")]

    def _arguments(self, words: str, left_out: str | None = None) -> dict[str, Json]:
        """All arguments, each unlike that of the call before."""
        self.number += 1
        number, spec, tool = self.number, self.spec, self.tool
        directory = FOLDER if number % 4 == 0 else path(FOLDER)
        own: dict[str, Json] = {"session": session(f"{tool} {number}"), "directory": directory}
        text = f"You are number {number}.{BEHIND[number % len(BEHIND)]}"
        own |= {"file": text, "option": f"model-{number}"}
        given = {**spec.everything(tool), **self.sources.arguments(tool, words.replace("{number}", str(number)), **own)}
        return {name: value for name, value in given.items() if name != left_out}

    def _of_row(self, row: Row) -> dict[str, Json]:
        given = self._arguments(f"Which are empty? This is call {self.number}.")
        values = {LEFT_OUT: dict.fromkeys(row), EMPTY: {name: self._empty(name) for name in row}, GIVEN: given}
        optional = {name: values[kind][name] for name, kind in row.items()}
        required = {name: value for name, value in given.items() if name not in row}
        return {**required, **{name: value for name, value in optional.items() if value is not None}}

    def _empty(self, name: str) -> str | None:
        """A text that counts as absent."""
        return next((text for text in BLANKS if is_absent(name, text, self.spec.invocation)), None)

    def _outcomes(self) -> Sequence[str]:
        # Only by its prompt can a gemini that was cancelled be told from that of the next call.
        return (*ENDS, *(CANCELLATIONS if self.tool in self.spec.told_apart else ()))

    def _steps(self, arguments: dict[str, Json], outcome: str) -> Iterator[Step]:
        """The call, and what its outcome needs besides; two in three ask for progress."""
        name = f"{self.tool} with everything {self.number}"
        asked = call(self.tool, arguments, self._script(outcome))
        if next(self.asks_progress):
            asked = told(asked, name)
        if outcome in CANCELLATIONS:
            until = "started" if outcome == CANCELLED else "listing"
            yield from (replace(asked, name=name, until=until), Cancel(name))
        else:
            yield asked

    def _script(self, outcome: str) -> Script:
        """What gemini does; the session that it reports is of this call alone."""
        number, sources = self.number, self.sources
        own = session(f"{self.tool} answered {number}")
        entry = f"{sources.entry(2, own)}\n{sources.entry(1, session('older'))}\n"
        keys = self.spec.outcome.answer
        unnamed = partial(sources.unnamed, f"The unnamed answer {number}.")
        failed: dict[str, Json] = {keys["error"]: {"message": f"Failure {number}."}}
        match outcome:
            case "cancelled":
                return hangs()
            case "cancelled list":
                return unnamed({"hang": True}, id="lists")
            case "listed":
                return unnamed({"stdout": entry}, warnings=[f"Warning {number}."])
            case "failed":
                return fails(53, stderr=f"It failed in call {number}.\n")
            case "signal":
                return sources.ends_behind_answer({"signal": "TERM"}, f"It died in call {number}.\n", own)
            case "error":
                return Script("error", ({"stdout": json.dumps(failed)},))
            case "behind answer":
                return sources.ends_behind_answer({"exit": 1}, "", own)
            case "nothing":
                return Script("nothing", ({"stderr": ""},))
            case _:
                return sources.answers(f"The answer to call {number}.", own)

    def _bare(self, tool: str) -> Request:
        """A call with nothing but what it must have."""
        self.number += 1
        answer = self.answers(f"The answer to call {self.number}.", session(f"bare {self.tool} {self.number}"))
        return self.ask(tool, f"The question without anything, {self.number}.", answer)


_REFUSED = (
    *("arguments:refused:not-started", "arguments:refused:is-error", "arguments:refused:prefix"),
    *("arguments:optional:type", "error:prompt"),
)
"""What calls that are refused show."""
_AFTERWARDS = (
    *("system:leak", "system:absent", "cwd:default", "concurrency:after-failure", "progress:start", "progress:token"),
    *("cancel:child", "cancel:unanswered", "system:removed:failure", "system:removed:cancel"),
)
"""What calls show behind those that were cancelled or have failed, and what every call of everything shows."""
