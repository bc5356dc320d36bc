"""An answer that is not found among what gemini printed: ports that break `result:json`."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome, Scan
from defects.record import defect
from steps import Step, gives

NO_TEXT = "gemini printed JSON without a text in `response`."


def first_session(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    answer = real(stdout, stderr)
    found = re.search(r'"session_id"\s*:\s*"([^"]+)"', stdout)
    return replace(answer, session=found[1]) if found and answer.session else answer


def scans_between_braces(port: Any, real: Any, text: str) -> Scan:
    start, end = text.find("{"), text.rfind("}")
    try:
        return Scan([(True, json.loads(text[start : end + 1]))]) if start >= 0 else Scan()
    except ValueError:
        return Scan(is_cut_short=real(text).is_cut_short)


def empty_object_counts(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    if {} in [value for _, value in port.scan(stdout).objects]:
        raise Failure("gemini printed JSON without a text in `response`.", stderr)
    return real(stdout, stderr)


def last_object_counts(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    objects = port.scan(stdout).objects
    return port.read_json(objects[-1][1], stderr) if objects else real(stdout, stderr)


def first_objects(scan: Any) -> Any:
    del scan.objects[16:]
    return scan


def null_error_counts(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    keyed = [value for _, value in port.scan(stdout).objects if "response" in value or "error" in value]
    if keyed and "response" not in keyed[-1] and keyed[-1]["error"] is None:
        raise Failure(NO_TEXT, stderr)
    return real(stdout, stderr)


def scans(test: Callable[[str], bool]) -> Step:
    """Finds JSON only in output of which `test` holds."""

    def scan(port: Any, real: Any, text: str) -> Scan:
        return real(text) if test(text) else Scan(is_cut_short=real(text).is_cut_short)

    return scan


def refuses_damage(port: Any, real: Any, outcome: Outcome) -> Answer:
    try:
        outcome.stdout.decode()
    except UnicodeDecodeError:
        raise Failure("The output of gemini cannot be decoded.", "") from None
    return real(outcome)


def escaped_keys_unread(port: Any, real: Any, text: str) -> Any:
    scan = real(text)
    names = [name for _, value in scan.objects for name in value]
    if any(json.dumps(name) not in text and json.dumps(name, ensure_ascii=False) not in text for name in names):
        return replace(scan, objects=[(begins, {}) for begins, _ in scan.objects])
    return scan


def ends_at_nul(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    return real(stdout.split("\0")[0], stderr)


def returns_unread(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    """Looks for the end of an object in a line that is a brace and nothing else."""
    if re.search(r"(?m)^\{\r$", stdout):
        raise Failure("gemini ended in the middle of its answer.", stderr)
    return real(stdout, stderr)


def scans_lines(port: Any, real: Any, text: str) -> Scan:
    lines = [line for line in text.split("\n") if line.endswith("}")]
    return Scan([found for line in lines for found in real(line).objects])


defect("first-session-taken", "Takes the first session that stands anywhere in the output.", "result:json:braces")(
    read_stdout=first_session
)
defect("first-to-last-brace", "Reads JSON from the first brace to the last.", "result:json:braces")(
    scan=scans_between_braces
)
defect(
    "empty-object-is-answer",
    "Takes an empty object in a notice for gemini's JSON.",
    "result:json:braces",
)(read_stdout=empty_object_counts)
defect(
    "last-object-is-answer",
    "Takes the last object on stdout for the answer, whatever it holds.",
    "result:json:braces",
)(read_stdout=last_object_counts)
defect("sixteen-objects-looked-at", "Looks at the first sixteen objects on stdout.", "result:json:braces")(
    scan=gives(first_objects)
)
defect(
    "null-error-counts",
    "Takes an object behind the answer for another one when it has an error that is null.",
    "result:json:braces",
    "result:json:last",
)(read_stdout=null_error_counts)
defect("pretty-only", "Understands JSON that begins with a brace on a line of its own.", "result:json:compact")(
    scan=scans(lambda text: "{\n" in text)
)
defect("damage-is-an-error", "Fails when the output is not UTF-8.", "result:json:encoding")(read=refuses_damage)
defect("damage-dropped", "Drops the bytes that are not UTF-8.", "result:json:encoding")(
    decode=lambda port, real, raw: raw.decode("utf-8", "ignore")
)
defect("answer-before-error", "Takes an answer for the result though an error comes behind it.", "result:json:last")(
    scan=gives(lambda scan: replace(scan, objects=sorted(scan.objects, key=lambda each: "response" in each[1]))),
)
defect("nothing-may-follow", "Reads JSON from the first brace to the end.", "result:json:notice-after")(
    scan=scans(lambda text: text.rstrip().endswith("}"))
)
defect(
    "escaped-keys-of-answer-unread",
    "Finds no answer in JSON that writes one of its keys in escapes.",
    "result:json:notice-before",
    "result:json:compact",
)(scan=escaped_keys_unread)
defect(
    "nul-in-notice-hides-json",
    "Reads stdout up to its first NUL.",
    "result:json:notice-before",
)(read_stdout=ends_at_nul)
defect("whole-stdout-is-json", "Takes all of stdout for JSON, else for text.", "result:json:notice-before")(
    scan=scans(lambda text: text.lstrip().startswith("{"))
)
defect(
    "bracket-hides-json",
    "Looks for no JSON when the output begins with a bracket, as notices do.",
    "result:json:notice-before",
)(scan=lambda port, real, text: Scan() if text.startswith("[") else real(text))
defect(
    "returns-of-pretty-json-unread",
    "Takes JSON over several lines for broken off when they end in CRLF.",
    "result:json:pretty",
)(read_stdout=returns_unread)
defect("one-line-only", "Understands JSON on one line only.", "result:json:pretty")(scan=scans_lines)
