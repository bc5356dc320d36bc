"""Reads the lines by which gemini tells what it does: their text in, what was answered out. Pure.

They are made into the object of `--output-format json`, so an answer, an error and a failure are read in one way, by
`outcome.py`. What a line means is said by `live.json`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gemini_mcp.call.encoded import AS_IT_IS, PIECE, Printed, Reading, Utf8, whole
from gemini_mcp.call.outcome import Answer, Completed, Failure, Outcome, TimedOut, read, read_answer
from gemini_mcp.call.surrogates import without_surrogates
from gemini_mcp.spec.live import EventRule, LiveSpec
from gemini_mcp.spec.values import Json, is_object
from gemini_mcp.spec.wording import OutcomeSpec

ENDS = ("end", "unasked", "failure")
"""What the last line of a stream tells."""


@dataclass(frozen=True)
class Event:
    """What one line tells."""

    kind: str
    value: Json = None


@dataclass
class Told:
    """What the lines so far have told. The answer is what was said in the last turn."""

    session: str | None = None
    has_prompt: bool = False
    said: list[bytes] = field(default_factory=list[bytes])
    said_before: list[bytes] = field(default_factory=list[bytes])
    warnings: list[str] = field(default_factory=list[str])
    end: Event | None = None
    is_empty: bool = True

    def add(self, event: Event) -> None:
        """Take note of the next line."""
        self.is_empty = False
        match event:
            case Event("session", str(session)):
                self.session = session
            case Event("prompt"):
                self.has_prompt = True
            case Event("text", str(text)):
                self.said.append(without_surrogates(text).encode("utf-8"))
            case Event("text", Utf8(data)):
                self.said.append(data)
            case Event("turn"):
                self.said, self.said_before = [], self.said or self.said_before
            case Event("warning", str(warning)):
                self.warnings.append(warning)
            case Event(kind) if kind in ENDS:
                self.end = event
            case _:
                pass

    def take_text(self) -> Utf8:
        """The answer in one piece. Its pieces are let go of, because they may be long."""
        text = Utf8(b"".join(self.said))
        self.said.clear()
        return text


def read_live(outcome: Outcome, spec: OutcomeSpec, live: LiveSpec, max_chars: int | None) -> Answer | Failure:
    """Find the answer in the outcome of a run that told what it did, or the reason why there is none."""
    if isinstance(outcome, TimedOut):
        failure = read(outcome, spec)
        assert isinstance(failure, Failure)
        return replace(failure, so_far=_so_far(told_in(outcome.stdout, live), live, max_chars))
    if not isinstance(outcome, Completed):
        return read(outcome, spec)
    told = told_in(outcome.stdout, live)
    if told.is_empty:
        return read(outcome, spec)
    if outcome.exit == 0:
        return _answer(told, outcome.stderr, spec, live)
    # Without the variant gemini prints its error as JSON to stderr.
    error = _error(told, spec)
    stderr = f"{outcome.stderr}{json.dumps(error, indent=2)}\n" if error else outcome.stderr
    return read(replace(outcome, stdout=b"", stderr=stderr), spec)


def told_in(stdout: Printed, live: LiveSpec) -> Told:
    """What all lines together tell."""
    told = Told()
    for line in _lines(stdout):
        if (event := _event_in(line, live)) is not None:
            told.add(event)
    return told


def event_in(line: str, live: LiveSpec) -> Event | None:
    """What a line tells; None for one that is no event."""
    value = _object_in(line)
    return None if value is None else _event_of(value, live)


def rule_of(value: Mapping[str, Json], rules: Sequence[EventRule]) -> EventRule | None:
    """The first rule that fits the object of a line."""
    return next((rule for rule in rules if _fits(rule.when, value)), None)


def strip(text: str, live: LiveSpec) -> str:
    """The text without what gemini takes out of an answer."""
    return re.sub(live.stripped, "", text)


def _event_in(line: memoryview, live: LiveSpec) -> Event | None:
    """What a printed line tells. Where it is long, its text stays encoded."""
    if len(line) <= PIECE:
        return event_in(str(line, "utf-8", "replace"), live)
    reading = Reading.of(line)
    if (found := _object_in(reading.text(line))) is None:
        return None
    value = {
        reading.value(name): Utf8(reading.data(item)) if _is_long(item) else reading.value(item)
        for name, item in found.items()
    }
    event = _event_of(value, live)
    return event if event is None or event.kind == "text" else replace(event, value=whole(event.value))


def _event_of(value: Mapping[str, Json], live: LiveSpec) -> Event | None:
    rule = rule_of(value, live.rules)
    return rule and Event(rule.kind, value.get(rule.value or ""))


def _object_in(line: str) -> Mapping[str, Json] | None:
    """The object in a line. A notice that does not end its line may stand before it."""
    try:
        value: Json = json.loads(line[start:]) if (start := line.find("{")) >= 0 else None
    except (ValueError, RecursionError):
        return None
    return value if is_object(value) else None


def _is_long(value: Json) -> bool:
    return isinstance(value, str) and len(value) > PIECE


def _lines(printed: Printed) -> Iterator[memoryview]:
    # No copies, and one at a time: they would hold the output twice.
    start, view = 0, memoryview(printed)
    while (end := printed.find(b"\n", start)) >= 0:
        yield view[start:end]
        start = end + 1
    yield view[start:]


def _fits(pattern: Json, value: Json) -> bool:
    if not is_object(pattern) or not pattern:
        return type(pattern) is type(value) and pattern == value
    return is_object(value) and all(_fits(part, value.get(key)) for key, part in pattern.items())


def _answer(told: Told, stderr: str, spec: OutcomeSpec, live: LiveSpec) -> Answer | Failure:
    """What a stream comes to whose gemini did not fail."""
    # What gemini has not yet written when it ends is lost. The prompt is written before a model is asked.
    is_unasked = told.end is None and told.session is not None and not told.has_prompt
    if told.end is None and not is_unasked:
        return Failure("truncated-output", {}, stderr)
    keys = spec.answer
    value: dict[str, Json] = {keys["session"]: told.session}
    if told.end is not None and told.end.kind == "failure":
        return read_answer(value | {keys["error"]: _message_of(told)}, AS_IT_IS, stderr, spec)
    value[keys["text"]] = _stripped(told.take_text(), live)
    if told.warnings:
        value[keys["warnings"]] = [strip(warning, live) for warning in told.warnings]
    if (is_unasked or told.end == Event("unasked")) and spec.asked:
        value[spec.asked[0]] = _nested(spec.asked[1:])
    return read_answer(value, AS_IT_IS, stderr, spec)


def _stripped(text: Utf8, live: LiveSpec) -> Utf8:
    """The text without what gemini takes out of an answer. Only one that has such a thing is decoded as a whole."""
    before = ""
    for piece in text.pieces():
        if re.search(live.stripped, before + piece):
            return Utf8(strip(str(text), live).encode("utf-8"))
        before = piece
    return text


def _error(told: Told, spec: OutcomeSpec) -> dict[str, Json] | None:
    """What gemini prints to stderr in place of a stream that ends with a failure."""
    if told.end is None or told.end.kind != "failure":
        return None
    named = {spec.answer["session"]: told.session} if told.session else {}
    return {**named, spec.answer["error"]: _message_of(told)}


def _message_of(told: Told) -> Json:
    """The message of a failure. One that an earlier line has told stands in for it."""
    match told.end:
        case Event(_, {"message": str(message)}):
            return {"message": message}
        case _:
            return {"message": told.warnings[-1]} if told.warnings else {}


def _nested(keys: tuple[str, ...]) -> Json:
    value: Json = {}
    for key in reversed(keys):
        value = {key: value}
    return value


def _so_far(told: Told, live: LiveSpec, max_chars: int | None) -> str:
    """What the error of a call that took too long says of what gemini has told."""
    session = without_surrogates(told.session or "")
    text = strip(str(Utf8(b"".join(told.said or told.said_before))), live)[:max_chars]
    said_session = live.said_session.replace("{session}", session) if session else ""
    return said_session + (live.said_text.replace("{text}", text) if text.strip() else "")
