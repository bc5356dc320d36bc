"""Messages that get lost or are wrongly answered, mostly while calls run: ports that break `rpc`."""

import os
import select
import threading
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from defects.record import defect
from defects.shared import lines_by
from port import META, STATELESS, UNSUPPORTED_VERSION, Stop
from speaking import INVALID_PARAMS, Message, as_object

INHERITED = {"constructor", "hasOwnProperty", "isPrototypeOf", "toString", "valueOf"}
"""What every JavaScript object has."""

PIECE_SECONDS = 3.0
INVALID_LIMIT = 12
FILLED = threading.Condition()
QUEUE = 32
OUTBOX = deque[Callable[[], None]](maxlen=QUEUE)


def lines_in_time(port: Any, real: Any) -> Iterable[bytes]:
    def read(held: bytes) -> tuple[bytes, bytes]:
        is_late = bool(held) and not select.select([0], [], [], PIECE_SECONDS)[0]
        return b"" if is_late else held, os.read(0, 1 << 16)

    return lines_by(read)


def gives_up(port: Any, real: Any, message: Any) -> None:
    real(message)
    port.memory["invalid"] = 0 if port.is_valid(message) else port.memory.get("invalid", 0) + 1
    if port.memory["invalid"] >= INVALID_LIMIT:
        raise Stop


def rest_of_character(body: bytes) -> bytes:
    """The bytes of a character that the end cuts."""
    for length in (3, 2, 1):
        rest = body[-length:]
        if len(rest) == length and rest[0] >= 0xC2 and all(0x80 <= byte < 0xC0 for byte in rest[1:]):
            return rest if length < 2 + (rest[0] >= 0xE0) + (rest[0] >= 0xF0) else b""
    return b""


def one_decoder(port: Any, real: Any, line: bytes) -> None:
    whole = port.memory.pop("rest", b"") + line
    port.memory["rest"] = rest_of_character(line.rstrip(b"\r\n"))
    real(whole)


def checks_notification(port: Any, real: Any, method: str, params: Any) -> None:
    meta = as_object((as_object(params) or {}).get("_meta")) or {}
    version = meta.get(f"{META}protocolVersion")
    if version is None or version in STATELESS:
        real(method, params)
    else:
        port.send_error(None, UNSUPPORTED_VERSION, "The protocol version is not supported.")


def begins_with_equal_id(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> None:
    """Finds a running id that is canonically the same text."""

    def form(text: Any) -> Any:
        return unicodedata.normalize("NFC", text) if isinstance(text, str) else None

    same = [each.id for each in port.calls if isinstance(each.id, str) and form(each.id) == form(identity)]
    real(same[0] if same else identity, params, stateless)


def write_queued() -> None:
    while True:
        with FILLED:
            FILLED.wait_for(lambda: OUTBOX)
            write = OUTBOX.popleft()
        write()


def queued(port: Any, real: Any, message: Message) -> None:
    """A thread writes, and the queue before it drops the oldest message when it is full."""
    with FILLED:
        if "writer" not in port.memory:
            port.memory["writer"] = threading.Thread(target=write_queued, daemon=True)
            port.memory["writer"].start()
        OUTBOX.append(lambda: real(message))
        FILLED.notify()


def checks_notified_call(port: Any, real: Any, method: str, params: Any) -> None:
    real(method, params)
    if method == "tools/call" and not isinstance((as_object(params) or {}).get("name"), str):
        port.send_error(None, INVALID_PARAMS, "`name` should be the name of a tool.")


def inherited_methods(port: Any, real: Any, request: Message, params: Any, stateless: bool) -> Message | None:
    return {} if stateless and request["method"] in INHERITED else real(request, params, stateless)


def lines_that_block(port: Any, real: Any) -> Iterator[bytes]:
    is_free = port.memory["free"]

    def read(held: bytes) -> tuple[bytes, bytes]:
        if held:
            is_free.clear()
        try:
            return held, os.read(0, 1 << 16)
        finally:
            is_free.set()

    return lines_by(read)


def free_first(port: Any, real: Any) -> None:
    port.memory["free"] = threading.Event()
    port.memory["free"].set()
    real()


def when_free(port: Any, real: Any, *arguments: Any) -> Any:
    if threading.current_thread() is not threading.main_thread():
        port.memory["free"].wait()
    return real(*arguments)


defect(
    "piece-dropped-after-pause",
    "Forgets the first piece of a message when the next does not come within three seconds.",
    "rpc:alive:chunks",
)(lines=lines_in_time)
defect(
    "gives-up-on-invalid",
    "Ends after twelve messages in a row that are no valid requests.",
    "rpc:alive:malformed",
)(dispatch=gives_up)
defect(
    "cut-character-before-next-line",
    "Puts the bytes of a character that the end of a line cuts before the next line, which is then no JSON.",
    "rpc:alive:malformed",
)(receive=one_decoder)
defect(
    "notification-of-unsupported-version-answered",
    "Answers a notification whose `_meta` names an unsupported protocol version with an error.",
    "rpc:notification:unanswered",
)(notified=checks_notification)
defect(
    "nameless-call-notification-answered",
    "Answers a `tools/call` without an id and without a tool name with an error.",
    "rpc:notification:unanswered",
)(notified=checks_notified_call)
defect(
    "id-canonically-same",
    "Answers a call with the id of a running one when both are the same text in composed and decomposed letters.",
    "rpc:response:id",
)(begin_call=begins_with_equal_id)
defect(
    "queue-of-32-messages",
    "Drops the oldest of more than 32 messages for which the client has no room.",
    "rpc:response:id",
    "lifecycle:ping",
)(write=queued)

defect(
    "inherited-method-in-stateless-era",
    "Answers a stateless request with an empty result whose method is a name that every JavaScript object has.",
    "rpc:error:method",
)(result=inherited_methods)
defect(
    "blocked-by-half-a-line",
    "Does nothing else while a part of a line has come without its end: no answer is sent, and no gemini is killed.",
    "rpc:alive:chunks",
    "concurrency:lost",
)(serve=free_first, lines=lines_that_block, write=when_free, signal_group=when_free)
