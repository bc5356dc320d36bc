"""Defects in what surrounds an answer: the writing of gemini's JSON, its warnings, the list, and what is sent on."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from defects.record import defect
from speaking import Message
from steps import Step, gives

LARGE = 64 * 1024
ENTRY = r"\s*([0-9]+)\.\s.*\[([^\[\]\s]+)\][^\[\]]*"


def entries(pattern: str) -> Step:
    """Of `entry_pattern`: knows these entries of a list."""
    return gives(lambda right: re.compile(pattern))


def octal_list(port: Any, real: Any, listing: Outcome) -> str:
    """Reads a number with a zero before it as octal, as languages do that look at its beginning."""

    def number(found: re.Match[str]) -> str:
        digits = found[2]
        return f"{found[1]}{int(digits, 8) if re.fullmatch('[0-7]+', digits) else 'x'}."

    return re.sub(r"(?m)^(\s*)(0[0-9]+)\.", number, real(listing))


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


def error_of_success(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    if (said := port.said(stderr)) is not None:
        raise Failure("Gemini reported an error.", stderr, said)
    return real(stdout, stderr)


def in_one_line(port: Any, real: Any, answer: Answer) -> Message:
    warnings = answer.warnings
    if isinstance(warnings, list):
        warnings = [" ".join(each.splitlines()) if isinstance(each, str) else each for each in warnings]  # pyright: ignore[reportUnknownVariableType]
    return real(replace(answer, warnings=warnings))


def in_surrogates(port: Any, real: Any, message: Message) -> bytes:
    """As the `modified UTF-8` of Java: a character beyond the basic plane becomes two of three bytes."""
    text = json.dumps(message, separators=(",", ":"), ensure_ascii=False)
    if re.search("[\ud800-\udfff]", text):
        return real(message)
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    return "".join(map(chr, units)).encode("utf-8", "surrogatepass") + b"\n"


def blank_line_behind(port: Any, real: Any, message: Message) -> bytes:
    line = real(message)
    return line + b"\n" if len(line) > LARGE else line


def no_session_of_number(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Answer:
    """Takes the session of an answer for a UUID or for none."""
    answer = real(value, stderr)
    is_uuid = answer.session and re.fullmatch(r"[0-9a-fA-F-]{36}", answer.session)
    return answer if is_uuid else replace(answer, session=None)


defect(
    "listed-ids-must-be-hexadecimal",
    "Takes an entry of the list for none whose id has other characters than a UUID.",
    "fallback:list-sessions",
)(entry_pattern=entries(r"\s*([0-9]+)\.\s.*\[([0-9a-fA-F-]+)\][^\[\]]*"))
defect(
    "session-must-be-uuid",
    "Takes the session of an answer for none that is no UUID.",
    "result:session-id",
)(read_json=no_session_of_number)
defect(
    "open-bracket-of-title-hides-session",
    "Reads no entry of the list whose title opens a bracket that nothing closes.",
    "fallback:brackets",
)(entry_pattern=entries(r"\s*([0-9]+)\.\s(?:[^\[\]]|\[[^\[\]]*\])*\[([^\[\]\s]+)\][^\[\]]*"))
defect(
    "tab-before-entry-hides-session",
    "Reads no entry of the list behind a tab.",
    "fallback:list-sessions",
)(entry_pattern=entries(ENTRY.replace(r"\s*([0-9]", r" *([0-9]")))
defect(
    "tab-behind-number-hides-session",
    "Reads no entry of the list with a tab behind its number.",
    "fallback:list-sessions",
)(entry_pattern=entries(ENTRY.replace(r"\.\s.", r"\. .")))
defect(
    "zeros-make-number-octal",
    "Reads the number of an entry as octal when it begins with a zero.",
    "fallback:last",
)(list_text=octal_list)
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
defect(
    "returns-of-pretty-json-unread",
    "Takes JSON over several lines for broken off when they end in CRLF.",
    "result:json:pretty",
)(read_stdout=returns_unread)
defect(
    "error-on-stderr-of-success-counts",
    "Calls a success an error when there is a JSON error on stderr.",
    "result:stderr",
)(read_stdout=error_of_success)
defect(
    "first-line-of-message-shown",
    "Tells the first line of what gemini says of its failure.",
    "error:json-on-stderr",
)(message=gives(lambda message: message and message.split("\n")[0]))
defect(
    "newlines-of-warnings-flattened",
    "Makes one line of a warning.",
    "result:warnings",
)(success=in_one_line)
defect(
    "wide-characters-in-surrogates",
    "Writes a character beyond the basic plane as two surrogates of three bytes each.",
    "stdio:encoding",
)(encoded=in_surrogates)
defect(
    "blank-line-behind-large-message",
    "Writes an empty line behind a message of more than 64 KiB.",
    "stdio:stdout",
)(encoded=blank_line_behind)
