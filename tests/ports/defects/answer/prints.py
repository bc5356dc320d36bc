"""Defects in what gemini may print: escapes, line ends, other JSON around the answer, and where it breaks off."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import ends
from defects.record import defect
from running import Call
from steps import Step, gives

CAPITAL_ESCAPE = re.compile(rb"\\u(?=[0-9a-fA-F]*[A-F])[0-9a-fA-F]{4}")


def printed(change: Callable[[bytes], bytes]) -> Step:
    """Of `read`: reads another stdout of a run that has succeeded."""

    def read(port: Any, real: Any, outcome: Outcome) -> Answer:
        return real(replace(outcome, stdout=change(outcome.stdout)) if outcome.exit == 0 else outcome)

    return read


def empty_object_counts(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    if {} in [value for _, value in port.scan(stdout).objects]:
        raise Failure("gemini printed JSON without a text in `response`.", stderr)
    return real(stdout, stderr)


def last_object_counts(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    objects = port.scan(stdout).objects
    return port.read_json(objects[-1][1], stderr) if objects else real(stdout, stderr)


def broken_off_as_text(pattern: str) -> Step:
    """Of `read_stdout`: takes a stdout that ends so for a text."""

    def read_stdout(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
        is_meant = port.scan(stdout).is_cut_short and re.search(pattern, stdout.rstrip("\n"))
        return Answer(stdout) if is_meant else real(stdout, stderr)

    return read_stdout


def other_json_read(port: Any, real: Any, stdout: str) -> Answer:
    """A text that is JSON of another kind."""
    try:
        value = json.loads(stdout)
    except ValueError:
        return real(stdout)
    return Answer(value if isinstance(value, str) else str(value))


def plain_text_beside_stderr(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    answer = real(stdout, stderr)
    if stderr.strip() and not port.scan(stdout).objects:
        raise Failure("gemini printed no JSON.", stderr)
    return answer


def first_objects(scan: Any) -> Any:
    del scan.objects[16:]
    return scan


def unquoted(port: Any, real: Any, failure: Failure) -> str:
    return "\nStderr: " if failure.said and failure.stderr is not None else real(failure)


def exits_well(*exits: int) -> Step:
    """Of `run_prompt`: takes such an exit for a success beside an answer."""

    def is_meant(call: Call, outcome: Outcome) -> bool:
        return outcome.exit in exits and b'"response"' in outcome.stdout

    return ends(is_meant, lambda outcome: replace(outcome, exit=0))


defect(
    "solidus-read-with-backslash", "Reads an escaped slash of gemini's JSON as a backslash and a slash.", "result:text"
)(read=printed(lambda out: re.sub(rb"(?<!\\)((?:\\\\)*)\\/", rb"\1\\\\/", out)))
defect(
    "capital-escapes-unread",
    "Reads no escape of gemini's JSON whose digits are capitals.",
    "result:text:unicode",
)(read=printed(lambda out: CAPITAL_ESCAPE.sub(b"?", out)))
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
defect(
    "cut-in-escape-is-text",
    "Takes JSON for text that breaks off within an escape.",
    "result:truncated",
)(read_stdout=broken_off_as_text(r"\\(u[0-9a-fA-F]{0,3})?\Z"))
defect(
    "cut-in-character-is-text",
    "Takes JSON for text that breaks off within a character.",
    "result:truncated",
)(read_stdout=broken_off_as_text("\ufffd\\Z"))
defect(
    "cut-behind-comma-is-text",
    "Takes JSON for text that breaks off behind a comma or a colon.",
    "result:truncated",
)(read_stdout=broken_off_as_text(r"[,:]\s*\Z"))
defect(
    "cut-behind-text-is-text",
    "Takes JSON for text that breaks off behind the whole of the response.",
    "result:truncated",
)(read_stdout=broken_off_as_text(r'"response"\s*:\s*"[^"]*"\s*,?\s*\Z'))
defect(
    "plain-json-text-unquoted",
    "Reads a text without an object that is JSON of another kind.",
    "result:plain-text",
)(plain_text=other_json_read)
defect(
    "plain-text-beside-stderr-refused",
    "Calls text without JSON an error when there is anything on stderr.",
    "result:plain-text",
)(read_stdout=plain_text_beside_stderr)
defect("sixteen-objects-looked-at", "Looks at the first sixteen objects on stdout.", "result:json:braces")(
    scan=gives(first_objects)
)
defect("stderr-unquoted-beside-message", "Quotes no stderr from which it has read a message.", "error:stderr")(
    stderr_part=unquoted
)
defect("exit-13-beside-answer", "Takes exit code 13 beside an answer for a success.", "error:exit")(
    run_prompt=exits_well(13)
)
