"""Clients and connections that hold each other up: ports that break `concurrency`."""

import threading
import time
from collections.abc import Mapping
from typing import Any

from defects.protocol.shared import is_gone, notes_gone, waits_for_reader
from defects.record import defect
from http_port import HttpPort
from port import Port
from running import Call
from speaking import JSON, Message
from steps import before

POSTS = 8


def keeps_turn_of_gone(port: Any, real: Any, call: Call, turn: str | None) -> None:
    if not is_gone(port, call):
        real(call, turn)


def waits_for_id(port: Any, real: Any, identity: JSON, *others: Any) -> Message | None:
    while any(type(call.id) is type(identity) and call.id == identity for call in port.calls):
        time.sleep(0.1)
    return real(identity, *others)


def dropped_when_full(port: Any, real: Any, message: Message) -> None:
    if waits_for_reader(0):
        real(message)


def ends_by_id(port: Any, real: Any, call: Call) -> None:
    for each in list(port.calls):
        if each.id == call.id:
            Port.cancel(port, each)


def eight_posts(port: Any, real: Any, post: Any, body: bytes) -> None:
    with port.memory.setdefault("places", threading.Semaphore(POSTS)):
        real(post, body)


def turn_of_client(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    turn = real(tool, texts)
    return turn and f"{port.current.post.session}: {turn}"


def notes_written(port: Any, line: bytes) -> None:
    port.memory["is plain"] = b"tools/call" in line


def alone_unless_plain(port: Any, real: Any, *arguments: Any) -> None:
    real(*arguments)
    if not port.memory["is plain"]:
        port.threads[-1].join()


defect(
    "disconnection-keeps-turn",
    "Lets replies wait for ever behind one whose client has closed its connection.",
    "concurrency:after-failure",
)(HttpPort, disconnected=before(notes_gone), end_turn=keeps_turn_of_gone)
defect(
    "http-same-id-waits",
    "Keeps calls by their id alone, so that the call of a client waits for that of another client with the same id.",
    "concurrency:calls",
)(HttpPort, begin_call=waits_for_id)
defect(
    "dropped-when-pipe-is-full",
    "Drops a message that the client has no room for at once.",
    "concurrency:lost",
)(write=dropped_when_full)
defect(
    "same-ids-end-together",
    "Ends the calls of all clients that have the same id when one of them leaves.",
    "stateless:no-handshake",
    "concurrency:lost",
    "result:session-id",
)(HttpPort, disconnected=ends_by_id)
defect("eight-posts-at-once", "Takes no more than eight posts at once over HTTP.", "concurrency:ping")(
    HttpPort, posted=eight_posts
)
defect(
    "turns-kept-by-client",
    "Lets replies in the same session overlap when two clients send them over HTTP.",
    "concurrency:same-session",
)(HttpPort, turn=turn_of_client)
defect(
    "escaped-method-blocks",
    "Reads nothing beside a call whose method is written with an escaped slash.",
    "concurrency:ping",
)(receive=before(notes_written), begin_call=alone_unless_plain)
