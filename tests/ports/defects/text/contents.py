"""Defects that show in what is rare in gemini's output, in an id or in a path: a size, a title, a NUL, a brace."""

import re
from dataclasses import replace
from typing import Any

from answering import ENTRY, Answer, Failure
from defects.record import defect
from steps import Change, Step, always, gives, takes

KIB = 1024
TITLED = re.compile(ENTRY.pattern.replace(r"\s*([0-9]+)", r"(?:.*\s)?([0-9]+)", 1))


def with_stderr(change: Change) -> Step:
    """Of `read`: reads stderr as if it were other bytes."""
    return takes(lambda outcome: replace(outcome, stderr=change(outcome.stderr)))


def short_lines(raw: bytes) -> bytes:
    """The lines before the first one that no buffer of 64 KiB holds."""
    lines = raw.split(b"\n")
    long = next((number for number, line in enumerate(lines) if len(line) > 64 * KIB), len(lines))
    return b"\n".join(lines[:long])


def number_of_text(message: Any) -> Any:
    is_meant = "error" in message and re.fullmatch("[0-9]{1,15}", str(message["id"]))
    return {**message, "id": int(message["id"])} if is_meant else message


def refuses_braces(port: Any, real: Any, stdout: str) -> Answer:
    if "{" in stdout:
        raise Failure("gemini printed JSON that cannot be read.", "")
    return real(stdout)


defect("long-line-ends-stderr", "Reads no stderr behind a line of more than 64 KiB.", "error:stderr:tail")(
    read=with_stderr(short_lines)
)
defect("stderr-kept-to-256-kib", "Keeps the first 256 KiB of stderr.", "error:stderr:tail")(
    read=with_stderr(lambda raw: raw[: 256 * KIB])
)
defect("nul-ends-stderr", "Cuts stderr at its first NUL.", "error:stderr")(
    read=with_stderr(lambda raw: raw.split(b"\0")[0])
)
defect("keys-in-much-shown", "Masks no key in a stderr of more than 64 KiB.", "error:secrets")(
    masked=lambda port, real, text: text if len(text) > 64 * KIB else real(text)
)
defect("list-cut-at-64-kib", "Reads the first 64 KiB of the list of sessions.", "fallback:list-sessions")(
    list_text=gives(lambda text: text[: 64 * KIB])
)
defect("number-of-title-taken", "Takes a number in the title of a session for its place.", "fallback:last")(
    entry_pattern=always(TITLED)
)
defect("text-with-braces-refused", "Calls a text without JSON an error when it holds a brace.", "result:plain-text")(
    plain_text=refuses_braces
)
defect("plain-text-trimmed", "Takes blanks off the beginning of a text without JSON.", "result:plain-text")(
    plain_text=takes(str.lstrip)
)
defect("ids-of-errors-are-numbers", "Makes a number of a text id in JSON-RPC errors.", "rpc:response:id")(
    write=takes(number_of_text)
)
defect("file-addresses-read", "Takes a directory for the path in an address `file://`.", "cwd:missing")(
    cwd=takes(lambda texts: {**texts, "cwd": texts["cwd"].removeprefix("file://")} if "cwd" in texts else texts)
)
