"""Defects of messages that show late: on the second request, in odd ids and tokens, from slow writers, over HTTP."""

import os
import select
import sys
import time
from collections.abc import Iterator
from typing import Any

from defects.record import defect
from http_port import HttpPort
from port import Port
from running import Call
from speaking import JSON, Message

PATIENCE_SECONDS = 3.0


def in_32_bits(port: Any, real: Any, message: Message) -> None:
    identity = message.get("id")
    if "error" in message and type(identity) is int:
        message = {**message, "id": (identity + 2**31) % 2**32 - 2**31}
    real(message)


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


def waits_for_id(port: Any, real: Any, identity: JSON, *others: Any) -> Message | None:
    while any(type(call.id) is type(identity) and call.id == identity for call in port.calls):
        time.sleep(0.1)
    return real(identity, *others)


def notes_waiting(port: Any, real: Any, call: Call, turn: str | None) -> None:
    if turn in port.turns:
        port.memory[call] = turn
    real(call, turn)


def forgets_waiting(port: Any, real: Any, call: Call, now: float) -> None:
    if call in port.memory:
        Port.check_deadline(port, call, now)
    else:
        real(call, now)


defect(
    "error-id-in-32-bits",
    "Writes the id of an error response as a number of 32 bits.",
    "rpc:response:id",
)(send=in_32_bits)
defect(
    "half-line-times-out",
    "Takes the part of a line that has come for all of it when the rest is three seconds late.",
    "rpc:alive:chunks",
)(lines=lines_in_time)
defect(
    "http-same-id-waits",
    "Keeps calls by their id alone, so that the call of a client waits for that of another client with the same id.",
    "concurrency:calls",
)(HttpPort, begin_call=waits_for_id)
defect(
    "http-gone-waiter-served",
    "Does not notice that the client of a stateless reply has left when the reply has had to wait for its turn.",
    "http:stateless:disconnect",
)(HttpPort, take_turn=notes_waiting, check_deadline=forgets_waiting)
