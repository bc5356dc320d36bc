"""Defects in messages: what ids, eras, headers and hurried readers make of them, over stdio and over HTTP."""

import json
import os
import select
import sys
from contextlib import suppress
from typing import Any

from defects.record import defect
from http_port import HttpPort
from posting import LENGTH
from running import Call
from speaking import Message, as_object
from steps import before, only

NULL = object()


def backslashes_raw(port: Any, real: Any, message: Message) -> bytes:
    """Writes errors by hand, and escapes all but the backslashes of a text that is the id."""
    line = real(message)
    if "error" not in message or not isinstance(message["id"], str):
        return line
    right = json.dumps(message["id"]).encode()
    return line.replace(right, right.replace(rb"\\", b"\\"), 1)


def notes_id(port: Any, real: Any, identity: Any, *others: Any) -> Call:
    call = real(identity, *others)
    port.memory.setdefault("ids", {})[str(identity)] = identity
    return call


def id_by_its_text(port: Any, call: Call, result: Message) -> None:
    call.id = port.memory["ids"][str(call.id)]


def by_method_alone(port: Any, real: Any, message: Any) -> None:
    method = (as_object(message) or {}).get("method")
    if isinstance(method, str) and method.startswith("notifications/") and port.is_valid(message):
        port.notified(method, message.get("params"))
    else:
        real(message)


def dies_of_depth(port: Any, line: bytes) -> None:
    """Catches what a decoder raises, and no RecursionError."""
    if line.strip():
        with suppress(ValueError):
            port.parse(line)


def says_goodbye(port: Any) -> None:
    if port.ended_by_signal and select.select([], [1], [], 0)[1]:
        with suppress(OSError):
            os.write(1, b"Server stopped.\n")


def logs_output(port: Any, stdout: str) -> None:
    print(f"warning: no JSON in the output of gemini: {stdout}", file=sys.stderr, flush=True)


def deletes_for_all(port: Any, real: Any, post: Any) -> bool:
    if post.command != "DELETE":
        return real(post)
    if post.session is not None and post.session not in port.sessions:
        post.reply(port.unknown_session())
    return post.is_answered


def ends_idle_session(port: Any, real: Any, session: str | None) -> None:
    if session not in [port.posts[call].session for call in list(port.calls)]:
        real(session)


def length_in_characters(port: Any, real: Any, message: Message) -> None:
    post = port.current.post
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n"
    try:
        body = text.encode()
    except UnicodeEncodeError:
        body = None
    if body is None or "method" in message or post.is_stream:
        real(message)
    else:
        with suppress(OSError):
            post.reply(port.status(message), body, {**port.headers(message), LENGTH: str(len(text))})


defect(
    "backslashes-of-ids-raw",
    "Writes the backslashes of an id unescaped in an error.",
    "rpc:response:id",
)(encoded=backslashes_raw)
defect(
    "look-alike-ids-mixed",
    "Answers two calls that run at the same time with one id, when the ids are 7 and the text of it.",
    "rpc:response:id",
)(new_call=notes_id, answer=before(id_by_its_text))
defect(
    "requests-named-like-notifications",
    "Does not answer a request whose unknown method begins like that of a notification.",
    "rpc:error:method",
)(dispatch=by_method_alone)
defect("dies-of-depth", "Dies of JSON that is nested too deep.", "rpc:alive:malformed")(receive=before(dies_of_depth))
defect("goodbye-on-stdout", "Says goodbye on stdout when a signal ends it.", "stdio:stdout")(
    shut_down=before(says_goodbye)
)
defect(
    "text-without-json-logged",
    "Logs what gemini has printed when it finds no JSON in it.",
    "stdio:stderr:private",
)(plain_text=before(logs_output))
defect(
    "origin-of-delete-unread",
    "Lets the page of any origin end a session.",
    "http:origin",
)(HttpPort, is_refused=deletes_for_all)
defect(
    "busy-session-without-end",
    "Serves a session on that its client has ended while a call was running.",
    "http:session:ended",
)(HttpPort, end_session=ends_idle_session)
defect(
    "disconnect-noticed-in-streams",
    "Notices that a client has gone only when the call asks for progress.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=only(lambda call: call.token is not None))
defect(
    "length-in-characters-over-http",
    "Counts characters for the length of a body, so that an answer beyond ASCII is cut.",
    "http:equivalence",
)(HttpPort, write=length_in_characters)
