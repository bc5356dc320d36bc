"""Odd spellings: of JSON, of what is withheld, of what is cut, and a start that takes its time."""

import json
import re
import time
from typing import Any

from answering import KEYS, STDERR_LIMIT
from conditions import path_shown
from odd.record import odd
from running import Call
from speaking import Message
from steps import before, gives

FOR_GO = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}
START_SECONDS, FIRST_SECONDS = 1.5, 1.0


def as_go(port: Any, real: Any, message: Message) -> bytes:
    """Characters as they are, but for those that are dangerous in a page."""
    try:
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).translate(FOR_GO)
        return line.encode() + b"\n"
    except UnicodeEncodeError:
        return real(message)


def with_point(port: Any, real: Any, message: Message) -> bytes:
    """A whole number as a language writes it that has one type of numbers."""
    identity: Any = message.get("id")
    is_small = type(identity) is int and abs(identity) < 2**53
    return real({**message, "id": float(identity)} if is_small and "method" not in message else message)


def in_stars(text: str) -> str:
    return re.sub(r"\[(?:withheld|masked)\]", "*****", text)


def tells_of_cut(port: Any, real: Any, text: str) -> str:
    size = len(text.encode("utf-8", "replace"))
    return f"(the first {size - STDERR_LIMIT} bytes are left out)\n{real(text)}" if size > STDERR_LIMIT else real(text)


def whole_lines(port: Any, real: Any, text: str) -> str:
    kept = real(text)
    is_cut = len(text.encode("utf-8", "replace")) > STDERR_LIMIT
    return kept.partition("\n")[2] or kept if is_cut else kept


def warms_up(port: Any, call: Call) -> None:
    if "is warm" not in port.memory:
        port.memory["is warm"] = True
        time.sleep(FIRST_SECONDS)


def withholds_lines(port: Any, real: Any, text: str) -> str:
    """Masks what stands beside a key up to the next blank."""
    return re.sub(rf"(?:{KEYS.pattern})[^\s\"']*", "[masked]", text)


odd("escapes-like-go", "Escapes angle brackets, ampersands and line separators, and no other characters.")(
    encoded=as_go
)
odd("ids-with-point", "Answers the id 7 with 7.0, which is the same number.")(encoded=with_point)
odd("indents-messages", "Puts a tab and a blank before each message.")(encoded=gives(lambda line: b"\t " + line))
odd("stars-for-secrets", "Puts stars in the place of what it withholds and masks.")(redacted=gives(in_stars))
odd("tells-of-cut", "Says how much of stderr it has cut.")(tail=tells_of_cut)
odd("tail-begins-with-whole-line", "Begins a stderr that it cuts with a whole line.")(tail=whole_lines)
odd("masks-to-next-blank", "Masks a key with all that follows it up to the next blank.")(masked=withholds_lines)
odd("warms-up", "Takes a second and a half to start, and another second for its first call.")(
    signals=before(lambda port: time.sleep(START_SECONDS)),
    run_prompt=before(lambda port, call, plan: warms_up(port, call)),
)
odd("message-on-one-line", "Puts what gemini says of its failure on one line.")(
    message=gives(lambda said: said and " ".join(said.split()))
)
odd("path-in-ascii", "Names a refused directory by the escapes of JSON in the place of letters beyond ASCII.")(
    check_cwd=path_shown(json.dumps)
)
