"""Stderr that loses or changes a character: ports that break `error:stderr`."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from answering import Answer, Outcome
from conditions import ends, replacing
from defects.record import defect
from defects.shared import of_stderr
from defects.text.shared import INVISIBLE, KIB, TextChange, latin, normalized, straightened
from planning import Plan
from running import Call
from steps import Change, Step, gives, takes

ANSI = "\x1b\\[[0-9;]*[A-Za-z]"
UTF16 = b"\xff\xfe"
TRACE = re.compile(r"^ {4}at .*(\n|\Z)", re.MULTILINE)


def in_stderr(change: Change) -> Step:
    return takes(lambda failure: replace(failure, stderr=failure.stderr and change(failure.stderr)))


def read_as_utf16(outcome: Outcome) -> Outcome:
    return replace(outcome, stderr=outcome.stderr.decode("utf-16", "replace").encode("utf-8", "replace"))


def stderr_as_latin(port: Any, real: Any, outcome: Outcome) -> Answer:
    return real(replace(outcome, stderr=latin(outcome.stderr).encode()))


def of_quoted_stderr(change: Callable[[str], str]) -> Step:
    return takes(change)


def backspaced(text: str) -> str:
    while "\b" in text[1:]:
        text = re.sub("[^\b]\b", "", text, count=1) if re.search("[^\b]\b", text) else text.replace("\b", "")
    return text


def without_overwritten(port: Any, real: Any, outcome: Outcome) -> Any:
    """What is left on a terminal of lines that begin anew with a carriage return."""
    stderr = re.sub(rb"[^\r\n]*\r(?!\n)", b"", outcome.stderr)
    return real(replace(outcome, stderr=stderr))


def of_text(change: TextChange) -> Step:
    return of_stderr(lambda raw: change(raw.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape"))


def latin_unless_valid(outcome: Outcome) -> Outcome:
    try:
        outcome.stderr.decode()
    except UnicodeDecodeError:
        return replace(outcome, stderr=outcome.stderr.decode("latin-1").encode())
    return outcome


def short_lines(raw: bytes) -> bytes:
    """The lines before the first one that no buffer of 64 KiB holds."""
    lines = raw.split(b"\n")
    long = next((number for number, line in enumerate(lines) if len(line) > 64 * KIB), len(lines))
    return b"\n".join(lines[:long])


def shown_at_last(line: bytes) -> bytes:
    text = line.rstrip(b"\r")
    return text.rsplit(b"\r", 1)[-1] + line[len(text) :]


def overwritten(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """Of each line of stderr takes what a terminal would show at last, for a reply."""
    outcome = real(call, plan)
    if outcome.exit == 0 or plan.session is None:
        return outcome
    return replace(outcome, stderr=b"\n".join(map(shown_at_last, outcome.stderr.split(b"\n"))))


defect("stderr-composed", "Composes the characters of stderr.", "error:stderr")(error=in_stderr(normalized("NFC")))
defect("colours-of-stderr-lost", "Takes the escapes of a terminal out of stderr.", "error:stderr")(
    error=in_stderr(replacing(ANSI))
)
defect("returns-of-stderr-lost", "Makes newlines of the line ends of stderr.", "error:stderr")(
    error=in_stderr(replacing("\r\n?", "\n"))
)
defect("blank-lines-of-stderr-lost", "Leaves the blank lines of stderr out.", "error:stderr")(
    error=in_stderr(replacing("\n{2,}", "\n"))
)
defect("nul-ends-stderr", "Cuts stderr at its first NUL.", "error:stderr")(
    read=of_stderr(lambda raw: raw.split(b"\0")[0])
)
defect(
    "stderr-by-its-mark",
    "Reads a stderr as UTF-16 that begins with the bytes FF FE.",
    "error:stderr",
)(run_prompt=ends(lambda call, outcome: outcome.stderr.startswith(UTF16), read_as_utf16))
defect("stderr-read-as-latin", "Reads all of a stderr that is not UTF-8 as Latin-1.", "error:stderr")(
    read=stderr_as_latin
)
defect("backspaces-of-stderr-obeyed", "Takes away what a backspace in stderr takes away.", "error:stderr")(
    tail=of_quoted_stderr(backspaced)
)
defect("separators-of-stderr-are-newlines", "Makes newlines of U+0085, U+2028 and U+2029 in stderr.", "error:stderr")(
    tail=of_quoted_stderr(lambda text: re.sub("[\u0085\u2028\u2029]", "\n", text))
)
defect("c1-controls-of-stderr-lost", "Drops control characters of the second block in stderr.", "error:stderr")(
    tail=of_quoted_stderr(lambda text: re.sub("[\u0080-\u009f]", "", text))
)
defect("tabs-of-stderr-expanded", "Makes blanks of the tabs of stderr.", "error:stderr")(
    tail=of_quoted_stderr(lambda text: text.replace("\t", "    "))
)
defect("invisibles-of-stderr-lost", "Drops joiners, selectors and tags of stderr.", "error:stderr")(
    tail=takes(lambda text: INVISIBLE.sub("", text))
)
defect("overwritten-stderr-lost", "Drops what a carriage return overwrites in stderr.", "error:stderr")(
    read=without_overwritten
)
defect("typography-of-stderr-straightened", "Makes ASCII of the quotes of stderr.", "error:stderr")(
    read=of_text(straightened)
)
defect("line-ends-of-stderr-trimmed", "Takes blanks off the ends of the lines of stderr.", "error:stderr")(
    read=of_text(replacing("[ \t]+(?=\n)"))
)
defect("repeated-lines-of-stderr-joined", "Shows equal lines of stderr once.", "error:stderr")(
    read=of_text(replacing("(?m)^(.+\n)\\1+", "\\1"))
)
defect(
    "stderr-with-bad-byte-is-latin",
    "Reads the whole stderr of a failure as Latin-1 when one byte of it is no UTF-8.",
    "error:stderr",
)(read=takes(latin_unless_valid))
defect("traces-of-stderr-dropped", "Drops the stack traces of stderr.", "error:stderr")(
    stderr_part=gives(lambda text: TRACE.sub("", text))
)
defect(
    "stderr-of-reply-as-on-terminal",
    "Leaves out of the stderr of a failed reply what a carriage return within a line would overwrite.",
    "error:stderr",
)(run_prompt=overwritten)
defect("long-line-ends-stderr", "Reads no stderr behind a line of more than 64 KiB.", "error:stderr:tail")(
    read=of_stderr(short_lines)
)
defect("stderr-kept-to-256-kib", "Keeps the first 256 KiB of stderr.", "error:stderr:tail")(
    read=of_stderr(lambda raw: raw[: 256 * KIB])
)
