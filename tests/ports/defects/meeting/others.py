"""Messages that meet an unusual moment or each other: ports that break `lifecycle`, `rpc`, `stdio` or `tools`."""

import json
import os
import re
import select
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from conditions import every
from defects.record import defect
from defects.shared import lines_by
from speaking import UNKNOWN_METHOD, Message, as_object
from steps import always, before

FIRST_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9]+)')
INHERITED = ("constructor", "toString", "__proto__", "__class__")


def flushed_with_next(port: Any, real: Any, message: Message) -> None:
    """An error is written with what follows it."""
    if "error" in message:
        with suppress(BrokenPipeError):
            sys.stdout.buffer.write(port.encoded(message))
    else:
        real(message)


def answered(port: Any, real: Any, method: str, params: Any) -> None:
    port.send_error(None, UNKNOWN_METHOD, f"The method {method!r} is unknown.")
    real(method, params)


def with_first_id(port: Any, real: Any, line: bytes) -> Any:
    message, found = real(line), FIRST_ID.search(line)
    is_request = as_object(message) is not None and "id" in message
    return {**message, "id": json.loads(found[1])} if is_request and found else message


def logs_unreadable(port: Any, line: bytes) -> None:
    try:
        json.loads(line)
    except ValueError:
        sys.stderr.buffer.write(b"cannot read: " + line)
        sys.stderr.flush()


def turned_by_cursor(port: Any, real: Any, params: Mapping[str, Any], stateless: bool) -> Message:
    port.memory["is_turned"] = port.memory.get("is_turned") or params.get("cursor") is not None
    result = real(params, stateless)
    return {**result, "tools": result["tools"][::-1]} if port.memory["is_turned"] else result


def inherited_is_known(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Any:
    """The table of tools holds such a name, and what is found there answers nothing."""
    return None if params.get("name") in INHERITED else real(identity, params, stateless)


def sent_past_lock(port: Any, real: Any, message: Message) -> None:
    rest = memoryview(port.encoded(message))
    with suppress(BrokenPipeError):
        while rest:
            rest = rest[os.write(1, rest) :]


def lines_that_are_dropped(port: Any, real: Any) -> Iterator[bytes]:
    def read(held: bytes) -> tuple[bytes, bytes]:
        is_parked = bool(held) and not select.select([0], [], [], 0.05)[0]
        before = port.memory.get("written", 0)
        piece = os.read(0, 1 << 16)
        return b"" if is_parked and port.memory.get("written", 0) != before else held, piece

    return lines_by(read)


def count_written(port: Any, real: Any, message: Any) -> None:
    real(message)
    port.memory["written"] = port.memory.get("written", 0) + 1


defect("every-200th-message-lost", "Overlooks every 200th message.", "lifecycle:ping")(receive=every(200, always(None)))
defect("errors-written-later", "Writes a JSON-RPC error with the next message.", "rpc:error:method")(
    write=flushed_with_next
)
defect("sixty-fourth-notification-answered", "Answers every 64th notification.", "rpc:notification:unanswered")(
    notified=every(64, answered)
)
defect("first-id-taken", "Takes the first id on a line for that of the request.", "rpc:response:id")(
    parse=with_first_id
)
defect("unreadable-lines-logged", "Logs the lines that it cannot read.", "stdio:stderr:private")(
    receive=before(logs_unreadable)
)
defect("tools-turned-by-cursor", "Lists the tools in another order after it was asked for a page.", "tools:order")(
    list_tools=turned_by_cursor
)
defect("inherited-tools-unanswered", "Finds a tool named toString.", "tools:unknown")(begin_call=inherited_is_known)
defect(
    "ping-within-an-answer",
    "Writes the answer to `ping` or `tools/list` into the middle of an answer that a client has not yet read whole.",
    "stdio:stdout",
    "stdio:framing",
)(send=sent_past_lock)
defect(
    "half-a-line-dropped-by-answer",
    "Forgets the part of a line that has come when it has something to send before the rest of the line comes.",
    "rpc:alive:chunks",
)(lines=lines_that_are_dropped, write=count_written)
