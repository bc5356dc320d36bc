"""Failures that repeat what is private: each kind of text, on each way on which gemini can print it, and keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TypeAlias

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.patterns import samples
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Await, Conversation, Release, Request, Step
from gemini_mcp_conformance.talk.outcomes import KEY
from gemini_mcp_conformance.talk.sources import Maker, Sources

ORDER = 20
NOISE = "line of noise\n" * 6_000
"""More than 64 KiB of stderr."""

TEXTS: Mapping[str, str] = {
    "a sentence": "The plan that nobody else may read.",
    "lines": "The first line of the plan.\nThe second one.\r\nThe third.",
    "beyond ASCII": "비밀 계획: naïve café 👍🏽",
    "a pattern": "What (is) a+b? [x]* $1 \\d {2} ^.|",
    "quotes": 'She said "no" \\ and it\'s\ta secret',
    "few characters": "s3cr3t-7",
    "much": "A sentence of the plan that goes on. " * 150,
    "a key": f"Nobody else may know the key {KEY} of the plan that is told here.",
    "markup": "<plan> & &amp; %20 ${HOME} %s",
}
"""Private texts by what is odd in them."""

Form: TypeAlias = Callable[[str], tuple[Json, ...]]


def conversations(sources: Sources) -> Iterable[Conversation]:
    """For each tool its prompt, its other private texts, and keys."""
    for tool in sources.spec.names:
        made = Leaks(sources, tool)
        yield from made.texts()
        yield made.keys()
        yield made.beside()
        yield made.refusals()


class Leaks(Maker):
    """Failures of one tool."""

    phase, prefix = "leaks", "leak-"

    def __init__(self, sources: Sources, tool: str) -> None:
        super().__init__(sources)
        self.tool = tool

    def texts(self) -> Iterator[Conversation]:
        """Each private argument with each text, on each way."""
        for name in self.spec.template(self.tool).private:
            steps = list(self._steps(name))
            title = f"Failures of {self.tool} that repeat its {name}."
            yield self.conversation(f"{self.tool}-{name}", title, steps, "error:prompt", "error:stderr")

    def _steps(self, name: str) -> Iterator[Request]:
        is_prompt = name == self.spec.prompt(self.tool)
        for number, (kind, text) in enumerate(TEXTS.items()):
            given = self.sources.value(self.tool, name, text)
            forms = self.forms() if is_prompt else self.forms()[number % 3 :: 3]
            if given == text:
                for form in forms:
                    words = text if is_prompt else f"What of {kind}?"
                    yield self.ask(self.tool, words, Script("echoes", form(text)), also={name: text})

    def forms(self) -> tuple[Form, ...]:
        """On stderr and on stdout, as it is and as JSON escapes it, twice, behind noise, and where stderr is cut."""
        error, text_key = self.spec.outcome.answer["error"], self.spec.outcome.answer["text"]
        limit = self.spec.outcome.stderr_bytes
        failed: Json = {"exit": 1}

        def cut(text: str) -> tuple[Json, ...]:
            behind = limit - 3 * len(text.encode()) // 4
            return ({"stderr": f"cannot use: {text}{'x' * max(0, behind)}\n"}, failed)

        return (
            lambda text: ({"stderr": f"cannot use: {text}\nat line 1\n"}, failed),
            lambda text: ({"stderr": f"{text}\nnot {text}\n"}, failed),
            lambda text: ({"stderr": json.dumps({error: {"message": f"refused: {text}"}})}, {"exit": 42}),
            lambda text: ({"stderr": f"at call({json.dumps(text, ensure_ascii=False)})\n"}, failed),
            lambda text: ({"stderr": f"at call({json.dumps(text)})\n"}, {"signal": "TERM"}),
            lambda text: ({"stdout": json.dumps({error: {"message": f"refused: {text}"}})},),
            lambda text: ({"stdout": json.dumps({"asked": text})},),
            lambda text: ({"stdout": json.dumps({text_key: f"Of {text}"})[:-2]},),
            lambda text: ({"stderr": f"{NOISE}cannot use: {text}\n"}, failed),
            cut,
        )

    def keys(self) -> Conversation:
        """A key of each kind that the specification masks, once and twice."""
        keys = [found for mask in self.spec.outcome.masks for found in samples(mask)[:1]]
        steps = [self._keys(key, key) for key in keys]
        steps += [self._keys(key, f"{key}\n{other} {key}\n") for key, other in pairwise(keys)]
        title = f"Failures of {self.tool} that show keys."
        return self.conversation(f"{self.tool}-keys", title, steps, "error:secrets")

    def _keys(self, key: str, said: str) -> Request:
        script = Script("shows", ({"stderr": f"request failed: {said} was refused\n"}, {"exit": 1}))
        return self.ask(self.tool, f"Which key is refused? {len(key)}", script)

    def beside(self) -> Conversation:
        """A failure that repeats the prompt of its call, while another call begins and ends."""
        text, form = TEXTS["a sentence"], self.forms()[0]
        held = Script("echoes", ({"release": "go"}, *form(text)))
        steps: tuple[Step, ...] = (
            self.ask(self.tool, text, held, name="held", until="started"),
            self.ask(self.first, "Another question, of somebody else?", self.answers("Another answer.")),
            Release("go"),
            Await("held"),
        )
        title = f"A failure of {self.tool} beside another call."
        return self.conversation(f"{self.tool}-beside", title, steps, "error:prompt", "concurrency:crossed")

    def refusals(self) -> Conversation:
        """Calls with one wrong argument; what the others hold is not to be repeated."""
        text = TEXTS["a sentence"]
        steps: list[Request] = []
        for name in self.spec.tools[self.tool].properties:
            given = {each: text for each in self.spec.template(self.tool).private if each != name}
            steps.append(self.ask(self.tool, text, also={**given, name: {"not": "allowed"}}))
        title = f"Refused calls of {self.tool} with something private."
        return self.conversation(f"{self.tool}-refused", title, steps, "error:prompt", "arguments:refused:is-error")
