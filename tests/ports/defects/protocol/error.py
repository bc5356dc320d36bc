"""Failures that an era, a transport or a library tells otherwise: ports that break `error`."""

import re
from collections.abc import Mapping
from typing import Any

from answering import Failure
from conditions import REVISION, from_time, speaks
from defects.record import defect
from defects.shared import sparing
from speaking import Message
from steps import gives, without


def sentence_without_stderr(port: Any, real: Any, exit: int, stderr: str) -> str:
    return real(exit, stderr) if stderr.strip() or exit < 0 else f"gemini failed with exit code {exit}."


def sentence_beside_message(port: Any, real: Any, exit: int, stderr: str) -> str:
    return f"gemini failed with exit code {exit}." if exit > 0 and port.said(stderr) else real(exit, stderr)


def unmarked_error(port: Any, real: Any, failure: Failure) -> Message:
    result = real(failure)
    return without("isError")(result) if speaks(port, "2025-03-26") else result


def other_prefix(port: Any, real: Any, failure: Any) -> Message:
    result = real(failure)
    return {**result, "content": port.content(result["content"][0]["text"].replace("Error executing", "Failed:", 1))}


def is_glued(key: re.Match[str]) -> bool:
    """Whether it is a key of Google that is no word of its own."""
    return key[0].startswith(("AIza", "ya29")) and re.search(r"\w\Z", key.string[: key.start()]) is not None


def with_session_of_report(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Any:
    port.memory["reported"] = value.get("session_id") if value.get("error") is not None else None
    return real(value, stderr)


def error_with_session(port: Any, real: Any, failure: Any) -> Message:
    session = port.memory.pop("reported", None)
    return {**real(failure), **({"_meta": {"sessionId": session}} if session else {})}


def as_replacement(text: str) -> str:
    """What JavaScript's `replace` makes of a text that is put in the place of `{stderr}`."""
    return re.sub(r"\$([$&])", lambda found: {"$": "$", "&": "{stderr}"}[found[1]], text)


def at_character_only(port: Any, real: Any, text: str) -> str:
    """A slice of text panics in the middle of a character."""
    kept = text.encode("utf-8", "replace")[-8192:]
    if kept and 0x80 <= kept[0] < 0xC0:
        raise IndexError("byte index is not a char boundary")
    return real(text)


defect("exit-unexplained-without-stderr", "Explains no exit code when stderr is empty.", "error:exit:44")(
    exit_sentence=sentence_without_stderr
)
defect("exit-unexplained-beside-message", "Explains no exit code when gemini says more.", "error:exit:53")(
    exit_sentence=sentence_beside_message
)
defect("error-unmarked-in-2025-03-26", "Leaves isError out for clients of 2025-03-26.", "error:is-error")(
    initialize=REVISION, error=unmarked_error
)
defect(
    "percents-of-message-halved",
    "Makes one percent sign of two in what gemini says of its failure.",
    "error:json-on-stderr",
)(message=gives(lambda said: said and said.replace("%%", "%")))
defect("sixth-error-without-prefix", "Leaves the prefix out from the sixth error on.", "error:prefix")(
    error=from_time(6, other_prefix)
)
defect(
    "keys-of-google-within-words-shown",
    "Masks a key of Google only where it begins a word.",
    "error:secrets",
)(masked=sparing(is_glued))
defect("reported-error-carries-session", "Names the session of an error that gemini reports.", "error:session-id")(
    read_json=with_session_of_report, error=error_with_session
)
defect(
    "dollars-of-stderr-read",
    "Fills stderr into an error as JavaScript does, which reads `$$` and `$&` in it.",
    "error:stderr",
)(tail=gives(as_replacement))
defect(
    "cut-inside-character-fails",
    "Fails without gemini's stderr when its cut falls into a character.",
    "error:stderr:tail",
)(tail=at_character_only)
