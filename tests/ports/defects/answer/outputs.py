"""Defects in finding the answer in what gemini printed."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from answering import Answer, Failure, Outcome, Scan
from defects.record import defect
from speaking import Message, as_object
from steps import Change, Step, always, gives, raises, takes


def refuses_stderr(port: Any, real: Any, outcome: Outcome) -> Answer:
    answer = real(outcome)
    if outcome.stderr.strip():
        raise Failure(answer.text, port.decode(outcome.stderr))
    return answer


def answer_first(test: Callable[[Outcome], bool]) -> Step:
    """Of `read`: looks for an answer before it looks at how gemini ended, where `test` holds."""

    def read(port: Any, real: Any, outcome: Outcome) -> Answer:
        with suppress(Failure):
            return real(replace(outcome, exit=0) if test(outcome) else outcome)
        return real(outcome)

    return read


def reads_stderr_first(port: Any, real: Any, outcome: Outcome) -> Answer:
    is_meant = outcome.exit == 0 and port.scan(port.decode(outcome.stderr)).objects
    return real(Outcome(0, outcome.stderr) if is_meant else outcome)


def appends_stderr(port: Any, real: Any, outcome: Outcome) -> Answer:
    answer, stderr = real(outcome), port.decode(outcome.stderr)
    return replace(answer, text=f"{answer.text}\n{stderr}") if stderr else answer


def refuses_damage(port: Any, real: Any, outcome: Outcome) -> Answer:
    try:
        outcome.stdout.decode()
    except UnicodeDecodeError:
        raise Failure("The output of gemini cannot be decoded.", "") from None
    return real(outcome)


def first_session(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    answer = real(stdout, stderr)
    found = re.search(r'"session_id"\s*:\s*"([^"]+)"', stdout)
    return replace(answer, session=found[1]) if found and answer.session else answer


def is_text(value: object) -> bool:
    return isinstance(value, str)


def notes_warnings(result: Message) -> Message:
    meta = result.get("_meta", {})
    return {**result, "_meta": {"notes" if key == "warnings" else key: value for key, value in meta.items()}}


def reads(change: Change) -> Step:
    """Reads the JSON object as if it were another."""
    return lambda port, real, value, stderr: real(change(value), stderr)


def without_silent_error(value: Any) -> Any:
    error = as_object(value.get("error"))
    return value if error is None or "message" in error else {**value, "error": None}


def scans_lines(port: Any, real: Any, text: str) -> Scan:
    lines = [line for line in text.split("\n") if line.endswith("}")]
    return Scan([found for line in lines for found in real(line).objects])


def scans_between_braces(port: Any, real: Any, text: str) -> Scan:
    start, end = text.find("{"), text.rfind("}")
    try:
        return Scan([(True, json.loads(text[start : end + 1]))]) if start >= 0 else Scan()
    except ValueError:
        return Scan(is_cut_short=real(text).is_cut_short)


def scans(test: Callable[[str], bool]) -> Step:
    """Finds JSON only in output of which `test` holds."""

    def scan(port: Any, real: Any, text: str) -> Scan:
        return real(text) if test(text) else Scan(is_cut_short=real(text).is_cut_short)

    return scan


def refuses_empty(port: Any, real: Any, value: Any, stderr: str) -> Answer:
    answer = real(value, stderr)
    if not answer.text:
        raise Failure("Gemini said nothing.", stderr)
    return answer


def dumps_empty(port: Any, real: Any, value: Any, stderr: str) -> Answer:
    answer = real(value, stderr)
    return answer if answer.text else replace(answer, text=json.dumps(value))


def depth(value: Any) -> int:
    members = (as_object(value) or {}).values()
    inner: list[Any] = cast("list[Any]", value) if isinstance(value, list) else [*members]
    return 1 + max(map(depth, inner)) if inner else 0


defect("stderr-makes-error", "Calls a success an error when there is anything on stderr.", "result:success")(
    read=refuses_stderr
)
defect("error-without-message-overlooked", "Takes an error for one only when it has a message.", "result:error-key")(
    read_json=reads(without_silent_error)
)
defect("first-session-taken", "Takes the first session that stands anywhere in the output.", "result:json:braces")(
    read_stdout=first_session
)
defect("error-word-makes-error", "Sets isError when the answer begins with the word error.", "result:success")(
    success=lambda port, real, answer: (
        real(answer) | {"isError": True} if answer.text.lower().startswith("error") else real(answer)
    )
)
defect("stderr-appended", "Adds what stderr says to the answer.", "result:stderr", "result:text")(read=appends_stderr)
defect("json-of-stderr-wins", "Reads stderr before stdout.", "result:stderr")(read=reads_stderr_first)
defect("one-line-only", "Understands JSON on one line only.", "result:json:pretty")(scan=scans_lines)
defect("pretty-only", "Understands JSON that begins with a brace on a line of its own.", "result:json:compact")(
    scan=scans(lambda text: "{\n" in text)
)
defect("whole-stdout-is-json", "Takes all of stdout for JSON, else for text.", "result:json:notice-before")(
    scan=scans(lambda text: text.lstrip().startswith("{"))
)
defect("nothing-may-follow", "Reads JSON from the first brace to the end.", "result:json:notice-after")(
    scan=scans(lambda text: text.rstrip().endswith("}"))
)
defect("first-to-last-brace", "Reads JSON from the first brace to the last.", "result:json:braces")(
    scan=scans_between_braces
)
defect("damage-is-an-error", "Fails when the output is not UTF-8.", "result:json:encoding")(read=refuses_damage)
defect("damage-dropped", "Drops the bytes that are not UTF-8.", "result:json:encoding")(
    decode=lambda port, real, raw: raw.decode("utf-8", "ignore")
)
defect("plain-text-refused", "Calls text without JSON an error.", "result:plain-text")(
    plain_text=raises(Failure("gemini printed no JSON.", ""))
)
defect("empty-answer-dumped", "Returns the JSON when its response is empty.", "result:empty")(read_json=dumps_empty)
defect("empty-answer-is-error", "Calls an empty answer an error.", "result:empty")(read_json=refuses_empty)
defect("unasked-is-empty", "Takes an empty text for an answer though no model was asked.", "result:unasked")(
    asked=always(None)
)
defect("warned-is-unasked", "Calls an empty answer an error though a warning says why it is empty.", "result:empty")(
    read_json=reads(
        lambda value: {name: item for name, item in value.items() if value.get("response") or name != "warnings"}
    )
)
defect("warnings-dropped", "Drops the warnings.", "result:warnings")(
    success=takes(lambda answer: replace(answer, warnings=None))
)
defect("warnings-under-another-key", "Reports the warnings in `_meta` under a key of its own.", "result:warnings:key")(
    success=gives(notes_warnings)
)
defect("error-key-overlooked", "Overlooks the error in JSON when gemini exits with 0.", "result:error-key")(
    read_json=reads(lambda value: {"response": "", **value, "error": None})
)
defect(
    "error-beside-response-overlooked", "Overlooks an error in JSON that has a response beside it.", "result:error-key"
)(read_json=reads(lambda value: {**value, "error": None} if "response" in value else value))
defect("no-output-succeeds", "Returns an empty text when gemini prints nothing.", "result:no-output")(
    read_stdout=lambda port, real, stdout, stderr: real(stdout, stderr) if stdout.strip() else Answer("")
)
defect("truncated-is-text", "Returns JSON that breaks off as text.", "result:truncated")(is_cut_short=always(False))
defect("response-spelt-out", "Makes text of a response that is none.", "result:no-response")(
    response=lambda port, real, value: str(value.get("response", ""))
)
defect(
    "answer-outweighs-silent-exit-1",
    "Takes an answer for a success although gemini exits with 1, if nothing is on stderr.",
    "error:is-error",
)(read=answer_first(lambda outcome: outcome.exit == 1 and not outcome.stderr.strip()))
defect(
    "answer-outweighs-exit-53",
    "Takes an answer for a success although gemini has used up its turns.",
    "error:is-error",
)(read=answer_first(lambda outcome: outcome.exit == 53))
defect("only-first-warning", "Reports the first of several warnings.", "result:warnings")(
    success=takes(lambda answer: replace(answer, warnings=answer.warnings[:1]) if answer.warnings else answer)
)
defect("odd-warnings-dropped", "Drops warnings that are no texts.", "result:warnings")(
    success=takes(lambda answer: replace(answer, warnings=[each for each in answer.warnings or () if is_text(each)]))
)
defect("odd-warnings-spelt-out", "Makes texts of warnings that are none.", "result:warnings")(
    success=takes(lambda answer: replace(answer, warnings=[*map(str, answer.warnings or ())]))
)
defect("answer-taken-from-stderr", "Looks for the answer on stderr when stdout is empty.", "result:no-output")(
    read_stdout=lambda port, real, stdout, stderr: real(
        stdout if stdout.strip() or not port.scan(stderr).objects else stderr, stderr
    )
)
defect("number-is-an-answer", "Takes a number for a text.", "result:no-response")(
    response=gives(lambda found: str(found) if type(found) in (int, float) else found)
)
defect("empty-error-ignored", "Takes an error without anything in it for none.", "result:error-key")(
    read_json=lambda port, real, value, stderr: real({**value, "error": value.get("error") or None}, stderr)
)
defect("answer-before-error", "Takes an answer for the result though an error comes behind it.", "result:json:last")(
    scan=gives(lambda scan: replace(scan, objects=sorted(scan.objects, key=lambda each: "response" in each[1]))),
)
defect("message-looked-for-in-tail", "Looks for JSON in the last 8 KiB of stderr.", "error:json-on-stderr")(
    said=takes(lambda stderr: stderr[-8192:])
)
defect("cause-looked-for-in-32-kib", "Looks for causes in the last 32 KiB of stderr.", "error:quota")(
    exit_sentence=takes(lambda stderr: stderr[-32768:])
)
defect("parts-of-answer-joined", "Joins a response that is a list of texts.", "result:no-response")(
    response=gives(lambda value: "".join(cast("list[str]", value)) if isinstance(value, list) else value)
)
defect("deep-json-unread", "Reads no JSON that is nested more than twelve levels deep.", "result:text")(
    scan=gives(lambda scan: replace(scan, objects=[each for each in scan.objects if depth(each[1]) <= 12]))
)
