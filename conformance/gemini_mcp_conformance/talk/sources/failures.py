"""What becomes of each script of the specification, and of every way in which gemini can fail, for each tool.

A defect may show in one tool only, or in the second call only, so each conversation holds several calls.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, product

from gemini_mcp.spec.families import kebab
from gemini_mcp.spec.values import Json, table
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.echoes import KEY, NOISE
from gemini_mcp_conformance.talk.outcomes.failures import ENDS, exits_of_sayings, exits_with_meaning, said, said_first
from gemini_mcp_conformance.talk.plays import ends, fails, says, takes_time
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.sources.listings import FALLBACK, SESSION
from gemini_mcp_conformance.talk.steps import Request
from gemini_mcp_conformance.talk.texts import REFERENCES, placeholders
from gemini_mcp_conformance.talk.ways import ANSWER, FAILURE, Ways

ORDER = 16

LARGE = "large-"
WIDE = "서울 012345678"
"""16 bytes, so that none of its characters is cut where a size is a power of two."""


def conversations(sources: Sources) -> Iterable[Conversation]:
    """The scripts of the specification, gemini that cannot be started, ends, causes, and what stderr holds."""
    for tool in sources.spec.names:
        made = Failures(sources, tool)
        for number, (name, script) in enumerate(sources.scripts.items()):
            if not takes_time(script):
                yield made.script(number, name, script)
        yield from made.not_started()
        yield made.endings()
        if sources.spec.prompt(tool) is not None:
            yield made.unread()
        yield made.causes()
        yield made.noises()


class Failures(Ways):
    """What calls of one tool are answered with, however gemini ends."""

    def script(self, number: int, name: str, script: Script) -> Conversation:
        words = f"What is the capital of France, says {name}?"
        after = self.ask("And after that, without anything?", self.answers("Lyon is not."))
        if name.startswith(LARGE):
            large = self.with_all(words, _wide(script), SESSION) if self.place % 2 else self.ask(words, script)
            steps = [large, after]
        else:
            asked, *others = self.ways(words, script)
            # One tool of two shows what the failure has left behind.
            steps = [asked, *([after] if self.has(number) else []), *others]
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
            if self.has(number) and (self.sources.thorough or number % 4 < 2)
        ]
        answered = [
            self.in_turn(number // 2, f"Who answers {script.id} behind {text!r}?", script)
            for number, text in enumerate(texts)
            if self.has(number + 1)
            for script in self._warned(number, text)
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

    def _warned(self, number: int, text: str) -> Sequence[Script]:
        """An answer or a plain text, and on stderr what would say why a call fails; in a thorough run both."""
        warning: Json = {"stderr": f"At first: {text}\n"}
        warned = Script("warned", (warning, *self.answers("Answered at last.", SESSION).play))
        both = (warned, Script("plainly", (warning, {"stdout": "Answered plainly.\n"})))
        return both if self.sources.thorough else both[number // 2 % 2 :: 2]

    def noises(self) -> Conversation:
        """What stderr holds may be private, or too much."""
        prompt, outcome = "Summarise the plan that nobody else may read, please.", self.spec.outcome
        # Together more than 256 KiB, and one line that is longer than 64 KiB.
        many = 12 * outcome.stderr_bytes // 8
        at_length = json.dumps({outcome.answer["error"]: {"message": "It failed at length. " * 50}})
        noises = {
            prompt: f"cannot read: {prompt}\nat line 1\n",
            "Which key?": f"request failed: https://example.org/?key={KEY}\n",
            "How much?": "".join(f"line {number} of much noise\n" for number in range(many)) + "the very end\n",
            self.overlong("How much of it? "): "서울 👍 " * many + "the very end\n",
            "What is said at length, behind much?": f"{NOISE}{at_length}\n",
            "What does it refer to?": f"{REFERENCES} {placeholders(('stderr', 'directory', 'exit', 'message'))}\n",
            "How far is it?": "10 %\r50 %\rIt failed at 50 %\r\nof\rall\n",
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


def _between(failures: Iterable[Request], answered: Iterable[Request]) -> Iterator[Request]:
    """One failure and an answer, two and another one, and so on, and then the rest."""
    left = iter(failures)
    for count, each in enumerate(answered, 1):
        yield from (*islice(left, count), each)
    yield from left


def _wide(script: Script) -> Script:
    """The script, which fills a stream with characters that JSON can write at twice their length."""
    return replace(script, play=tuple(
        {"fill": {**table(step["fill"]), "text": WIDE}} if "fill" in step else step for step in script.play
    ))  # fmt: skip


def _shown(script: Script) -> tuple[str, ...]:
    """The requirements that such an ending may show."""
    exits = [int(step["exit"]) for step in script.play if "exit" in step]
    if script.list_sessions is not None:
        return FALLBACK
    if exits == [0] or not (exits or any("signal" in step for step in script.play)):
        return ANSWER
    return (*FAILURE, *(f"error:exit:{code}" for code in exits))
