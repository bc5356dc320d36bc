"""Outcomes: what gemini does in the end, by kind, for any call; pure.

A kind holds many outcomes of like nature, and whoever asks takes one after the other. A new outcome goes into the kind
that it resembles: combinations meet every kind with everything, not every outcome.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import cycle, product
from typing import TypeAlias

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.patterns import samples
from gemini_mcp_conformance.spec.reading import newest
from gemini_mcp_conformance.spec.schema import matching
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.plays import Plays, does
from gemini_mcp_conformance.talk.texts import CHARACTERS

KIB = 1024
SIZES = (4 * KIB, 8 * KIB, 16 * KIB, 64 * KIB, 128 * KIB)
"""Sizes of buffers, around which an answer may be cut."""
FILLERS = ("x", "é", "€", "😀")
"""Characters of every length in UTF-8, so that a cut falls within one."""
ENDLESS = {"hang", "wait", "release", "child", "ignore"}
EXITS = (1, 2, 3, 7, 42, 64, 126, 127, 128, 137, 143, 199, 200, 254, 255)
SIGNALS = ("KILL", "SEGV", "TERM", "INT", "HUP", "ABRT", "PIPE")
ECHOED = range(16, 4 * KIB)
"""Characters of a text that gemini repeats on stderr: too many to be there by chance, and few enough for an error."""
WARNINGS: tuple[Json, ...] = (None, ["Something may be wrong."], ["First.", "Then: 서울.", "", "First."])
NOTICE = "Loaded cached credentials.\nA warning: 서울 👍\n"
"""What gemini may write to stderr in any case."""
KEY = "AIzaSyD-0123456789abcdefghijklmnopqrstuv"

TEXTS: Mapping[str, str] = {
    "unicode": "naïve café – 서울, 東京, Ελλάδα, שלום",
    "emoji": "👩‍👩‍👧‍👦 🇰🇷 👍🏽 and 𝒳",
    "combining": "e\u0301 o\u0308 \u1100\u1161\u11a8 versus é ö 각",
    "newlines": "one\ntwo\r\nthree\rfour\n\nfive",
    "separators": "a\u2028b\u2029c\u0085d\x0be\x0cf",
    "blanks": " \t two before, three after \n\n ",
    "only-blanks": " \n\t ",
    "json-object": '{"SESSION": "not-this", "TEXT": "nor this"}',
    "json-answer": '{"TEXT": "inner"}',
    "json-at-end": 'It prints: {"TEXT": "inner", "SESSION": "inner"}',
    "json-lines": '```json\n{\n  "TEXT": "inner",\n  "ERROR": null\n}\n```',
    "json-error": '{"ERROR": {"message": "no error"}}',
    "json-array": '["a", {"TEXT": 1}]',
    "json-text": '"quoted"',
    "looks-like-error": "PREFIXthis is what the model saysSEPARATORnothing",
    "escapes": 'back\\slash \\n \\u0041 quote" tab\t nul\x00 esc\x1b[31m del\x7f',
    "html": "<b>&amp;</b> <!-- --> ]]> ${HOME} $(id) `id` %s {0} {{x}}",
    "markdown": "```python\nprint('{')\n```\n\n| a | b |\n|---|---|\n",
    "number": "42",
    "word": "null",
    "bom": "\ufeffafter a byte order mark\ufeff",
    "noncharacters": "\ufffd \ufffe \uffff \U0010ffff",
    "long-line": "x" * 70_000,
    "many-lines": "line\n" * 20_000,
}
"""Answers by what is odd in them. Words in capitals stand for words of the specification."""


@dataclass(frozen=True)
class Turn:
    """A call for which an outcome is wanted. `private` are texts of its arguments; gemini reports `session`."""

    number: int
    session: str
    private: tuple[str, ...] = ()


Outcome: TypeAlias = Callable[[Turn], Script]


class Outcomes(Plays):
    """Makes outcomes by the words of one specification."""

    def kinds(self) -> Mapping[str, tuple[Outcome, ...]]:
        """The outcomes by their kind."""
        return {
            "answer": tuple(self._answers()),
            "odd-answer": tuple(self._odd_answers()),
            "sized-answer": (*self._sized_answers(), *self._sized_texts()),
            "script": tuple(self._scripts()),
            "listed": tuple(self._listings()),
            "ended": tuple(self._ends()),
            "told": tuple(self._told()),
            "echo": tuple(self._echoes()),
        }

    def spelt(self, text: str) -> str:
        """A text of TEXTS with the words of the specification in it."""
        outcome = self.spec.outcome
        words = {"SESSION": outcome.answer["session"], "TEXT": outcome.answer["text"], "ERROR": outcome.answer["error"]}
        for mark, word in {**words, "PREFIX": outcome.prefix, "SEPARATOR": outcome.separator}.items():
            text = text.replace(mark, word)
        return text

    def listed(self, index: int, session: str) -> str:
        """A line of the list of sessions: as gemini prints it, or as the pattern of the specification asks for."""
        entry = self.spec.invocation.listing.entry
        usual = f"  {index}. Title [{index}] (of sorts) (3 hours ago) [{session}]"
        made = None if newest(usual, entry) == session else re.match(entry, matching(entry) or "")
        if made is None:
            return usual
        (start, end), (begin, stop) = made.span(1), made.span(2)
        return f"{made.string[:start]}{index}{made.string[end:begin]}{session}{made.string[stop:]}"

    def _answers(self) -> Iterator[Outcome]:
        dumps: tuple[dict[str, Json], ...] = ({}, {"ensure_ascii": False}, {"indent": 2})
        for dump in dumps:
            yield lambda turn, dump=dump: self.answers(f"The answer to turn {turn.number}.", turn.session, **dump)

    def _odd_answers(self) -> Iterator[Outcome]:
        for number, text in enumerate(map(self.spelt, (*TEXTS.values(), *CHARACTERS.values()))):
            form = ("{odd}", "{number}. {odd}", "{odd} {number}")[number % 3]
            dump: Mapping[str, Json] = ({"ensure_ascii": False}, {}, {"indent": 2, "ensure_ascii": False})[number % 3]
            yield partial(self._odd_answer, text, form, dump)

    def _odd_answer(self, odd: str, form: str, dump: Mapping[str, Json], turn: Turn) -> Script:
        return self.answers(form.format(odd=odd, number=turn.number), turn.session, **dump)

    def _sized_answers(self) -> Iterator[Outcome]:
        """Outputs that are just as long as a buffer, or a byte more or less, whole and in two pieces."""
        for number, (size, filler, more) in enumerate(product(SIZES, FILLERS, (-1, 0, 1))):
            yield partial(self._sized, size + more, filler, number % 2 == 1)
        for size in (KIB * KIB, KIB * KIB + 65, KIB * KIB + 66):
            yield partial(self._sized, size, "😀", size % 2 == 0)

    def _sized_texts(self) -> Iterator[Outcome]:
        """Texts that are just as long as a buffer, or a character more or less."""
        for size, more in product(SIZES, (-1, 0, 1)):
            yield lambda turn, size=size + more: self.answers(f"{turn.number} ".ljust(size, "x"), turn.session)

    def _sized(self, size: int, filler: str, in_pieces: bool, turn: Turn) -> Script:
        bare = self._printed(f"{turn.number} ", turn.session)
        room = size - len(bare)
        wide = filler * (room // len(filler.encode()))
        whole = self._printed(f"{turn.number} {'x' * (room - len(wide.encode()))}{wide}", turn.session)
        return pieces(whole[: size // 2 + 1], whole[size // 2 + 1 :]) if in_pieces else pieces(whole)

    def _printed(self, text: str, session: str) -> bytes:
        return json.dumps(self.document(text, session), ensure_ascii=False).encode()

    def _scripts(self) -> Iterator[Outcome]:
        """The scripts of the specification, as far as they end by themselves and print no megabytes."""
        for script in self.spec.scripts.values():
            if not takes_time(script) and script.list_sessions is None and not is_large(script):
                yield lambda turn, script=script: script
                yield lambda turn, script=script: Script(script.id, ({"stderr": NOTICE}, *script.play))
        yield from self._documents()

    def _documents(self) -> Iterator[Outcome]:
        """What the JSON can hold: texts, sessions, errors and warnings, each there or not."""
        errors: tuple[Json, ...] = (None, "It failed.", {"message": "No."})
        for text, error, warnings, named in product(("A text.", None), errors, WARNINGS, (False, True)):
            yield partial(self._document, text, error, warnings, named or error is None)

    def _document(self, text: str | None, error: Json, warnings: Json, named: bool, turn: Turn) -> Script:
        keys = self.spec.outcome.answer
        held: dict[str, Json] = {
            keys["session"]: turn.session if named else None,
            keys["text"]: text and f"{text} {turn.number}",
            keys["warnings"]: warnings,
            keys["error"]: error,
        }
        document = {key: value for key, value in held.items() if value is not None}
        return Script("document", ({"stdout": json.dumps(document)},))

    def _listings(self) -> Iterator[Outcome]:
        """Answers without a session, and lists of sessions of many kinds; some are of no use."""
        forms = ("", "  ", "\t", "            "), ("", " (current)", "\r"), ("stdout", "stderr"), ("\n", "")
        every = list(product(*forms))
        # Whoever takes only the first ones meets something of each form.
        spread = [every[number * 19 % len(every)] for number in range(len(every))]
        for count, (indent, behind, stream, end) in zip(cycle((1, 12, 120, 1200)), spread, strict=False):
            yield partial(self._listing, count, indent, behind, stream, end)
        for play in ({"exit": 1}, {"stdout": "No previous sessions found for this project.\n"}, {"signal": "KILL"}):
            yield lambda turn, play=play: Script("bare", self._bare(turn), (play,))

    def _listing(self, count: int, indent: str, behind: str, stream: str, end: str, turn: Turn) -> Script:
        """A list of so many sessions; the newest stands neither first nor last."""

        def odd(index: int, session: str) -> str:
            return f"{indent}{index}. Odd\f title\u2028 of [{index}] [{session}]{behind}"

        known = newest(odd(count, turn.session), self.spec.invocation.listing.entry) == turn.session
        entry = odd if known else self.listed
        others = [entry(index, f"{turn.number:08}-{index:04}") for index in range(1, count)]
        listed = [*others[: count // 2], entry(count, turn.session), *others[count // 2 :]]
        text = "\n".join(("", f"Available sessions for this project ({count}):", *listed))
        return Script("listed", self._bare(turn), ({stream: f"{text}{end}"},))

    def _bare(self, turn: Turn) -> tuple[Json, ...]:
        return self.answers(f"No session is named in turn {turn.number}.", None).play

    def _ends(self) -> Iterator[Outcome]:
        """Failures of every kind, some behind a whole answer."""
        stderrs = ("It failed.\n", "", "It failed", "It failed\r\nhere: 서울 👍\n", *CHARACTERS.values())
        ends: list[Json] = [*({"exit": code} for code in EXITS), *({"signal": name} for name in SIGNALS)]
        for number in range(max(len(ends), len(stderrs))):
            yield partial(self._end, ends[number % len(ends)], stderrs[number % len(stderrs)], number % 3 == 0)
        for end in ends:
            yield partial(self._end, end, "", True)
        yield from self._long_ends()

    def _long_ends(self) -> Iterator[Outcome]:
        """Failures whose stderr is just as long as what an error may quote, or a byte more or less."""
        limit = self.spec.outcome.stderr_bytes
        for size, filler in product((limit // 2, limit - 1, limit, limit + 1, 2 * limit), ("x", "€", "line\n")):
            said = (filler * (size // len(filler.encode()))).rjust(size, "x")[-size:]
            yield lambda turn, said=said: Script("ends", ({"stderr": f"{said}"}, {"exit": 1}))

    def _end(self, end: Json, stderr: str, answers: bool, turn: Turn) -> Script:
        whole = self.answers("This must not be taken for an answer.", turn.session).play if answers else ()
        return Script("ends", (*whole, {"stderr": stderr}, end))

    def _told(self) -> Iterator[Outcome]:
        """Failures that mean something, by their exit code or by what stderr says."""
        sentences = self.spec.outcome.sentences
        codes = dict.fromkeys(code for sentence in sentences for code in sentence.exits)
        said = [text for sentence in sentences if sentence.stderr for text in texts_for(sentence.stderr)]
        for play in (*(_saying("It ended.", code) for code in codes), *(_saying(text, 1) for text in said)):
            yield lambda turn, play=play: play
        for code in codes:
            yield partial(self._end, {"exit": code}, "", True)

    def _echoes(self) -> Iterator[Outcome]:
        """Failures that repeat what is private, on stderr and in the error of the JSON, and keys."""
        error = self.spec.outcome.answer["error"]
        forms: tuple[Callable[[str], tuple[Json, ...]], ...] = (
            lambda text: ({"stderr": f"cannot use: {text}\nat line 1\n"}, {"exit": 1}),
            lambda text: ({"stderr": json.dumps({error: {"message": f"refused: {text}"}})}, {"exit": 42}),
            lambda text: ({"stderr": f"{text}\n{text}\n"}, {"signal": "TERM"}),
            lambda text: ({"stdout": json.dumps({error: {"message": f"refused: {text}", "code": 1}})},),
            lambda text: ({"stdout": text}, {"stderr": f"[{text}]"}, {"exit": 2}),
        )
        for form in forms:
            yield partial(_echo, form)

    def answers_anew(self, turn: Turn) -> Script:
        """An ordinary answer, unlike that of any other turn."""
        return self.answers(f"The answer to turn {turn.number}, once more.", turn.session)


def _echo(form: Callable[[str], tuple[Json, ...]], turn: Turn) -> Script:
    texts = [text for text in turn.private if len(text.strip()) in ECHOED and "\0" not in text] or [f"?key={KEY}"]
    return Script("echoes", form(texts[turn.number % len(texts)]))


def _saying(text: str, exit: int) -> Script:
    return Script("says", ({"stderr": f"It says: {text}\n"}, {"exit": exit}))


def texts_for(pattern: str) -> Iterable[str]:
    """Printable texts in which a pattern is found."""
    found = [text for text in samples(pattern) if text.isprintable() and text.strip()]
    return found or filter(None, (matching(pattern),))


def pieces(*parts: bytes) -> Script:
    """Bytes on stdout, with a pause between the parts."""
    first, *others = ({"stdoutBase64": b64encode(part).decode("ascii")} for part in parts)
    return Script("pieces", (first, *(step for other in others for step in ({"wait": 0.02}, other))))


def takes_time(script: Script) -> bool:
    """Whether it waits, or has something done meanwhile."""
    return does(script, ENDLESS)


def is_large(script: Script) -> bool:
    """Whether it prints very much."""
    return any("fill" in step for step in script.play)
