"""Turns the outcome of a run into the result of the call: an `Outcome` in, a `CallToolResult` as JSON out. Pure.

A new way to end is a new record here; its sentence stands in `outcome.json`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import cast

from gemini_mcp.call.encoded import PIECE, Printed, Reading, Utf8
from gemini_mcp.call.json_search import find
from gemini_mcp.call.redaction import Secrets, mask, withhold
from gemini_mcp.call.surrogates import encodable
from gemini_mcp.errors import CallerError
from gemini_mcp.spec.values import Json
from gemini_mcp.spec.wording import OutcomeSpec, Sentence

MAX_SAID = 1000
"""Characters of gemini's own error message that are quoted; the end of stderr follows in any case."""

NO_MESSAGE = "[object Object]"
"""What Gemini CLI 0.21 says of an error of the API, whatever it is. What it writes to stderr besides says more."""

UNNAMED = "this directory"
"""What a sentence calls the working directory until somebody says which it is."""

DEEPEST_WARNING = 64
"""Levels of nesting that are passed on; clients and the SDK fail at some hundred."""

LONGEST_CHARACTER = 4
"""The most bytes of a character in UTF-8."""

LONGEST_KEY = 65536
"""Characters of the longest key that is expected; one may be cut in two where the search for keys begins."""


@dataclass(frozen=True)
class Completed:
    """gemini ended by itself."""

    exit: int
    stdout: Printed
    stderr: str


@dataclass(frozen=True)
class Signalled:
    """A signal ended gemini, and we did not send it."""

    signal: str
    stderr: str


@dataclass(frozen=True)
class TimedOut:
    """gemini took too long, and we ended it."""

    seconds: float
    stderr: str
    stdout: Printed = b""


@dataclass(frozen=True)
class Overflowed:
    """gemini printed too much, and we ended it."""

    bytes: int
    stderr: str


@dataclass(frozen=True)
class NotStarted:
    """gemini never ran; `condition` says why."""

    condition: str
    fields: Mapping[str, str] = field(default_factory=dict[str, str])


Outcome = Completed | Signalled | TimedOut | Overflowed | NotStarted


@dataclass(frozen=True)
class Answer:
    """What gemini answered, and whether it began a session because there was none to continue."""

    text: Utf8
    session: str | None
    warnings: Json = None
    found_no_session: bool = False


@dataclass(frozen=True)
class Failure:
    """Why there is no answer. `stderr` is None when nothing was started; `said` is gemini's own error message.

    `so_far` is what else there is to say, of the part of an answer that had come.
    """

    condition: str
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    stderr: str | None = None
    said: str | None = None
    exit: int | None = None
    so_far: str = ""


@dataclass(frozen=True)
class View:
    """How much of an answer the client is shown, and where it finds the session."""

    session_in: str = "meta"
    max_chars: int | None = None


def size(outcome: Outcome) -> int:
    """How much there is to read: bytes of stdout and characters of stderr."""
    match outcome:
        case Completed(_, stdout, stderr) | TimedOut(_, stderr, stdout):
            return len(stdout) + len(stderr)
        case Signalled(_, stderr) | Overflowed(_, stderr):
            return len(stderr)
        case NotStarted():
            return 0


def read(outcome: Outcome, spec: OutcomeSpec) -> Answer | Failure:
    """Find gemini's answer in the outcome of a run, or the reason why there is none."""
    match outcome:
        case NotStarted(condition, fields):
            return Failure(condition, fields)
        case TimedOut(seconds, stderr):
            return Failure("timed-out", {"seconds": f"{seconds:g}"}, stderr)
        case Overflowed(limit, stderr):
            return Failure("too-much-output", {"bytes": str(limit)}, stderr)
        case Signalled(signal, stderr):
            return Failure("signal", {"signal": signal}, stderr, _message_in(stderr, spec))
        case Completed(0, stdout, stderr):
            return _read_stdout(stdout, stderr, spec)
        case Completed(exit, stdout, stderr):
            # Gemini CLI prints its error as JSON to stderr.
            said = _message_in(stderr, spec) or _message_of_printed(stdout, spec)
            return Failure("exit", {"exit": str(exit), "directory": UNNAMED}, stderr, said, exit)


def answer_result(answer: Answer, spec: OutcomeSpec, view: View) -> Json:
    """The result of a call with an answer."""
    text, is_cut = _cut(answer.text, view.max_chars)
    conditions = (("empty", not answer.text.data), ("cut", is_cut), ("new", answer.found_no_session))
    notices = [spec.notices[name] for name, holds in conditions if holds and name in spec.notices]
    meta = {
        spec.meta["session"]: answer.session,
        spec.meta["warnings"]: answer.warnings,
        spec.meta["notice"]: " ".join(notices) or None,
    }
    result: dict[str, Json] = {"content": [{"type": "text", "text": text}]}
    if answer.session and view.session_in == "text":
        result["content"].append({"type": "text", "text": f"{spec.meta['session']}: {answer.session}"})
    if answer.session and view.session_in == "structured":
        # With the answer, because some clients show the model nothing else.
        result["structuredContent"] = {spec.answer["text"]: text, spec.meta["session"]: answer.session}
    if present := {name: value for name, value in meta.items() if value is not None}:
        result["_meta"] = present
    return result


def failure_result(failure: Failure, spec: OutcomeSpec, secrets: Secrets) -> Json:
    """The result of a call that failed."""
    stderr = failure.stderr and withhold(failure.stderr, secrets, spec)
    said = failure.said and withhold(failure.said, secrets, spec)
    sentence = _fill(_sentence_for(replace(failure, stderr=stderr), spec).text, failure.fields)
    shown = replace(failure, stderr=stderr and _masked_end(stderr, spec), said=said and mask(said, spec))
    return _error(spec, sentence, shown)


