"""Defects in what a text becomes on its way: another value or encoding, a line of a list, a piece of a message."""

import json
import os
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from answering import ENTRY, Answer, Outcome
from conditions import ends, stdin_changed
from defects.record import defect
from planning import Refusal
from speaking import Message, as_object
from steps import always, gives, takes

PIPE = 1 << 16
UTF16 = b"\xff\xfe"
END_OF_TRANSMISSION = "\x04"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")


def time_of_answer(answer: Answer) -> Answer:
    """As Newtonsoft's Json.NET does, which makes a time of a text that looks like one."""
    if TIME.fullmatch(answer.text):
        with suppress(ValueError):
            time = datetime.fromisoformat(answer.text).astimezone(UTC)
            return replace(answer, text=time.strftime("%Y-%m-%dT%H:%M:%SZ"))
    return answer


def without_next(raw: bytes) -> bytes:
    """Takes the byte behind the first of a pair for the second, whatever it is."""
    return re.sub(rb"([\xc2-\xdf])[\x00-\x7f]", rb"\1", raw)


def checked_by_category(port: Any, real: Any, name: str, text: str) -> None:
    """Refuses all that a pattern calls `\\p{C}`."""
    real(name, text)
    if any(unicodedata.category(each).startswith("C") for each in text):
        raise Refusal(f"`{name}` holds a control character.")


def read_as_utf16(outcome: Outcome) -> Outcome:
    return replace(outcome, stderr=outcome.stderr.decode("utf-16", "replace").encode("utf-8", "replace"))


def cut_in_bytes(port: Any, real: Any, error: Any) -> str | None:
    message = real(error)
    return message and message.encode()[:1000].decode("utf-8", "surrogateescape")


def with_half_characters(port: Any, real: Any, message: Message) -> bytes:
    if not (as_object(message.get("result")) or {}).get("isError"):
        return real(message)
    try:
        return raw(message).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return real(message)


def raw(message: Message) -> str:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False) + "\n"


def of_id(change: Callable[[str], str]) -> Callable[[Message], Message]:
    """Answers under another id where it is a text."""
    return lambda message: {
        **message,
        **({"id": change(message["id"])} if isinstance(message.get("id"), str) else {}),
    }


def counted_in_characters(port: Any, real: Any, message: Message) -> None:
    """Goes on behind as many characters as the pipe has taken bytes."""
    text = raw(message)
    try:
        text.encode()
    except UnicodeEncodeError:
        real(message)
        return
    with suppress(BrokenPipeError):
        while text:
            text = text[os.write(1, text.encode()[:PIPE]) :]


defect(
    "times-of-answer-converted",
    "Writes an answer that is a date and a time in the zone of Greenwich.",
    "result:text",
)(read_json=gives(time_of_answer))
defect(
    "damaged-pair-swallows-next",
    "Loses the character behind the first byte of a pair whose second is missing.",
    "result:json:encoding",
)(decode=takes(without_next))
defect(
    "surrogates-in-row-joined",
    "Makes one U+FFFD of several lone surrogates in a row.",
    "result:text:surrogate",
)(whole=lambda port, real, text: re.sub("[\ud800-\udfff]+", "\ufffd", text))
defect(
    "formats-are-control-characters",
    "Refuses a model or a session that holds a character for formatting or for private use.",
    "command:chat:model",
    "command:chat-reply:model",
    "command:chat-reply:session-id",
)(check_word=checked_by_category)
defect(
    "continued-lines-of-prompt-joined",
    "Joins the lines of a prompt where a backslash stands before a newline.",
    "prompt:verbatim:newline",
    "prompt:verbatim:quotes",
)(prompt_form=takes(lambda prompt: prompt.replace("\\\n", "")))
defect(
    "long-prompt-ends-at-u0004",
    "Ends a prompt on stdin at its first U+0004, where a terminal ends its input.",
    "prompt:long:whole",
    "prompt:long",
)(prompt_form=stdin_changed(lambda text: text.partition(END_OF_TRANSMISSION)[0]))
defect(
    "nameless-sessions-hidden",
    "Reads no entry of the list that has no title.",
    "fallback:latest",
    "fallback:list-sessions",
)(entry_pattern=always(re.compile(ENTRY.pattern.replace(r"\.\s", r"\.\s+\S"))))
defect(
    "entry-zero-hidden",
    "Takes an entry of the list for none whose number is 0.",
    "fallback:latest",
    "fallback:list-sessions",
)(entry_pattern=always(re.compile(ENTRY.pattern.replace("([0-9]+)", r"(?!0+\.)([0-9]+)"))))
defect(
    "stderr-by-its-mark",
    "Reads a stderr as UTF-16 that begins with the bytes FF FE.",
    "error:stderr",
)(run_prompt=ends(lambda call, outcome: outcome.stderr.startswith(UTF16), read_as_utf16))
defect(
    "message-cut-in-character",
    "Cuts what gemini says of its failure after 1,000 bytes, and sends the half of a character.",
    "stdio:stdout",
    "stdio:encoding",
)(message=cut_in_bytes, encoded=with_half_characters)
defect(
    "controls-of-ids-lost",
    "Drops the control characters of an id.",
    "rpc:response:id",
)(write=takes(of_id(lambda text: re.sub(r"[\x01-\x1f\x7f]", "", text))))
defect(
    "writes-counted-in-characters",
    "Loses characters of a message of more than 64 KiB that is not ASCII.",
    "result:text:unicode",
    "result:large-stdout",
)(write=counted_in_characters)
