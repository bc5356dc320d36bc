"""Answers: makes the result of a call from the way its run ended. Pure.

Every step is a method of its own, so that a defective port can replace just that one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

JSON = Any

PREFIX = "Error executing gemini: "
STDERR_LIMIT = 8192
PRIVATE_LENGTH = 8
"""Shorter texts are copies of the prompt only where they are words of their own."""

OBJECT_START = re.compile(r'\{\s*("|$)')
ENTRY = re.compile(r"\s*([0-9]+)\.\s.*\[([^\[\]\s]+)\][^\[\]]*")
KEYS = re.compile(
    r"AIza[\w-]{20,}|ya29\.[\w.-]{10,}|\bsk-[\w-]{16,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}"
    r"|\bxox[abprs]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|(?<=[Bb]earer )[\w.~+/=-]{8,}|(?<=[Kk][Ee][Yy]=)[\w%.-]{8,}|(?<=://)[^\s/?#@]{6,256}(?=@)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----(?:BEGIN|END) )[\s\S])*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
)
EXITS = {
    41: "gemini is not signed in (exit code 41). Set GEMINI_API_KEY, or run `gemini` once to sign in.",
    42: "gemini did not accept its input (exit code 42). Rephrase the prompt.",
    44: "gemini could not start its sandbox (exit code 44).",
    52: "A settings file of gemini is broken (exit code 52). Correct settings.json.",
    53: "The session reached its limit of turns (exit code 53). Begin a new one with `chat`.",
    54: "A tool that gemini called failed for good (exit code 54).",
    55: "gemini does not trust this directory (exit code 55). Run `gemini` there once and trust it.",
    130: "gemini was interrupted (exit code 130). Try again.",
    144: "The Gemini API refused the request as malformed (HTTP 400, exit code 144).",
    145: "The Gemini API did not accept the credentials (HTTP 401, exit code 145).",
    147: "The Gemini API denies access (HTTP 403, exit code 147).",
    173: "The quota of the Gemini API is used up (HTTP 429, exit code 173).",
    244: "The Gemini API failed (HTTP 500, exit code 244). Try again later.",
    247: "The Gemini API is overloaded (HTTP 503, exit code 247). Try again later.",
}
QUOTA = re.compile(r"RESOURCE_EXHAUSTED|TerminalQuotaError|exhausted your (capacity|quota)|[Qq]uota exceeded")
SESSION_GONE = re.compile(r"Invalid session identifier|No previous sessions found")
NO_NODE = re.compile(r"env: .?node.?: No such file or directory|\bnode: (command )?not found")
UNTRUSTED = re.compile(r"[Uu]ntrusted (folder|directory|workspace)|trusted directory|folder is not trusted")


@dataclass(frozen=True)
class Outcome:
    """How a run ended: `exit` is negative for a signal."""

    exit: int
    stdout: bytes = b""
    stderr: bytes = b""


@dataclass(frozen=True)
class Answer:
    """What gemini said."""

    text: str
    session: str | None = None
    warnings: JSON = None


@dataclass(eq=False)
class Failure(Exception):
    """Why there is no answer; `stderr` is None when nothing was started. Nothing `private` may be repeated."""

    sentence: str
    stderr: str | None = None
    said: str | None = None
    private: tuple[str, ...] = ()


@dataclass
class Scan:
    """The JSON objects in a text."""

    objects: list[tuple[bool, Mapping[str, JSON]]] = field(default_factory=list[tuple[bool, Mapping[str, JSON]]])
    is_cut_short: bool = False


class Answers:
    """What a run answers."""

    def read(self, outcome: Outcome) -> Answer:
        stdout, stderr = self.decode(outcome.stdout), self.decode(outcome.stderr)
        if outcome.exit != 0:
            raise Failure(self.exit_sentence(outcome.exit, stderr), stderr, self.said(stderr) or self.said(stdout))
        return self.read_stdout(stdout, stderr)

    def decode(self, raw: bytes) -> str:
        return raw.decode("utf-8", "replace")

    def read_stdout(self, stdout: str, stderr: str) -> Answer:
        if not stdout.strip():
            raise Failure("gemini ended without any output.", stderr, self.said(stderr))
        scan = self.scan(stdout)
        answers = [value for _, value in scan.objects if "response" in value or value.get("error") is not None]
        if answers:
            return self.read_json(answers[-1], stderr)
        if scan.is_cut_short:
            raise Failure("gemini ended in the middle of its answer: its JSON is incomplete.", stderr)
        if any(begins_line for begins_line, _ in scan.objects):
            raise Failure("gemini printed JSON without a text in `response`.", stderr)
        return self.plain_text(stdout)

    def scan(self, text: str) -> Scan:
        """Every object at the top level. The search stops at one that never ends."""
        scan, position = Scan(), text.find("{")
        decoder = json.JSONDecoder()
        while position >= 0:
            try:
                value, end = decoder.raw_decode(text, position)
                scan.objects.append((position == 0 or text[position - 1] == "\n", value))
            except (ValueError, RecursionError) as error:
                if self.is_cut_short(text, position, error):
                    scan.is_cut_short = True
                    return scan
                end = position + 1
            position = text.find("{", end)
        return scan

    def is_cut_short(self, text: str, position: int, error: Exception) -> bool:
        if not isinstance(error, json.JSONDecodeError) or not OBJECT_START.match(text, position):
            return False
        # A word or an escape that the end cuts is at most eight characters long, with blanks.
        return error.msg.startswith("Unterminated") or error.pos >= len(text.rstrip()) - 8

    def read_json(self, value: Mapping[str, JSON], stderr: str) -> Answer:
        if (error := value.get("error")) is not None:
            raise Failure("Gemini reported an error instead of an answer.", stderr, self.message(error))
        text, session = self.response(value), value.get("session_id")
        if not isinstance(text, str):
            raise Failure("gemini printed JSON without a text in `response`.", stderr)
        if not (text or value.get("warnings")) and self.asked(value) == {}:
            raise Failure("gemini asked no model; the prompt may be too long.", stderr)
        named = session if isinstance(session, str) and session else None
        return Answer(self.whole(text), named, value.get("warnings") or None)

    def asked(self, value: Mapping[str, JSON]) -> JSON:
        match value.get("stats"):
            case {"models": models}:
                return models
            case _:
                return None

    def response(self, value: Mapping[str, JSON]) -> JSON:
        return value.get("response")

    def whole(self, text: str) -> str:
        """The text with U+FFFD for each lone surrogate: JSON can write one, and UTF-8 cannot."""
        return re.sub("[\ud800-\udfff]", "\ufffd", text)

    def plain_text(self, stdout: str) -> Answer:
        return Answer(stdout)

    def newest(self, listing: Outcome) -> str | None:
        """The id of the last entry in the list of sessions."""
        if listing.exit != 0:
            return None
        lines = map(self.entry_pattern().fullmatch, self.list_text(listing).split("\n"))
        entries = [(int(entry[1]), entry[2]) for entry in lines if entry]
        return self.newest_entry(entries)[1] if entries else None

    def list_text(self, listing: Outcome) -> str:
        return f"{self.decode(listing.stdout)}\n{self.decode(listing.stderr)}"

    def entry_pattern(self) -> re.Pattern[str]:
        return ENTRY

    def newest_entry(self, entries: list[tuple[int, str]]) -> tuple[int, str]:
        return max(entries)

    def exit_sentence(self, exit: int, stderr: str) -> str:
        if exit < 0:
            return f"gemini was ended by signal {-exit}. Try again."
        # Gemini CLI exits with the status of the API modulo 256, and 429 has a sentence of its own in EXITS.
        if exit != 173 and QUOTA.search(stderr):
            return f"The quota of the Gemini API is used up (exit code {exit})."
        if exit == 42 and SESSION_GONE.search(stderr):
            return (
                "gemini does not know this session in this directory (exit code 42): it is gone or belongs elsewhere."
            )
        if exit not in EXITS and UNTRUSTED.search(stderr):
            return f"gemini does not trust this directory (exit code {exit})."
        if exit not in EXITS and NO_NODE.search(stderr):
            return f"gemini needs node, which is not on PATH (exit code {exit})."
        return EXITS.get(exit, f"gemini failed with exit code {exit}.")

    def said(self, stderr: str) -> str | None:
        """The message of the last JSON error in the noise."""
        errors = [value["error"] for _, value in self.scan(stderr).objects if value.get("error") is not None]
        return self.message(errors[-1]) if errors else None

    def message(self, error: JSON) -> str | None:
        match error:
            case {"message": str(message)} | str(message):
                return self.whole(message)[:1000]
            case _:
                return None

    def success(self, answer: Answer) -> dict[str, JSON]:
        notice = None if answer.text else "Gemini answered with an empty text."
        meta = {"sessionId": answer.session, "warnings": answer.warnings, "notice": notice}
        present = {name: value for name, value in meta.items() if value is not None}
        return {"content": self.content(answer.text), **({"_meta": present} if present else {})}

    def content(self, text: str) -> list[JSON]:
        return [{"type": "text", "text": text}]

    def error(self, failure: Failure) -> dict[str, JSON]:
        said = f" Gemini CLI says: {self.redacted(failure.said, failure.private)}" if failure.said else ""
        text = f"{PREFIX}{failure.sentence}{said}{self.stderr_part(failure)}"
        return {"content": self.content(text), "isError": True}

    def stderr_part(self, failure: Failure) -> str:
        if failure.stderr is None:
            return ""
        # In the order of `spec/README.md`: a key or a private text that the cut divides could not be recognised.
        return f"\nStderr: {self.tail(self.redacted(failure.stderr, failure.private))}"

    def redacted(self, text: str, private: tuple[str, ...]) -> str:
        return self.masked(self.withheld(text, private))

    def withheld(self, text: str, private: tuple[str, ...]) -> str:
        # The longest first: one may hold another.
        for secret in sorted(private, key=len, reverse=True):
            for copy in (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]):
                if len(copy.strip()) >= PRIVATE_LENGTH:
                    text = text.replace(copy, "[withheld]")
                elif copy.strip():
                    text = re.sub(rf"(?<!\w){re.escape(copy)}(?!\w)", "[withheld]", text)
        return text

    def masked(self, text: str) -> str:
        return KEYS.sub("[masked]", text)

    def tail(self, text: str) -> str:
        # The cut may fall into a character; its rest is dropped.
        return text.encode("utf-8", "replace")[-STDERR_LIMIT:].decode("utf-8", "ignore")