def refusal_result(error: CallerError, spec: OutcomeSpec) -> Json:
    """The result of a call that may not run."""
    failure = Failure(error.condition, error.fields)
    template = error.sentence or _sentence_for(failure, spec).text
    return _error(spec, _fill(template, failure.fields), failure)


def _read_stdout(stdout: Printed, stderr: str, spec: OutcomeSpec) -> Answer | Failure:
    reading = Reading.of(stdout)
    text, error = reading.name(spec.answer["text"]), reading.name(spec.answer["error"])
    found = find(reading.text(stdout), lambda value: text in value or value.get(error) is not None)
    if found.value is not None:
        return read_answer(found.value, reading, stderr, spec)
    if found.is_truncated:
        return Failure("truncated-output", {}, stderr)
    if found.has_other_object:
        return Failure("no-response", {}, stderr)
    plain = Utf8(bytes(stdout))
    return Answer(plain, None) if any(map(str.strip, plain.pieces())) else _nothing("empty-output", stderr, spec)


def read_answer(value: Mapping[str, Json], reading: Reading, stderr: str, spec: OutcomeSpec) -> Answer | Failure:
    """Find the answer in gemini's object, or the reason why there is none."""
    keys = {name: reading.name(key) for name, key in spec.answer.items()}
    if (error := value.get(keys["error"])) is not None:
        return Failure("reported-error", {}, stderr, _message_of(error, reading))
    text, session = value.get(keys["text"]), value.get(keys["session"])
    if isinstance(text, str):
        text = Utf8(reading.data(text))
    if not isinstance(text, Utf8):
        return Failure("no-response", {}, stderr)
    warnings = reading.value(encodable(value.get(keys["warnings"]), DEEPEST_WARNING)) or None
    # gemini counts no model either when it stops one that repeats itself, but then it warns.
    if not text.data and not warnings and spec.asked and reduce(_inside, map(reading.name, spec.asked), value) == {}:
        return _nothing("unasked", stderr, spec)
    return Answer(
        text,
        reading.value(session) if isinstance(session, str) and session else None,
        warnings,
        spec.no_session is not None and re.search(spec.no_session, stderr) is not None,
    )


def _nothing(condition: str, stderr: str, spec: OutcomeSpec) -> Failure:
    return Failure(condition, {}, stderr, _message_in(stderr, spec))


def _inside(value: Json, key: str) -> Json:
    return cast("Mapping[str, Json]", value).get(key) if isinstance(value, dict) else None


def _message_in(text: str, spec: OutcomeSpec) -> str | None:
    return _message_of_printed(text.encode("utf-8", "replace"), spec)


def _message_of_printed(printed: Printed, spec: OutcomeSpec) -> str | None:
    reading = Reading.of(printed)
    error = reading.name(spec.answer["error"])
    found = find(reading.text(printed), lambda value: value.get(error) is not None).value
    return _message_of(found[error], reading) if found else None


def _message_of(error: Json, reading: Reading) -> str | None:
    match error:
        case {"message": str(message)} | str(message) if message not in ("", NO_MESSAGE):
            return reading.value(message)
        case _:
            return None


def _sentence_for(failure: Failure, spec: OutcomeSpec) -> Sentence:
    return next(sentence for sentence in spec.sentences if _fits(sentence, failure))


def _fits(sentence: Sentence, failure: Failure) -> bool:
    return (
        sentence.when == failure.condition
        and (not sentence.exits or failure.exit in sentence.exits)
        and (sentence.stderr is None or re.search(sentence.stderr, failure.stderr or "") is not None)
    )


def _fill(template: str, fields: Mapping[str, str]) -> str:
    # A function as replacement, because `re.sub` reads backslashes in a text.
    return re.sub(r"\{(\w+)\}", lambda match: fields.get(match[1], match[0]), template)


def _error(spec: OutcomeSpec, sentence: str, failure: Failure) -> Json:
    said = failure.said[:MAX_SAID] if failure.said else None
    text = spec.prefix + sentence + (_fill(spec.said, {"message": said}) if said else "") + failure.so_far
    if failure.stderr is not None:
        text += spec.separator + _tail(failure.stderr, spec.stderr_bytes)
    return {"content": [{"type": "text", "text": text}], "isError": True}


def _tail(text: str, size: int) -> str:
    # "ignore" drops the rest of a character that the cut has split.
    return text.encode("utf-8", "replace")[-size:].decode("utf-8", "ignore")


def _masked_end(text: str, spec: OutcomeSpec) -> str:
    """The end of the text with its keys masked; longer than what is shown, since its start may cut a key in two.

    Only the end is searched for keys, because to search megabytes takes long.
    """
    needed = spec.stderr_bytes + LONGEST_KEY
    size = 2 * needed
    while len(masked := mask(text[-size:], spec)) < needed and size < len(text):
        size *= 2
    return masked


def _cut(text: Utf8, max_chars: int | None) -> tuple[Json, bool]:
    """As much of the text as is shown, which stays encoded if that is long, and whether it is cut."""
    if max_chars is None or len(text.data) <= max_chars:
        return (text if len(text.data) > PIECE else str(text)), False
    chars = str(Utf8(text.data[: (max_chars + 1) * LONGEST_CHARACTER]))
    return chars[:max_chars], len(chars) > max_chars
