"""Defects that show with an extent: of a text that fills its blocks, of a number, of what stands before something."""

from collections.abc import Callable
from typing import Any

from answering import PRIVATE_LENGTH, Answer, Outcome
from defects.record import defect
from steps import Step, gives

PAGE = 4096
PIPE = 64 * 1024
MEBIBYTE = 1024 * 1024
LONG_ID = 64


def without_rest(text: bytes) -> bytes:
    """Writes the full pages, and of a text that has no rest all but the last byte."""
    return text[:-1] if text and len(text) % PAGE == 0 else text


def last_pipe_lost(port: Any, real: Any, text: str | None) -> Any:
    encoded = (text or "").encode()
    if not encoded or len(encoded) % PIPE:
        return real(text)
    return real(encoded[:-PIPE].decode("utf-8", "ignore"))


def session_of_first_mebibyte(port: Any, real: Any, outcome: Outcome) -> Answer:
    answer = real(outcome)
    is_near = answer.session is None or answer.session.encode() in outcome.stdout[:MEBIBYTE]
    return answer if is_near else Answer(answer.text, None, answer.warnings)


def finding_only(test: Callable[[Any], bool]) -> Step:
    """Of `cancel`: finds calls with such ids alone."""
    return lambda port, real, call: real(call) if test(call.id) else None


def in_32_bits(identity: Any) -> bool:
    return isinstance(identity, str) or abs(identity) < 2**31


def is_short(identity: Any) -> bool:
    return not isinstance(identity, str) or len(identity) <= LONG_ID


def is_basic(identity: Any) -> bool:
    return not isinstance(identity, str) or max(identity, default="") <= "\uffff"


def shows_eight(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return real(text, tuple(each for each in private if len(each) != PRIVATE_LENGTH))


defect(
    "full-pages-of-system-prompt-cut",
    "Loses the last byte of a system prompt that is a multiple of 4 KiB.",
    "system:content",
)(system_bytes=gives(without_rest))
defect(
    "full-pipe-of-long-prompt-lost",
    "Loses the last 64 KiB of a prompt on stdin that is a multiple of them.",
    "prompt:long:whole",
)(input=last_pipe_lost)
defect(
    "session-behind-mebibyte-lost",
    "Finds no session behind the first megabyte of the output.",
    "result:session-id",
)(read=session_of_first_mebibyte)
defect("large-ids-not-cancelled", "Finds no call whose id is a number beyond 32 bits.", "cancel:child")(
    cancel=finding_only(in_32_bits)
)
defect("long-ids-not-cancelled", "Finds no call whose id is a text of more than 64 characters.", "cancel:child")(
    cancel=finding_only(is_short)
)
defect(
    "wide-ids-not-cancelled",
    "Finds no call whose id holds a character beyond the basic plane.",
    "cancel:child",
)(cancel=finding_only(is_basic))
defect("prompt-of-eight-characters-shown", "Leaves a copy of a prompt of eight characters in stderr.", "error:prompt")(
    withheld=shows_eight
)
defect("large-tokens-overlooked", "Takes a progress token beyond 32 bits for none.", "progress:start")(
    token=gives(lambda token: token if token is None or in_32_bits(token) else None)
)
