"""Failures in which gemini repeats private texts or keys: each kind of text, in each way of printing it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import cycle, pairwise, product

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.interpreter import refusals, rules
from gemini_mcp_conformance.spec.patterns import samples
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.echoes import KEY, NOISE, few, in_a_sentence, many
from gemini_mcp_conformance.talk.plays import fails, session
from gemini_mcp_conformance.talk.sources import Maker, Sources
from gemini_mcp_conformance.talk.steps import Await, Release, Request
from gemini_mcp_conformance.talk.texts import BLANKS

ORDER = 20
SHARE = 4
"""A private text is repeated in one in so many ways."""
MARKS = "-_.:+=~%!$,;/"
"""What is neither a letter nor a digit, and may stand in a key or behind it."""
MUCH = 600
"""Characters by which a key grows: some are that long."""
KEY_LINES = f"\n{'MIIBVQ/a+9' * 6}\n{'AgEAAk8=' * 4}\n"
"""What a key in lines is made of."""

ENDS: tuple[Json, ...] = ({"exit": 1}, {"exit": 0}, {"signal": "TERM"})

FOLDER = "a-folder"
INNOCENT = """2026-01-31T12:34:56.789Z [1769862896789] somebody@example.org: POST https://example.org/v1/models?page=2#x
    at call (file:///opt/lib/node_modules/gemini-cli/bundle/index.js:42:17) 0x7ffe15f0 10.0.0.1:443 +49 30 1234567890
"""
"""What is neither a key nor private, and helps to find what went wrong."""

FORMS = (
    *("request failed: {} was refused\n", "{} was refused\n", "request failed: {}", "{}"),
    *("서울: {}\r\nwas refused\r\n", "\x1b[31mfailed:\x1b[0m {}\nat {{x}}\n", "\n\n{}\n\n"),
)
"""What stands around keys on stderr: nothing in front of them, nothing behind them, or what is not ASCII."""

TEXTS: Mapping[str, str] = {
    "a sentence": "The plan that nobody else may read.",
    "lines": "The first line of the plan.\nThe second one.\r\nThe third.",
    "beyond ASCII": "비밀 계획: naïve \u202ecafé\u202c 👍🏽",
    "a pattern": "What (is) a+b? [x]* $1 \\d {2} ^.|",
    "quotes": 'She said "no" \\ and it\'s\ta secret',
    "few characters": "s3cr3t-7",
    "a long word": "0ne-w0rd-0f-the-plan-that-n0b0dy-else-may-read",
    "a word": "pa55w0",
    "signs": "a+b=c?",
    # Unlike itself in every part: where the beginning is taken out wherever it stands, the rest is still there.
    "much": "".join(f"Sentence {number} of the plan that goes on. " for number in range(130)),
    "more than is shown": "".join(f"Line {number} of what is longer than an error. " for number in range(240)),
    "a key": f"Nobody else may know the key {KEY} of the plan that is told here.",
    "markup": "<plan> & &amp; %20 ${HOME} %s",
}
"""Private texts by what is odd in them."""


def conversations(sources: Sources) -> Iterable[Conversation]:
    """For each tool its prompt, its other private texts, and keys."""
    for tool in sources.spec.names:
        made = Leaks(sources, tool)
        yield from made.texts()
        yield from made.within()
        yield made.among()
        yield made.keys()
        yield made.nothing()
        yield made.beside()
        yield made.refusals()


class Leaks(Maker):
    """Failures of one tool."""

    phase, prefix = "leaks", "leak-"

    def __init__(self, sources: Sources, tool: str) -> None:
        super().__init__(sources)
        self.tool = tool
        self.ends, self.forms = cycle(ENDS), cycle(FORMS)

    def texts(self) -> Iterator[Conversation]:
        """Each private argument with each text, on each way."""
        for name in self.spec.template(self.tool).private:
            steps = list(self._steps(name))
            title = f"Failures of {self.tool} that repeat its {name}."
            yield self.conversation(f"{self.tool}-{name}", title, steps, "error:prompt", "error:stderr")

    def _steps(self, name: str) -> Iterator[Request]:
        is_prompt = name == self.spec.prompt(self.tool)
        # Each text tries some of the ways, and others with the next tool. Together the texts try all.
        share = 1 if self.sources.thorough else SHARE
        for number, (kind, text) in enumerate(TEXTS.items(), self.names.index(self.tool)):
            given = self.sources.value(self.tool, name, text)
            ways = many(self.spec)[number % share :: share]
            # The schema may have cut the text or replaced it; then gemini would repeat what was never sent.
            if given == text:
                for way in ways:
                    words = text if is_prompt else f"What of {kind}?"
                    yield self.ask(self.tool, words, Script("echoes", way(text)), also={name: text})

    def within(self) -> Iterator[Conversation]:
        """Private texts of which one holds another: what is left of the longer one is private as well."""
        prompt, others = self.spec.prompt(self.tool), self.spec.template(self.tool).private
        part = TEXTS["a sentence"]
        whole = f"{part} What it says of the winter stays here as well."
        steps: list[Request] = []
        for name, way in product(others, few(self.spec)):
            if prompt is not None and name != prompt and self.sources.value(self.tool, name, whole) == whole:
                for words, other in ((whole, part), (part, whole)):
                    steps.append(self.ask(self.tool, words, Script("echoes", way(whole)), also={name: other}))
        if steps:
            title = f"Failures of {self.tool} with private texts of which one holds another."
            yield self.conversation(f"{self.tool}-within", title, steps, "error:prompt")

    def among(self) -> Conversation:
        """Each private text once more, among all that a call can hold, with the other texts as long as they may be."""
        prompt, text = self.spec.prompt(self.tool), TEXTS["a sentence"]
        long, steps = self.overlong("A question that is as long as it may be. "), list[Request]()
        for name, way in product(self.spec.template(self.tool).private, few(self.spec)):
            words, file = (text, long) if name == prompt else (long, text)
            everything: dict[str, Json] = {"session": session("among"), "directory": ".", "option": "a-model"}
            given = {name: self.sources.value(self.tool, name, text)}
            steps.append(self.ask(self.tool, words, Script("echoes", way(text)), file=file, also=given, **everything))
        # A text is private in every notation, also beside a prompt that goes to gemini on its stdin.
        for name, kind in product(self.spec.template(self.tool).private, ("quotes", "lines", "beyond ASCII")):
            given = {name: self.sources.value(self.tool, name, TEXTS[kind])}
            if name != prompt and given[name] == TEXTS[kind]:
                echoes = many(self.spec)[len(kind) % 2 + 3]
                steps.append(self.ask(self.tool, long, Script("echoes", echoes(TEXTS[kind])), also=given))
        # What goes to gemini on its stdin is as private.
        for number, way in enumerate(few(self.spec)):
            if self.sources.falls_to(self.tool, number):
                steps.append(self.ask(self.tool, long, Script("echoes", way(long))))
        title = f"Failures of {self.tool} that repeat one text of a call that holds much else."
        return self.conversation(f"{self.tool}-among", title, steps, "error:prompt")

    def keys(self) -> Conversation:
        """A key of each kind that the specification masks: once, twice, where stderr is cut, and all behind noise.

        With each come the other keys of its kind, and it stands in quotes and brackets as code writes it.
        """
        kinds = [(found, mask) for mask in self.spec.outcome.masks if (found := samples(mask))]
        keys = [kind[0] for kind, _ in kinds]
        steps = [self._keys(kind[0], "\n".join((*kind, _grown(kind[0], mask)))) for kind, mask in kinds]
        said = [(key, f"{key} and \"{key}\"\n{other} ({key})\n'{key}',\n") for key, other in pairwise(keys)]
        said += [(kind[0], each) for kind, mask in kinds for each in _in_lines(kind, mask)]
        room = self.spec.outcome.stderr_bytes
        cut = ((key, f"{key}\n{'.' * (room - len(key) * 2 // 3)}") for key in keys)
        said += [(key, f"{noise}{end}") for (key, end), noise in zip(cut, cycle(("", "", NOISE, NOISE)))]
        steps += [self._keys(*each) for number, each in enumerate(said) if self.sources.falls_to(self.tool, number)]
        steps.append(self._keys("", NOISE + "\n".join(keys)))
        streams = cycle(("stdout", "stderr") if self.tool == self.first else ("stderr", "stdout"))
        steps += [self._told(key, stream) for key, stream in zip(keys, streams, strict=False)]
        title = f"Failures of {self.tool} that show keys."
        return self.conversation(f"{self.tool}-keys", title, steps, "error:secrets")

    def _keys(self, key: str, said: str) -> Request:
        # A gemini that exits with 0 has printed nothing.
        end = next(self.ends)
        stderr = next(self.forms).format(said)
        script = Script("shows", ({"stderr": stderr}, end))
        return self.ask(self.tool, f"Which key is refused? {len(key)}", script)

    def _told(self, key: str, stream: str) -> Request:
        """A failure whose JSON holds a key; on stdout gemini exits with 0."""
        error = json.dumps({self.spec.outcome.answer["error"]: {"message": f"refused: {key} was wrong"}})
        script = Script("tells", ({stream: error}, {"exit": int(stream == "stderr")}))
        return self.ask(self.tool, f"Which key is wrong on {stream}? {len(key)}", script)

    def nothing(self) -> Conversation:
        """Failures that repeat nothing private, though words of them are in it: these stay as they are."""
        outcome, said = self.spec.outcome, "Something went wrong: two  blanks,\n\tand a tab.\n"
        words = dict.fromkeys(re.findall(r"\w+", f"{outcome.prefix}{outcome.separator}"))
        own = {"session": session("nothing"), "option": "a-model", "directory": FOLDER}
        told = f"It did not work with {' or '.join(own.values())}.\n{INNOCENT}"
        steps = [self.ask(self.tool, word, fails(1, stderr=told), **own) for word in words]
        steps += [self.ask(self.tool, f"What of {blank!r}?", fails(stderr=said), file=blank) for blank in BLANKS[1:6]]
        title = f"Failures of {self.tool} that repeat nothing."
        files = {FOLDER: None}
        return self.conversation(f"{self.tool}-nothing", title, steps, "error:prefix", "error:stderr", files=files)

    def beside(self) -> Conversation:
        """Failures that repeat what is private of their calls, while others have begun that are as private."""
        first, last = (self._held(tool, name) for tool, name in ((self.tool, "first"), (self.first, "last")))
        quick = self.ask(self.first, "Another question?", fails(53, stderr="Another.\n"), session=session("another"))
        steps = (first, last, quick, Release("first"), Await("first"), Release("last"), Await("last"))
        title = f"A failure of {self.tool} beside other calls."
        shows = ("error:prompt", "error:stderr", "concurrency:crossed", "stdio:stderr:private")
        return self.conversation(f"{self.tool}-beside", title, steps, *shows)

    def _held(self, tool: str, name: str) -> Request:
        """A call that fails when it is released, and repeats all that is private of it."""
        words, file = f"The {name} plan that nobody else may read.", f"You are the {name} who knows of the plan."
        echoes = Script("echoes", ({"release": name}, *in_a_sentence(f"{words} {file}")))
        return self.ask(tool, words, echoes, name=name, until="started", session=session(name), file=file)

    def refusals(self) -> Conversation:
        """Calls with one wrong argument; what the others hold is not to be repeated, nor what is right of it."""
        text, spec = TEXTS["a sentence"], self.spec
        steps: list[Request] = []
        for name in spec.template(self.tool).private:
            for rule in rules(name, spec.invocation):
                wrong = f"{text}{samples(rule.pattern)[0]}{text}" if rule.pattern is not None else text
                if refusals(name, wrong, spec.invocation):
                    steps.append(self.ask(self.tool, "What is wrong?", also={name: wrong}))
        for name in self.spec.tools[self.tool].properties:
            private = self.spec.template(self.tool).private
            given: dict[str, Json] = {each: text for each in private if each != name}
            wrong = {"not": text if name in private else "allowed"}
            steps.append(self.ask(self.tool, text, also={**given, name: wrong}))
        title = f"Refused calls of {self.tool} with something private."
        return self.conversation(f"{self.tool}-refused", title, steps, "error:prompt", "arguments:refused:is-error")


def _grown(key: str, mask: str) -> str:
    """The key with many more characters, and with every mark before them that leaves it one."""
    long = (f"{key}{letter * MUCH}" for letter in ("a", "0", "A"))
    grown = next((each for each in long if _length(each, mask) > MUCH), key)
    at = len(grown) // (2 if grown == key else 4)
    for mark in MARKS:
        other = f"{grown[:at]}{mark}{grown[at:]}"
        grown = other if _length(other, mask) > _length(grown, mask) else grown
    return grown


def _in_lines(keys: Iterable[str], mask: str) -> tuple[str, ...]:
    """A key with lines where most marks are around, if one may have some: as here, on Windows, and as JSON has them."""
    parted = [(key[:at], key[at:]) for key in sorted(keys, key=len) for at in range(1, len(key))]
    whole = KEY_LINES.join(max(parted, key=lambda parts: min(_marks(parts[0][::-1]), _marks(parts[1]))))
    forms = (whole, whole.replace("\n", "\r\n"), json.dumps(whole))
    return forms if _length(whole, mask) > len(KEY_LINES) else ()


def _marks(text: str) -> int:
    """How many marks it begins with."""
    return len(text) - len(text.lstrip(MARKS))


def _length(text: str, mask: str) -> int:
    """How much of a text the mask finds at once."""
    return max((len(found[0]) for found in re.finditer(mask, text)), default=0)
