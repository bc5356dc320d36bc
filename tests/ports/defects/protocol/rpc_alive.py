"""Messages after which a port is deaf or gone: ports that break `rpc:alive`."""

import json
import os
import re
import select
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from defects.protocol.shared import FULL, PIPE, is_request
from defects.record import defect
from speaking import INVALID_REQUEST, Message, as_object
from steps import Step, after, before, only

MOST_MALFORMED = 16

CHUNK = 65_536
PAGE = 4096

PATIENCE_SECONDS = 3.0
PIECE = 65536
PATIENCE = 2.0
MEBIBYTE = 1 << 20
SURROGATE = re.compile("[\ud800-\udfff]")


def pieces(port: Any, real: Any) -> Iterator[bytes]:
    while piece := os.read(0, 1 << 16):
        yield from piece.split(b"\n")


def full_reads_followed(port: Any, real: Any) -> Iterator[bytes]:
    """Reads on while a read was full, for then there must be more."""
    rest, piece = b"", b"-"
    while piece:
        read = [rest]
        while piece := os.read(0, PAGE):
            read.append(piece)
            if len(piece) < PAGE:
                break
        *lines, rest = b"".join(read).split(b"\n")
        yield from lines


def plain_members_only(port: Any, real: Any, line: bytes) -> None:
    if not re.search(rb'"\\u00[0-9a-f]{2}[^"]*"\s*:|"[a-z]+\\u00[0-9a-f]{2}[a-z]*"\s*:', line):
        real(line)


def lines_in_time(port: Any, real: Any) -> Iterator[bytes]:
    source, held = sys.stdin.fileno(), b""
    while True:
        if held and not select.select([source], [], [], PATIENCE_SECONDS)[0]:
            yield held
            held = b""
        piece = os.read(source, 65536)
        if not piece:
            break
        *whole, held = (held + piece).split(b"\n")
        yield from whole
    yield held


def rest_lost(port: Any, real: Any) -> Iterator[bytes]:
    """What follows two whole messages in one piece is taken for a part of them."""
    rest = b""
    while piece := os.read(sys.stdin.fileno(), PIECE):
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
        rest = b"" if len(lines) > 1 else rest


def impatient_lines(port: Any, real: Any) -> Iterable[bytes]:
    """Takes a line that does not go on for one that has ended."""
    line = b""
    while True:
        if line and not select.select([0], [], [], PATIENCE)[0]:
            yield line
            line = b""
        piece = os.read(0, PIECE)
        *lines, line = (line + piece).split(b"\n")
        yield from lines
        if not piece:
            yield line
            return


def lines_within(seconds: float) -> Step:
    """Forgets what has come of a line when the rest keeps it waiting."""

    def lines(port: Any, real: Any) -> Iterator[bytes]:
        begun = b""
        while True:
            if begun and not select.select([0], [], [], seconds)[0]:
                begun = b""
            if not (piece := os.read(0, PIPE)):
                return
            *whole, begun = (begun + piece).split(b"\n")
            yield from whole

    return lines


def last_is_id(message: Any) -> bool:
    return is_request(message) and list(message)[-1] == "id"


def spaced(line: bytes) -> bool:
    return b'" :' not in line


def lost_after_long_line(port: Any, real: Any) -> Iterator[bytes]:
    for line in real():
        if len(line) > 1 << 20:
            list(real())
        yield line


def message_behind(test: Callable[[bytes], bool]) -> Step:
    """Of `lines`: passes over the line behind one of which `test` holds."""

    def lines(port: Any, real: Any) -> Iterator[bytes]:
        is_lost = False
        for line in real():
            if not is_lost:
                yield line
            is_lost = not is_lost and test(line)

    return lines


def counts_parse_errors(port: Any, identity: Any, code: int, message: str) -> None:
    port.memory["complaints"] = port.memory.get("complaints", 0) + (code == -32700)


