"""Defects in what gemini may print: escapes, line ends, other JSON around the answer, and where it breaks off."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import ends
from defects.record import defect
from running import Call
from steps import Step, before, gives

CAPITAL_ESCAPE = re.compile(rb"\\u(?=[0-9a-fA-F]*[A-F])[0-9a-fA-F]{4}")


def printed(change: Callable[[bytes], bytes]) -> Step:
    """Of `read`: reads another stdout of a run that has succeeded."""

    def read(port: Any, real: Any, outcome: Outcome) -> Answer:
        return real(replace(outcome, stdout=change(outcome.stdout)) if outcome.exit == 0 else outcome)

    return read


def one_line_end_of_json(port: Any, stdout: str, stderr: str) -> None:
    if re.match(r"\s*\{\r\n", stdout):
        raise Failure("gemini printed no JSON.", stderr)


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


def braces_counted(port: Any, real: Any, error: Any) -> str | None:
    message = real(error)
    return None if message and ("{" in message or "}" in message) else message


def first_objects(scan: Any) -> Any:
    del scan.objects[16:]
    return scan


def first_lines(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    return (
        real("".join(stdout.splitlines(keepends=True)[:50]), stderr) if is_late(port, stdout) else real(stdout, stderr)
    )


def is_late(port: Any, stdout: str) -> bool:
    return "{" not in "".join(stdout.splitlines(keepends=True)[:50])


def unquoted(port: Any, real: Any, failure: Failure) -> str:
    return "\nStderr: " if failure.said and failure.stderr is not None else real(failure)


def without_doubled_prefix(port: Any, real: Any, failure: Failure) -> Any:
    result = real(failure)
    text = result["content"][0]["text"]
    is_meant = failure.stderr is not None and failure.stderr.startswith("Error")
    return {**result, "content": port.content(text.removeprefix("Error executing gemini: "))} if is_meant else result


def exits_well(*exits: int) -> Step:
    """Of `run_prompt`: takes such an exit for a success beside an answer."""

    def is_meant(call: Call, outcome: Outcome) -> bool:
        return outcome.exit in exits and b'"response"' in outcome.stdout

    return ends(is_meant, lambda outcome: replace(outcome, exit=0))


def only_uuids(port: Any, real: Any, entries: list[tuple[int, str]]) -> Any:
    return real(
        [each for each in entries if re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", each[1])] or [(0, "")]
    )


def named_if(pattern: str) -> Step:
    """Of `read_json`: takes such a session for none."""

    def read_json(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Answer:
        session = value.get("session_id")
        is_meant = not isinstance(session, str) or re.fullmatch(pattern, session)
        return real(value if is_meant else {**value, "session_id": None}, stderr)

    return read_json


defect(
    "solidus-read-with-backslash", "Reads an escaped slash of gemini's JSON as a backslash and a slash.", "result:text"
)(read=printed(lambda out: re.sub(rb"(?<!\\)((?:\\\\)*)\\/", rb"\1\\\\/", out)))
defect(
    "capital-escapes-unread",
    "Reads no escape of gemini's JSON whose digits are capitals.",
    "result:text:unicode",
)(read=printed(lambda out: CAPITAL_ESCAPE.sub(b"?", out)))
defect("backspace-escape-unread", "Knows no escape `\\b` or `\\f` in gemini's JSON.", "result:text")(
    read=printed(lambda out: re.sub(rb"(?<!\\)((?:\\\\)*)\\([bf])", rb"\1\2", out))
)
defect("crlf-json-unread", "Reads no JSON over several lines that end in CRLF.", "result:json:pretty")(
    read_stdout=before(one_line_end_of_json)
)
defect(
    "empty-object-is-answer",
    "Takes an empty object in a notice for gemini's JSON.",
    "result:json:notice-before",
)(read_stdout=empty_object_counts)
defect(
    "last-object-is-answer",
    "Takes the last object on stdout for the answer, whatever it holds.",
    "result:json:last",
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
defect(
    "braces-in-message-counted",
    "Reads no JSON error on stderr whose message holds a brace.",
    "error:json-on-stderr",
)(message=braces_counted)
defect("sixteen-objects-looked-at", "Looks at the first sixteen objects on stdout.", "result:json:notice-before")(
    scan=gives(first_objects)
)
defect("fifty-lines-looked-at", "Looks for JSON in the first fifty lines.", "result:json:notice-before")(
    read_stdout=first_lines
)
defect("stderr-unquoted-beside-message", "Quotes no stderr from which it has read a message.", "error:stderr")(
    stderr_part=unquoted
)
defect("prefix-not-doubled", "Leaves the prefix out when stderr begins with the word `Error`.", "error:prefix")(
    error=without_doubled_prefix
)
defect("exit-13-beside-answer", "Takes exit code 13 beside an answer for a success.", "error:exit")(
    run_prompt=exits_well(13)
)
defect(
    "exits-from-200-beside-answer", "Takes exit codes from 200 to 239 beside an answer for successes.", "error:exit"
)(run_prompt=exits_well(*range(200, 240)))
defect("death-by-sigterm-believed", "Takes the answer of a gemini that died of SIGTERM.", "error:signal")(
    run_prompt=exits_well(-15)
)
defect("death-by-sigxcpu-believed", "Takes the answer of a gemini that died of SIGXCPU.", "error:signal")(
    run_prompt=exits_well(-24)
)
defect("uuids-listed-alone", "Reads only ids from a list that are UUIDs.", "fallback:brackets")(newest_entry=only_uuids)
defect(
    "session-of-letters-alone",
    "Knows no session that gemini names with anything but letters, digits and hyphens.",
    "result:session-id",
)(read_json=named_if(r"[A-Za-z0-9-]*"))
