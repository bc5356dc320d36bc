"""Defects that show with the shape of a value: of a list, a template, a number, a body or a header."""

import json
import re
import select
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Outcome, Scan
from defects.protocol.http import turns_away
from defects.record import defect
from http_port import HttpPort
from posting import LENGTH, Post
from steps import before, gives

NOTHING = ("null", "undefined", "None")
ASCII_BLANKS = " \t\n\r\v\f"
BODY_LIMIT = 100 * 1024
"""What the most popular package for Node reads of a body by default."""
PATIENCE = 0.02
PIECE = 64 * 1024


def damaged_is_none(port: Any, real: Any, listing: Outcome) -> str | None:
    try:
        (listing.stdout + listing.stderr).decode()
    except UnicodeDecodeError:
        return None
    return real(listing)


def fills_further(port: Any, real: Any, tool: str, texts: Mapping[str, str], form: tuple[str, ...]) -> tuple[str, ...]:
    """Fills the prompt into its template first, and then the other arguments into what has become of it."""
    words = real(tool, texts, form)
    for name, text in texts.items():
        if name != "prompt":
            words = tuple(word.replace("{" + name + "}", text) for word in words)
    return words


def words_for_nothing(port: Any, real: Any, name: str, text: str) -> bool:
    return real(name, text) or (name != "prompt" and text in NOTHING)


def blank_in_ascii(port: Any, real: Any, name: str, text: str) -> bool:
    return not text.strip(ASCII_BLANKS) if name == "systemPrompt" else real(name, text)


def as_replacement(text: str) -> str:
    """What JavaScript's `replace` makes of a text that is put in the place of `{stderr}`."""
    return re.sub(r"\$([$&])", lambda found: {"$": "$", "&": "{stderr}"}[found[1]], text)


def counted(scan: Scan) -> Scan:
    """Without the objects in which a number is no whole one: every count is read into an integer."""
    return replace(scan, objects=[each for each in scan.objects if not holds_fraction(each[1])])


def holds_fraction(value: Any) -> bool:
    found: list[str] = []
    json.loads(json.dumps(value), parse_float=found.append)
    return bool(found)


class ReadsWhatHasCome(Post):
    """Takes what has come of a body for the whole."""

    def body(self) -> bytes:
        length, body = int(self.headers.get(LENGTH, 0)), b""
        while len(body) < length and (not body or select.select([self.connection], [], [], PATIENCE)[0]):
            body += self.rfile.read1(min(PIECE, length - len(body)))
        return body


class ComparesCase(Post):
    """Knows a header as it is usually written."""

    def header(self, name: str) -> str | None:
        return super().header(name) if name in tuple(self.headers) else None


def receiving(handler: type[Post]) -> Any:
    def receive_with(port: Any) -> None:
        port.server.RequestHandlerClass = handler

    return before(receive_with)


defect("damaged-list-unread", "Reads no list of sessions that is not UTF-8.", "fallback:list-sessions")(
    newest=damaged_is_none
)
defect(
    "list-ends-lines-with-brackets",
    "Reads no entry of a list with a text behind its brackets.",
    "fallback:list-sessions",
)(entry_pattern=lambda port, real: re.compile(r"\s*(\d+)\.\s.*\[([^\[\]\s]+)\]"))
defect(
    "placeholders-of-prompt-filled",
    "Fills the model into a prompt that holds the text {model}.",
    "command:chat",
)(argv=fills_further)
defect(
    "words-for-nothing-are-absent",
    "Takes the texts `null`, `undefined` and `None` for absent arguments.",
    "command:chat:model",
)(is_absent=words_for_nothing)
defect(
    "wide-blanks-are-a-system-prompt",
    "Hands over a system prompt of blanks beyond ASCII.",
    "arguments:empty:system-prompt",
)(is_absent=blank_in_ascii)
defect(
    "dollars-of-stderr-read",
    "Fills stderr into an error as JavaScript does, which reads `$$` and `$&` in it.",
    "error:stderr",
)(tail=gives(as_replacement))
defect(
    "fraction-hides-answer",
    "Does not read an answer beside a number that is no whole one.",
    "result:text",
)(scan=gives(counted))
defect("bodies-over-100-kib-refused", "Refuses a body of more than 100 KiB.", "http:equivalence")(
    HttpPort, posted=turns_away(413, lambda port, post, body: len(body) > BODY_LIMIT)
)
defect("body-ends-at-pause", "Takes what has come of a body for the whole.", "rpc:response:id")(
    HttpPort, serve=receiving(ReadsWhatHasCome)
)
defect(
    "headers-compared-with-case",
    "Knows a header by one spelling, though its case means nothing.",
    "http:session:ended",
)(HttpPort, serve=receiving(ComparesCase))
