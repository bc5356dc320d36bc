"""What becomes of every way in which gemini can end, and of every kind of text that it can answer, for each tool.

A defect may show in one tool only, or in the second call only, so each conversation holds several calls.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, islice, product

from gemini_mcp.spec.families import kebab
from gemini_mcp.spec.values import Json, table
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.echoes import KEY, NOISE
from gemini_mcp_conformance.talk.outcomes.answers import AMONG, DUMPS, TEXTS, laid_out, spelt
from gemini_mcp_conformance.talk.outcomes.failures import ENDS, exits_of_sayings, exits_with_meaning, said, said_first
from gemini_mcp_conformance.talk.plays import ends, fails, pieces, says, takes_time
from gemini_mcp_conformance.talk.sources import Maker, Sources, sequences
from gemini_mcp_conformance.talk.sources.listings import FALLBACK, SESSION
from gemini_mcp_conformance.talk.steps import Request, Step, path, told
from gemini_mcp_conformance.talk.texts import FULL_PAGES, REFERENCES, filling, placeholders

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
LARGE = "large-"
ELSEWHERE = "elsewhere"
LONGER = 1_000
"""Bytes by which a prompt is longer than what goes on the command line."""
MEBIBYTE = filling("A line of noise.\n", FULL_PAGES)
"""More on stderr than a port may have room for."""
DAMAGED = {
    "within": "서울 is whole, ".encode() + b"caf\xe9 is damaged\n",
    "marked as UTF-16": b"\xff\xfeis what stands before this.\n",
}
"""What is no UTF-8."""
MANY = 3_000
"""Characters of a message that is longer than ports may show."""
DAMAGED_ANSWERS = {"begun": b"caf\xc3 ", "half": b"\xea\xb0", "continued": b"\x80\xbf", "a surrogate": b"\xed\xa0\x80"}
"""Bytes within an answer that are no UTF-8."""
NOTICES = "Loaded cached credentials.\n" * 3_000
"""Lines in front of an answer that are longer together than 64 KiB."""
BRACES = "Of {x} and {y}, f(x) { return } {\n" * 70
"""Lines in front of an answer that hold hundreds of braces, none of which begins JSON."""
FAILURE = (
    *("error:is-error", "error:content", "error:prefix", "error:exit", "error:signal", "error:session-id"),
    *("error:stderr", "error:stderr:empty", "error:stderr:tail", "error:json-on-stderr", "error:secrets"),
    *("error:quota", "error:session-gone", "concurrency:after-failure", "command:once"),
)
ANSWER = (
    *(
        "result:content",
        "result:success",
        "result:text",
        "result:stderr",
        "result:large-stdout",
        "result:large-stderr",
        "result:session-id:changed",
    ),
    *("result:json:notice-before", "result:json:notice-after", "result:json:braces", "result:json:last"),
    *("result:json:encoding", "result:plain-text", "result:empty", "result:warnings", "result:error-key"),
    *(
        "result:warnings:key",
        "result:no-output",
        "result:truncated",
        "result:no-response",
        "result:unasked",
        "error:is-error",
        "error:session-id",
    ),
)


def conversations(sources: Sources) -> Iterable[Conversation]:
    """The texts, the scripts of the specification, and gemini that cannot be started."""
    for tool in sources.spec.names:
        made = Results(sources, tool)
        yield made.texts()
        yield made.split()
        for name, script in sources.scripts.items():
            if not takes_time(script):
                yield made.script(name, script)
        yield from made.not_started()
        yield made.endings()
        if sources.spec.prompt(tool) is not None:
            yield made.unread()
        yield made.causes()
        yield made.noises()
        yield made.others()
        yield made.keyed()


class Results(Maker):
    """What calls of one tool are answered with."""

    phase, prefix = "outcomes", ""

    def __init__(self, sources: Sources, tool: str) -> None:
        super().__init__(sources)
        self.tool, self.ask = tool, partial(sources.ask, tool)
        self.place = self.names.index(tool)

    def conversation(self, id: str, title: str, steps: Iterable[Step], *shows: str, **more: Json) -> Conversation:
        asked = ("progress:start", "progress:token", "progress:end")
        every = dict.fromkeys((*shows, *sequences.shows(self.sources), *asked))
        return super().conversation(id, title, steps, *every, files={ELSEWHERE: None}, **more)

    def with_all(self, words: str, script: Script, session: str | None = None) -> Request:
        """The call with everything that the tool takes, and a token."""
        own: dict[str, Json] = {"directory": path(ELSEWHERE), "file": "You know all.", "option": "a-model"}
        asked = self.ask(words, script, session=session, **own)
        return told(asked, words[:99])

    def ways(self, words: str, script: Script) -> list[Request]:
        """The call with everything and a long prompt; if it resumes a session, the latest one, and once one by its id.

        Whatever a fault wants of the arguments beside this outcome, one of these has it.
        """
        long = self.long(words, script)
        return [self.named(words, script), long] if self.spec.session(self.tool) else [long]

    def in_turn(self, number: int, words: str, script: Script) -> Request:
        """A call with everything, every other time with a long prompt."""
        return (self.long if number % 2 else self.named)(words, script)

    def named(self, words: str, script: Script) -> Request:
        return self.with_all(words, script, SESSION)

    def long(self, words: str, script: Script) -> Request:
        return self.with_all(words.ljust(self.spec.limit + LONGER, "x"), script)

    def has(self, number: int) -> bool:
        """Whether this tool plays what two tools share; one alone plays all of it."""
        return self.sources.falls_to(self.tool, number)

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
        for cut in cuts[::3]:
            failing = pieces(whole[:cut], whole[cut:], stream="stderr")
            steps.append(self.ask(f"Fail, cut after byte {cut}", _failing(failing)))
        title = f"Answers and errors of {self.tool} that arrive in two pieces, cut within a character."
        shows = ("result:text:split", "result:plain-text", "error:stderr")
        return self.conversation(f"split-{self.tool}", title, steps, *shows)

    def script(self, name: str, script: Script) -> Conversation:
        words = f"What is the capital of France, says {name}?"
        if name.startswith(LARGE):
            steps = [self.with_all(words, script, SESSION) if self.place % 2 else self.ask(words, script)]
        else:
            after = self.ask("And after that, without anything?", self.answers("Lyon is not."))
            asked, *others = self.ways(words, script)
            steps = [asked, after, *others]
        id, title = f"outcome-{self.tool}-{name}", f"{self.tool}: {name}."
        return self.conversation(id, title, steps, *_shown(script))

    def not_started(self) -> Iterable[Conversation]:
        steps = (self.ask("Is anybody there who may not be told?"), Request("ping"), self.ask("And now?"))
        shows = ("error:not-started", "error:not-started:remedy", "error:prompt", "stdio:stderr:private")
        for state in ("absent", "not-executable"):
            id, title = f"gemini-{state}-{self.tool}", f"{self.tool}, and gemini is {state.replace('-', ' ')}."
            yield self.conversation(id, title, steps, *shows, gemini=state)
        shows = (*shows, "stateless:result-type", "stateless:server-info")
        for revision in self.spec.manifest.stateless_revisions:
            id, title = f"gemini-absent-{self.tool}-{revision}", f"{self.tool}, and gemini is absent, in {revision}."
            yield self.conversation(id, title, steps, *shows, gemini="absent", revision=revision)

    def endings(self) -> Conversation:
        """A full answer on stdout does not make a success of a run that failed."""
        failed = self.sources.ends_behind_answer
        chosen = [each for number, each in enumerate(ENDS) if "signal" in table(each) or self.has(number)]
        # Every other end says something.
        steps = [
            self.in_turn(
                number // 2,
                f"End with {end}",
                failed(end, "It failed.\n" if (number + self.place) % 2 else "", SESSION),
            )
            for number, end in enumerate(chosen)
        ]
        title = f"{self.tool}, when gemini answers and fails all the same."
        return self.conversation(f"endings-{self.tool}", title, steps, *FAILURE, "stdio:stderr:private")

    def unread(self) -> Conversation:
        """Runs that have read nothing of a prompt that is longer than a pipe holds."""
        plays = (fails(2), fails(), self.answers("Without a look at it.", SESSION))
        steps = [
            self.ask(self.overlong(f"Unread, and long, {number}. "), Script("unread", ({"unread": ""}, *script.play)))
            for number, script in enumerate(plays)
        ]
        title = f"{self.tool}, when gemini reads nothing of a long prompt."
        steps.append(self.ask("And after that?", self.answers("Read.")))
        shows = ("error:exit", "error:stderr", "concurrency:after-failure", "result:text", "result:success")
        return self.conversation(f"unread-{self.tool}", title, steps, *shows)

    def causes(self) -> Conversation:
        """Every exit code, and every text on stderr, that the specification has a sentence for."""
        codes, key = exits_with_meaning(self.spec), self.spec.outcome.answer["error"]
        steps: list[Request] = []
        for number, code in enumerate(codes):
            # stderr says something, or nothing, or holds the error of a JSON.
            stderrs = ("It ended in line 429 of 500.\n", "", json.dumps({key: {"message": "It ended."}}))
            for shift, asked in enumerate(self.ways(f"Which cause has {code}?", Script("ends", ()))):
                script = ends({"exit": code}, stderrs[(number + shift + self.place) % len(stderrs)])
                steps.append(replace(asked, scripts=(script,)))
        texts = said(self.spec)
        exits = exits_of_sayings(self.spec)
        pairs = product(enumerate(texts), enumerate(exits))
        # With some of these codes come sentences of their own.
        others = [code for code in codes if code not in exits]
        pairs = chain(pairs, product(enumerate(said_first(self.spec)), enumerate(others)))
        said_of = [(text, exit) for (one, text), (other, exit) in pairs if self.has(one + other)]
        steps += [
            self.in_turn(number // 2, f"What says {text!r}?", says(text, exit))
            for number, (text, exit) in enumerate(said_of)
        ]
        steps += [
            self.in_turn(number // 2, f"What says {text!r} at first?", says(f"{text}\n{NOISE}", 1))
            for number, text in enumerate(texts)
            if self.has(number)
        ]
        answered = [
            self.in_turn(number // 2, f"Who answers {script.id} behind {text!r}?", script)
            for number, text in enumerate(texts)
            if self.has(number + 1)
            for script in self._warned(text)
        ]
        steps = [*_between(steps, answered)]
        sayings = (sentence for sentence in self.spec.outcome.sentences if sentence.stderr)
        shows = (
            *(*FAILURE, "result:success", "result:text", "result:plain-text"),
            *(f"error:exit:{code}" for code in codes),
            *(f"error:saying:{kebab(sentence.id)}" for sentence in sayings),
        )
        title = f"{self.tool}, by every exit code and every text on stderr that means something."
        return self.conversation(f"causes-{self.tool}", title, steps, *shows)

    def _warned(self, text: str) -> Iterator[Script]:
        """An answer, and a plain text, and on stderr what would say why a call fails."""
        warning: Json = {"stderr": f"At first: {text}\n"}
        yield Script("warned", (warning, *self.answers("Answered at last.", SESSION).play))
        yield Script("plainly", (warning, {"stdout": "Answered plainly.\n"}))

    def noises(self) -> Conversation:
        """What stderr holds may be private, or too much."""
        prompt, outcome = "Summarise the plan that nobody else may read, please.", self.spec.outcome
        # Together more than 256 KiB, and one line that is longer than 64 KiB.
        many = 12 * outcome.stderr_bytes // 8
        noises = {
            prompt: f"cannot read: {prompt}\nat line 1\n",
            "Which key?": f"request failed: https://example.org/?key={KEY}\n",
            "How much?": "".join(f"line {number} of much noise\n" for number in range(many)) + "the very end\n",
            self.overlong("How much of it? "): "서울 👍 " * many + "the very end\n",
            "What does it refer to?": f"{REFERENCES} {placeholders(('stderr', 'directory', 'exit', 'message'))}\n",
            "Whose words are these?": f"{outcome.prefix}It says so.{outcome.separator}twice.{outcome.separator}\n",
            "Nothing?": "",
        }
        steps = [self.ask(asked, fails(stderr=noise)) for asked, noise in noises.items()]
        for name, text in self._private().items():
            steps.append(self.ask(f"What of `{name}`?", fails(stderr=f"cannot use: {text}\n"), also={name: text}))
        title = f"{self.tool}, when gemini fails with something private or with very much on stderr."
        return self.conversation(f"noises-{self.tool}", title, steps, *FAILURE, "error:prompt")

    def _private(self) -> Mapping[str, str]:
        """Texts for the arguments beside the prompt that no error may repeat."""
        spec, tool = self.spec, self.tool
        others = [name for name in spec.template(tool).private if name not in (spec.prompt(tool), spec.directory(tool))]
        texts = {name: self.sources.value(tool, name, f"the-private-{kebab(name)}-of-somebody") for name in others}
        return {name: text for name, text in texts.items() if isinstance(text, str)}

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
            "an error before it": (error, document("In the end.", SESSION)),
            "a draft before nothing": (document("A draft.", SESSION), document("", SESSION)),
            "an error without a message": (document("No.", SESSION, error={"code": 1}),),
            "a text for an error": (document("No.", SESSION, error="It failed."),),
            "an empty error": (document("No.", SESSION, error={}),),
            "a number for a text": (document(42, SESSION),),
            "a truth for a text": (document(True, SESSION),),
            "texts for a text": (document(["In ", "parts."], SESSION),),
            "a part for a text": (document({"text": "Within."}, SESSION),),
        }
        steps: list[Request] = []
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
            for near in (f"{SESSION}-2", SESSION[:-1], SESSION.upper(), SESSION[::-1]):
                changed = self.answers("It goes on elsewhere.", near)
                steps.append(self.ask(f"Answer in {near}, not quite where it was asked", changed, session=SESSION))
        # An answer may repeat what a failure may not.
        for words in (f"Repeat it for {self.tool}", self.overlong(f"Repeat much for {self.tool}. ")):
            said = f"You know all. {words} a-model"
            steps.append(self.with_all(words, self.answers(said, SESSION), SESSION))
        steps.append(self.ask("Answer on stderr", Script("misplaced", ({"stderr": draft},))))
        shows = (
            *(
                "result:stderr",
                "result:large-stderr",
                "result:session-id",
                "result:session-id:changed",
                "result:error-key",
                "result:warnings",
                "result:warnings:key",
            ),
            *("fallback:none", "fallback:list-sessions", "fallback:latest", "error:stderr", "result:text"),
            *("result:no-output", "result:no-response", "stdio:stderr:private", "stdio:stdout"),
            *(
                "result:json:encoding",
                "result:json:notice-before",
                "result:json:pretty",
                "result:json:last",
                "result:json:braces",
            ),
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
            json.dumps(self.sources.document("Laid out, and for nobody else."), indent=indent) for indent in (2, "\t")
        )
        behind = (f"{before}{pretty}" for before in (NOTICES, BRACES, "[WARN] In brackets.\n"))
        for text in (*behind, pretty.replace("\n", "\r\n"), tabs):
            yield Script("laid out", ({"stdout": text},))
        for around in AMONG:
            yield Script("laid out", ({"stdout": around.replace("JSON", json.dumps(self.sources.document("Among.")))},))


def _failing(script: Script) -> Script:
    """The script, behind which gemini fails."""
    return Script("fails", (*script.play, {"exit": 1}))


def _between(failures: Iterable[Request], answered: Iterable[Request]) -> Iterator[Request]:
    """One failure and an answer, two and another one, and so on, and then the rest."""
    left = iter(failures)
    for count, each in enumerate(answered, 1):
        yield from (*islice(left, count), each)
    yield from left


def _shown(script: Script) -> tuple[str, ...]:
    """The requirements that such an ending may show."""
    exits = [int(step["exit"]) for step in script.play if "exit" in step]
    if script.list_sessions is not None:
        return FALLBACK
    if exits == [0] or not (exits or any("signal" in step for step in script.play)):
        return ANSWER
    return (*FAILURE, *(f"error:exit:{code}" for code in exits))
