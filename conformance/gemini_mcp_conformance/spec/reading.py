"""Reading: what a port should read from gemini's stdout, by the rules of `spec/README.md`; pure.

It shares nothing with the reference, so that the two cannot agree by sharing a mistake.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from gemini_mcp.spec.values import SURROGATE, Json, inside, is_unicode, items, table
from gemini_mcp.spec.wording import OutcomeSpec

DECODER = json.JSONDecoder()

Keys: TypeAlias = Mapping[str, str]

Trait = Literal["before", "after", "braces", "damaged", "several", "surrogate", "empty"]


@dataclass(frozen=True)
class Reading:
    """An answer, plain text, or the `cause` of an error; `traits` say what makes an answer hard to read."""

    kind: Literal["answer", "plain", "error"]
    cause: str = ""
    text: str = ""
    session: str | None = None
    warnings: Json = None
    traits: frozenset[Trait] = frozenset()


@dataclass(frozen=True)
class _Document:
    start: int
    end: int
    value: Mapping[str, Json]

    def answers(self, keys: Keys) -> bool:
        return keys["text"] in self.value or self.value.get(keys["error"]) is not None


def read(stdout: bytes, outcome: OutcomeSpec) -> Reading:
    """What came of a run that exited with 0."""
    keys = outcome.answer
    text = stdout.decode("utf-8", "replace")
    documents = list(_documents(text))
    answers = [document for document in documents if document.answers(keys)]
    # The six rules of `spec/README.md`. Without any text none of the others applies, so the fifth can come first.
    if not text.strip():
        return Reading("error", "no-output")
    if answers:
        if _is_unasked(answers[-1].value, outcome):
            return Reading("error", "unasked")
        return _answer(answers[-1].value, keys, frozenset(_traits(stdout, text, documents, answers)))
    if re.search(r'^\{\s*(?:"|$)', text, re.MULTILINE) and not documents:
        return Reading("error", "truncated")
    begins_line = any(text[: document.start].rpartition("\n")[2] == "" for document in documents)
    return Reading("error", "no-response") if begins_line else Reading("plain", text=text)


@lru_cache(256)
def newest(listing: str, entry: str) -> str | None:
    """The id of the entry with the highest index, each line read with the pattern `entry`."""
    found = re.compile(entry).match
    # `str.splitlines` would also split at characters that can stand in a title; only a newline ends an entry.
    entries = [match for line in listing.split("\n") if (match := found(line))]
    return max(entries, key=lambda match: int(match[1]))[2] if entries else None


def _documents(text: str) -> Iterator[_Document]:
    """The JSON objects at the top level; after one that never ends, the next is on a line that begins with `{`."""
    position = text.find("{")
    while position != -1:
        try:
            value, end = DECODER.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            # `json` has no name for a text that breaks off: in a string it says so, anywhere else it fails at the end.
            unended = "Unterminated" in str(error) or getattr(error, "pos", 0) >= len(text.rstrip())
            following = re.compile(r"^\{", re.MULTILINE).search(text, position + 1) if unended else None
            position = (following.start() if following else -1) if unended else text.find("{", position + 1)
            continue
        yield _Document(position, end, value)
        position = text.find("{", end)


def _is_unasked(value: Mapping[str, Json], outcome: OutcomeSpec) -> bool:
    """Whether the text is empty for no reason but that gemini asked no model."""
    has_reason = value.get(outcome.answer["error"]) is not None or bool(value.get(outcome.answer["warnings"]))
    return (
        value.get(outcome.answer["text"]) == ""
        and not has_reason
        and bool(outcome.asked)
        and inside(value, *outcome.asked) == {}
    )


def _answer(value: Mapping[str, Json], keys: Keys, traits: frozenset[Trait]) -> Reading:
    if value.get(keys["error"]) is not None:
        return Reading("error", "error-key", traits=traits)
    text, session = value.get(keys["text"]), value.get(keys["session"])
    if not isinstance(text, str):
        return Reading("error", "no-response")
    more: set[Trait] = {"empty"} if not text else set()
    more |= set() if is_unicode(text) else {"surrogate"}
    whole = text if is_unicode(text) else SURROGATE.sub("\ufffd", text)
    named = session if isinstance(session, str) and session else None
    return Reading("answer", "", whole, named, items(value.get(keys["warnings"])) or None, traits | more)


def _traits(stdout: bytes, text: str, documents: list[_Document], answers: list[_Document]) -> Iterator[Trait]:
    last = answers[-1]
    before, after = text[: last.start], text[last.end :]
    if before.strip():
        yield "before"
    if after.strip():
        yield "after"
    if "{" in before or "{" in after:
        yield "braces"
    if len(answers) > 1:
        yield "several"
    try:
        stdout.decode("utf-8")
    except UnicodeDecodeError:
        yield "damaged"


def message_of(stderr: str, keys: Keys) -> str | None:
    """The message of the last JSON error on stderr."""
    key = keys["error"]
    errors = [document.value[key] for document in _documents(stderr) if document.value.get(key) is not None]
    message = table(errors[-1]).get("message", errors[-1]) if errors else None
    return message if isinstance(message, str) else None