def is_malformed(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return bool(line.strip())
    return False


def deaf_behind_damage(port: Any, real: Any, line: bytes) -> None:
    """The thread that reads ends with the line that it cannot decode."""
    if port.memory.get("is_deaf"):
        return
    try:
        line.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        port.memory["is_deaf"] = True
    real(line)


def dies_of_depth(port: Any, line: bytes) -> None:
    """Catches what a decoder raises, and no RecursionError."""
    if line.strip():
        with suppress(ValueError):
            port.parse(line)


def ends_at_response(port: Any, message: Any) -> None:
    if as_object(message) is not None and "method" not in message and ("result" in message or "error" in message):
        raise SystemExit


def method_is_whole(request: Message) -> bool:
    return not SURROGATE.search(request["method"])


def token_is_whole(request: Message) -> bool:
    meta = as_object((as_object(request.get("params")) or {}).get("_meta")) or {}
    return not SURROGATE.search(str(meta.get("progressToken")))


def chunks() -> Iterator[bytes]:
    """What each read gives."""
    while piece := os.read(0, CHUNK):
        yield piece


def newline_first_overlooked(port: Any, real: Any) -> Iterator[bytes]:
    held = b""
    for piece in chunks():
        held += piece
        if piece.find(b"\n") > 0:
            *lines, held = held.split(b"\n")
            yield from lines
    yield from held.split(b"\n")


def rest_of_piece_dropped(port: Any, real: Any) -> Iterator[bytes]:
    held = b""
    for piece in chunks():
        *lines, held = (held + piece).split(b"\n")
        port.memory["invalid"] = False
        for line in lines:
            if not port.memory["invalid"]:
                yield line
    yield held


def notes_invalid(port: Any, identity: Any, code: int, message: str) -> None:
    port.memory["invalid"] = code == INVALID_REQUEST


def gives_up(port: Any, real: Any, line: bytes) -> None:
    real(line)
    if port.memory.get("malformed", 0) >= MOST_MALFORMED:
        port.shut_down()


def counts_malformed(port: Any, real: Any, line: bytes) -> Any:
    try:
        message = real(line)
    except (ValueError, RecursionError):
        port.memory["malformed"] = port.memory.get("malformed", 0) + 1
        raise
    port.memory["malformed"] = 0
    return message


def decoded_lines(port: Any, real: Any) -> Iterator[bytes]:
    """With each line the decoder begins anew, although it may have begun with the next one."""
    decoder, rest = getincrementaldecoder("utf-8")("surrogateescape"), ""
    while piece := os.read(0, PIPE):
        *lines, rest = (rest + decoder.decode(piece)).split("\n")
        for line in lines:
            decoder.reset()
            yield line.encode("utf-8", "surrogateescape")
    if rest:
        yield rest.encode("utf-8", "surrogateescape")


defect("pieces-are-lines", "Takes whatever one read gives for whole lines.", "rpc:alive:chunks")(lines=pieces)
defect("escaped-members-unread", "Passes over a message that writes a member in escapes.", "rpc:alive:chunks")(
    receive=plain_members_only
)
defect(
    "half-line-times-out",
    "Takes the part of a line that has come for all of it when the rest is three seconds late.",
    "rpc:alive:chunks",
)(lines=lines_in_time)
defect(
    "beginning-behind-two-messages-lost",
    "Loses the beginning of a message that comes in one piece with two whole ones.",
    "rpc:alive:chunks",
)(lines=rest_lost)
defect("blanks-behind-messages-dropped", "Passes over a message with a blank behind it.", "rpc:alive:chunks")(
    receive=lambda port, real, line: None if line.rstrip(b"\r\n")[-1:] in (b" ", b"\t") else real(line)
)
defect(
    "full-lines-lost",
    "Passes over a line of exactly 64 KiB, or a multiple of that.",
    "rpc:alive:chunks",
    "rpc:alive:long-line",
)(receive=only(lambda line: len(line) % FULL != 0))
defect(
    "full-page-waits-for-more",
    "Holds a line back that fills pages of 4 KiB to their end, until more comes.",
    "rpc:alive:chunks",
)(lines=full_reads_followed)
defect(
    "pause-ends-line",
    "Takes two seconds without a byte for the end of a line.",
    "rpc:alive:chunks",
)(lines=impatient_lines)
defect(
    "pause-ends-message",
    "Forgets the beginning of a message when its rest comes more than a second later.",
    "rpc:alive:chunks",
)(lines=lines_within(1.0))
defect(
    "short-pause-ends-message",
    "Forgets the beginning of a message when its rest comes 50 milliseconds later.",
    "rpc:alive:chunks",
)(lines=lines_within(0.05))
defect("id-behind-rest-overlooked", "Takes a request for a notification whose id stands last.", "rpc:alive:chunks")(
    dispatch=only(lambda message: not last_is_id(message))
)
defect("blank-before-colon-dropped", "Passes over a message with a blank before a colon.", "rpc:alive:chunks")(
    receive=only(spaced)
)
defect(
    "newline-alone-overlooked",
    "Holds a message back whose newline is the first byte of a piece, until another piece comes.",
    "rpc:alive:chunks",
    "concurrency:crossed",
)(lines=newline_first_overlooked)
defect("deaf-after-long-line", "Stops reading after a line of more than a megabyte.", "rpc:alive:long-line")(
    lines=lost_after_long_line
)
defect("message-behind-long-line-lost", "Passes over the line behind one of a megabyte.", "rpc:alive:long-line")(
    lines=message_behind(lambda line: len(line) > MEBIBYTE)
)
defect(
    "deaf-after-two-malformed-lines",
    "Gives up reading at the second line that is no JSON, and lives on.",
    "rpc:alive:malformed",
)(
    send_error=after(counts_parse_errors),
    dispatch=lambda port, real, message: real(message) if port.memory.get("complaints", 0) < 2 else None,
)
defect("dies-of-arrays", "Falls over JSON that is no object.", "rpc:alive:malformed")(
    dispatch=lambda port, real, message: os._exit(1) if as_object(message) is None else real(message)
)
defect("message-behind-malformed-line-lost", "Passes over the line behind one that is no JSON.", "rpc:alive:malformed")(
    lines=message_behind(is_malformed)
)
defect(
    "deaf-behind-damaged-line",
    "Reads nothing more behind a line that is not UTF-8, and lives on.",
    "rpc:alive:malformed",
)(receive=deaf_behind_damage)
defect("dies-of-depth", "Dies of JSON that is nested too deep.", "rpc:alive:malformed")(receive=before(dies_of_depth))
defect("response-ends-server", "Falls over a response to a request that it has not made.", "rpc:alive:malformed")(
    dispatch=lambda port, real, message: (ends_at_response(port, message), real(message))[1]
)
defect(
    "invalid-request-drops-piece",
    "Drops the messages that come in one piece behind JSON that is no valid request.",
    "rpc:alive:malformed",
)(lines=rest_of_piece_dropped, send_error=before(notes_invalid))
defect(
    "sixteen-malformed-lines-end",
    "Exits after sixteen lines in a row that are no JSON.",
    "rpc:alive:malformed",
)(receive=gives_up, parse=counts_malformed)
defect("surrogates-unanswered", "Loses a request that cannot be written as UTF-8.", "rpc:alive:surrogate")(
    dispatch=only(lambda message: not re.search("[\ud800-\udfff]", json.dumps(message, ensure_ascii=False)))
)
defect(
    "surrogate-in-method-unanswered",
    "Does not answer a request whose method holds a lone surrogate.",
    "rpc:alive:surrogate",
)(requested=only(method_is_whole))
defect(
    "surrogate-in-token-unanswered",
    "Does not answer a request whose progress token holds a lone surrogate.",
    "rpc:alive:surrogate",
)(requested=only(token_is_whole))
defect(
    "character-cut-behind-line-lost",
    "Damages a character that is cut in a piece in which the line before it ends.",
    "rpc:alive:chunks",
)(lines=decoded_lines)
