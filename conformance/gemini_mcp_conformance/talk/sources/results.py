"""What becomes of every kind of text that gemini can answer, for each tool.

A defect may show in one tool only, or in the second call only, so each conversation holds several calls.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from itertools import product

from gemini_mcp.spec.families import kebab
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.echoes import NOISE
from gemini_mcp_conformance.talk.outcomes.answers import AMONG, DUMPS, TEXTS, laid_out, spelt
from gemini_mcp_conformance.talk.plays import ends, fails, pieces, session
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.sources.listings import SESSION
from gemini_mcp_conformance.talk.steps import Request, told
from gemini_mcp_conformance.talk.texts import FULL_PAGES, REFERENCES, filling
from gemini_mcp_conformance.talk.ways import Ways

ORDER = 15

TEXT = (
    "stdio:encoding",
    "result:content",
    "result:success",
    "result:text",
    "result:text:unicode",
    "result:text:newline",
    "result:text:blanks",
    "result:text:json",
    "result:json:pretty",
    "result:json:compact",
    "result:json:notice-before",
    "result:json:notice-after",
    "result:session-id",
    "fallback:unneeded",
)
"""What a text of any kind shows."""

ODD_WARNINGS: Json = ["A text.", 429, {"code": 7, "message": "Slow."}, ["Of", "two."]]
ODD_MESSAGE = '서울 é e\u0301 👍 \u2764\ufe0f \u2066left\u2069 \ue000\n{ "in": [a second line] }'
"""What gemini may say of its failure."""
REPEATED = "서울 is known to no model."
"""What it may say in a line, and tell in JSON besides."""
MEBIBYTE = filling("A line of noise.\n", FULL_PAGES)
"""More on stderr than a port may have room for."""
DAMAGED = {
    "within": "서울 is whole, ".encode() + b"caf\xe9 is damaged\n",
    "marked as UTF-16": b"\xff\xfeis what stands before this.\n",
}
"""What is no UTF-8."""
NUMBER = "3"
"""A session by its place in the list."""
SEPARATED = "\u2028and\u2029for\x85nobody else"
"""Words between which some software ends lines, though JSON does not."""
MANY = 3_000
"""Characters of a message that is longer than ports may show."""
DAMAGED_ANSWERS = {"begun": b"caf\xc3 ", "half": b"\xea\xb0", "continued": b"\x80\xbf", "a surrogate": b"\xed\xa0\x80"}
"""Bytes within an answer that are no UTF-8."""
NOTICES = "Loaded cached credentials.\n" * 3_000
"""Lines in front of an answer that are longer together than 64 KiB."""
BRACES = "Of {x} and {y}, f(x) { return } {\n" * 70
"""Lines in front of an answer that hold hundreds of braces, none of which begins JSON."""


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Texts of every kind, whole and in pieces, and answers that are unusual."""
    for tool in sources.spec.names:
        made = Results(sources, tool)
        yield made.texts()
        yield made.split()
        yield made.others()
        yield made.keyed()


class Results(Ways):
    """What calls of one tool are answered with."""

    def texts(self) -> Conversation:
        steps: list[Request] = []
        for number, ((name, text), _) in enumerate(product(TEXTS.items(), DUMPS)):
            # Each text in one notation, with the next tool in another one.
            if number % len(DUMPS) != (number // len(DUMPS) + self.place) % len(DUMPS):
                continue
            # What stands around a text with one tool does not with the next.
            way = number + len(DUMPS) * self.place
            answer = laid_out(self.sources, way, spelt(text, self.spec.outcome), f"{SESSION[:-2]}{number:02}")
            asked = self.ask(f"Answer with {name}, {number}", answer)
            # Over HTTP the answer to who asks for progress is an event, in which line ends divide.
            is_told = len(text.splitlines()) > 1 or (number // len(DUMPS) + self.place) % 2
            steps.append(told(asked, f"text {number}") if is_told else asked)
        title = f"Odd answers to {self.tool}, each in a session of its own, one after the other."
        shows = (*TEXT, f"result:session-id:{kebab(self.tool)}")
        return self.conversation(f"texts-{self.tool}", title, steps, *shows)

    def split(self) -> Conversation:
        document = self.sources.document("서울 👍 é", SESSION)
        whole = json.dumps(document, ensure_ascii=False).encode("utf-8")
        start = whole.index("서".encode())
        cuts = range(start + 1, start + 10)
        broken_off = _failing(pieces(whole[: cuts[0]]))
        plain = Script("plain", ({"stdout": "Plain, and whole.\n"},))
        steps = [self.ask("Broken off within a character", broken_off), self.ask("Plain behind it", plain)]
        steps += [self.ask(f"Cut after byte {cut}", pieces(whole[:cut], whole[cut:])) for cut in cuts]
        notice: dict[str, Json] = {"stderr": "A notice: 서울\n"}
        for cut in cuts[1::4]:
            steps.append(self.ask(f"A notice after byte {cut}", pieces(whole[:cut], notice, whole[cut:])))
        for cut in cuts[::3]:
            failing = pieces(whole[:cut], whole[cut:], stream="stderr")
            steps.append(self.ask(f"Fail, cut after byte {cut}", _failing(failing)))
        title = f"Answers and errors of {self.tool} that arrive in two pieces, cut within a character."
        shows = ("result:text:split", "result:plain-text", "error:stderr")
        return self.conversation(f"split-{self.tool}", title, steps, *shows)

    def others(self) -> Conversation:
        """JSON beside the answer's own, sessions that are no text, and errors without a message."""
        document, keys = self.sources.document, self.spec.outcome.answer
        hook = {keys["session"]: "00000000-0000-4000-8000-000000000000", "hook_event_name": "BeforeAgent"}
        error = {keys["session"]: SESSION, keys["error"]: {"message": "It failed."}}
        written: Mapping[str, tuple[Json, ...]] = {
            # The same session warns of nothing afterwards.
            "a warning": (document("Warned.", SESSION, warnings=["Something may be wrong."]),),
            "warnings that are no texts": (document("Warned oddly.", SESSION, warnings=ODD_WARNINGS),),
            "another object before it": (hook, document("Behind a hook.", SESSION)),
            "no session": ({**document("Null."), keys["session"]: None},),
            "a number for a session": (document("Seven.", 7),),
            "blanks around a session": (document("Named.", f" {SESSION}\t"),),
            "an error that is null behind it": (document("It stays.", SESSION), {keys["error"]: None}),
            "null for a text behind it": (document("Taken back.", SESSION), document(None, SESSION)),
            "an error behind it": (document("Taken back.", SESSION), error),
            "two drafts before it": (
                document("A draft.", SESSION),
                document("Another."),
                document("At last.", SESSION),
            ),
            "a draft of its session before it": (
                document("A draft, where it was asked.", SESSION),
                document("At last, elsewhere.", session("elsewhere at last")),
            ),
            "an error before it": (error, document("In the end.", SESSION)),
            "a draft before nothing": (document("A draft.", SESSION), document("", SESSION)),
            "an error without a message": (document("No.", SESSION, error={"code": 1}),),
            "a text for an error": (document("No.", SESSION, error="It failed."),),
            "an empty error": (document("No.", SESSION, error={}),),
            "halves of characters": (document("Half \ud83d\ud83d\ude00 of it, \ude00\ud83d and \ud83d", SESSION),),
            "a number for a text": (document(42, SESSION),),
            "a truth for a text": (document(True, SESSION),),
            "texts for a text": (document(["In ", "parts."], SESSION),),
            "a part for a text": (document({"text": "Within."}, SESSION),),
        }
        steps: list[Request] = []
        # A warning stays one when the session has had it before.
        written = {**written, "the first warning again": written["a warning"]}
        for kind, documents in written.items():
            script = Script("others", tuple({"stdout": json.dumps(each) + "\n"} for each in documents))
            steps += self.ways(f"Answer with {kind}", script)
        draft, last = (json.dumps(each) for each in (document("A draft.", SESSION), document("No draft.")))
        named = ({"stdout": f"{self.sources.entry(7, f'{SESSION[:-1]}7')}\n"},)
        steps.append(self.ask("Answer behind a draft", Script("others", ({"stdout": f"{draft}\n{last}"},), named)))
        longer = json.dumps(document("A draft, which is longer than what comes last.", SESSION))
        steps.append(self.ask("Answer behind much", Script("others", ({"stdout": f"{longer}\n{last}"},), named)))
        warned = self.answers("Behind a mebibyte.", SESSION).play
        steps.append(self.ask("Answer behind a mebibyte", Script("others", ({"stderr": MEBIBYTE}, *warned))))
        steps += [self.in_turn(number, f"Answer in way {number}", way) for number, way in enumerate(self._laid_out())]
        for shift in range(len("서".encode())):
            failed = {self.spec.outcome.answer["error"]: {"message": "x" * shift + "서" * MANY}}
            script = Script("says", ({"stdout": json.dumps(failed)}, {"exit": 1}))
            steps.append(self.ask(f"A long message behind {shift} letters", script))
        for kind, data in DAMAGED_ANSWERS.items():
            printed = json.dumps(document(f"What is {kind} (|) is lost.", SESSION)).encode().replace(b"|", data)
            said = {"stdoutBase64": b64encode(printed).decode("ascii")}
            steps.append(self.ask(f"Damage of an answer, {kind}", Script("damaged", (said,))))
        for kind, data in DAMAGED.items():
            said = {"stderrBase64": b64encode(data).decode("ascii")}
            steps.append(self.ask(f"Damage stderr, {kind}", Script("fails", (said, {"exit": 1}))))
        if self.spec.session(self.tool) is not None:
            nears = [(SESSION, near) for near in (f"{SESSION}-2", SESSION[:-1], SESSION.upper(), SESSION[::-1])]
            for own, near in (*nears, (NUMBER, SESSION)):
                changed = self.answers("It goes on elsewhere.", near)
                steps.append(self.ask(f"Answer in {near}, not quite where it was asked", changed, session=own))
        # An answer may repeat what a failure may not.
        for words in (f"Repeat it for {self.tool}", self.overlong(f"Repeat much for {self.tool}. ")):
            said = f"You know all. {words} a-model"
            steps.append(self.with_all(words, self.answers(said, SESSION), SESSION))
        steps.append(self.ask("Answer on stderr", Script("misplaced", ({"stderr": draft},))))
        shows = (
            *("result:stderr", "result:large-stderr", "result:session-id", "result:session-id:changed"),
            *("result:error-key", "result:warnings", "result:warnings:key", "fallback:none"),
            *("fallback:list-sessions", "fallback:latest", "error:stderr", "result:text", "result:text:surrogate"),
            *("result:no-output", "result:no-response", "stdio:stderr:private", "stdio:stdout"),
            *("result:json:encoding", "result:json:notice-before", "result:json:pretty", "result:json:last"),
            "result:json:braces",
        )
        title = f"{self.tool}, answered in unusual ways."
        return self.conversation(f"others-{self.tool}", title, steps, *shows)

    def keyed(self) -> Conversation:
        """What is known by its key alone."""
        document, outcome = self.sources.document, self.spec.outcome
        # Only an empty text is none: a blank one is what gemini says.
        said = (document("", SESSION), document(" \n", SESSION), document("", SESSION, warnings=[]))
        counted = [self.sources.counts(depth, None) for depth in range(1, len(outcome.asked) + 1)]
        answers = [{**each, **self.sources.unasked} for each in said] if outcome.asked else []
        answers += [{**document("", SESSION), **each} for each in counted]
        told = [
            json.dumps({outcome.answer["error"]: {"type": "Error", "message": f"It tells {text}.", "code": 1}})
            for text in (f"{REFERENCES} %%", ODD_MESSAGE)
        ]
        cuts = [each for number, each in enumerate(self._cut()) if self.has(number)]
        error = json.dumps({outcome.answer["error"]: {"message": REPEATED}})
        twice = ({"stderr": f"{REPEATED}\nOnce more:\n{REPEATED}\n"}, {"stdout": error}, {"exit": 1})
        noisy = ({"stderr": "Behind a notice.\n"}, {"stdout": f"{json.dumps(document('Noisy.', SESSION))}\nBye.\n"})
        steps = [
            asked
            for each in answers
            for asked in self.ways("Who is asked?", Script("keyed", ({"stdout": json.dumps(each)},)))
        ]
        steps += [asked for said, noise in zip(told, ("", NOISE), strict=True)
                  for asked in self.ways("What does JSON tell?", ends({"exit": 1}, f"{said}\n{noise}"))]  # fmt: skip
        steps += self.ways("What is around an answer?", Script("keyed", noisy))
        answer = ({"stderr": f"{error}\n"}, {"stdout": json.dumps(document("", SESSION))})
        steps += self.ways("What was said before nothing?", Script("keyed", answer))
        steps += self.ways("What is said on both?", Script("twice", twice))
        steps += self.ways("What is said and told?", ends({"exit": 1}, f"It says.\n{REPEATED}\n{error}\n"))
        steps += [self.in_turn(number, f"What is cut off, {number}?", each) for number, each in enumerate(cuts)]
        steps.append(self.ask("What is said no more?", fails(stderr="")))
        shows = ("result:empty", "result:unasked", "result:text:blanks", "error:json-on-stderr", "result:stderr")
        shows = (*shows, "result:json:notice-after", "error:stderr:empty", "error:is-error")
        shows = (*shows, "result:truncated", "result:success", "error:stderr")
        title = f"{self.tool}, answered with what is known by its key."
        return self.conversation(f"keyed-{self.tool}", title, steps, *shows)

    def _cut(self) -> Iterable[Script]:
        """JSON that breaks off behind a key, a text or a comma, in an escape, a number, a word or a character.

        Last it breaks off in a text in which more is closed than was ever open.
        """
        document = self.sources.document("It says:\n서울.", SESSION, stats={"of": [12.5, True]})
        plain, escaped = (json.dumps(document, ensure_ascii=each).encode() for each in (False, True))
        marks = (": ", '서울."', '서울.", ', "says:\\", "12.", "[12.5, tr", "true]}")
        cuts = [*((plain, mark.encode()) for mark in marks), (plain, "울".encode()[:2]), (escaped, b"\\uc")]
        cuts.append((json.dumps(self.sources.document("It closes }}}} ]]]] at once", SESSION)).encode(), b"]]]] at"))
        for whole, mark in cuts:
            kept = whole[: whole.index(mark) + len(mark)]
            yield Script("cut", ({"stdoutBase64": b64encode(kept).decode("ascii")},))

    def _laid_out(self) -> Iterable[Script]:
        """The JSON behind more text than a buffer holds, in lines as on Windows, with tabs, and among other JSON."""
        pretty, tabs = (
            json.dumps(self.sources.document(f"Laid out,{SEPARATED}."), ensure_ascii=False, indent=indent)
            for indent in (2, "\t")
        )
        behind = (f"{before}{pretty}" for before in (NOTICES, BRACES, "[WARN] In brackets.\n"))
        for text in (*behind, pretty.replace("\n", "\r\n"), tabs):
            yield Script("laid out", ({"stdout": text},))
        for around in AMONG:
            yield Script("laid out", ({"stdout": around.replace("JSON", json.dumps(self.sources.document("Among.")))},))


def _failing(script: Script) -> Script:
    """The script, behind which gemini fails."""
    return Script("fails", (*script.play, {"exit": 1}))
