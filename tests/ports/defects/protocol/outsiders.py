"""Defects in channels that a stranger would look for: pauses, large messages, progress, lists, sessions of HTTP."""

import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from select import select
from typing import Any

from defects.record import defect
from http_port import HttpPort
from running import Call
from speaking import Message
from steps import after, before

MEGABYTE = 1024 * 1024
PIECE = 64 * 1024
PATIENCE = 2.0
WITH_BATCHES = "2025-03-26"
STDOUT = 4
"""Its place among what `begin` takes behind the call."""


def notes_stdout(port: Any, call: Call, *others: Any) -> None:
    port.memory[call] = others[STDOUT]


def silent_once_heard(port: Any, real: Any, call: Call) -> None:
    # The file is closed when gemini has ended.
    with suppress(KeyError, ValueError):
        if os.fstat(port.memory[call].fileno()).st_size:
            return
    real(call)


def lets_others_in(port: Any, real: Any, message: Message) -> None:
    data = port.encoded(message)
    with suppress(BrokenPipeError):
        for at in range(0, len(data), MEGABYTE):
            if at:
                port.output.release()
                time.sleep(0.01)
                port.output.acquire()
            sys.stdout.buffer.write(data[at : at + MEGABYTE])
            sys.stdout.buffer.flush()


def impatient_lines(port: Any, real: Any) -> Iterable[bytes]:
    """Takes a line that does not go on for one that has ended."""
    line = b""
    while True:
        if line and not select([0], [], [], PATIENCE)[0]:
            yield line
            line = b""
        piece = os.read(0, PIECE)
        *lines, line = (line + piece).split(b"\n")
        yield from lines
        if not piece:
            yield line
            return


def notes_revision(port: Any, real: Any, message: Message) -> dict[str, str]:
    headers = real(message)
    for session in headers.values():
        port.memory[session] = message["result"]["protocolVersion"]
    return headers


def as_a_batch(port: Any, real: Any, post: Any) -> None:
    if port.memory.get(post.session) == WITH_BATCHES:
        post.reply(200)
    else:
        real(post)


def renews_session(port: Any, call: Call, result: Message) -> None:
    if session := port.posts[call].session:
        port.sessions.add(session)


def unless_stream(port: Any, real: Any, call: Call) -> None:
    if not port.posts[call].is_stream:
        real(call)


def resumes_nothing(port: Any, real: Any, post: Any, body: bytes) -> None:
    if post.headers.get("Last-Event-ID") is not None and not port.is_refused(post):
        post.reply(400, b"Unknown event.", {"Content-Type": "text/plain"})
    elif not post.is_answered:
        real(post, body)


defect(
    "quiet-behind-first-byte",
    "Tells no more progress once gemini has printed something.",
    "progress:interval",
)(begin=before(notes_stdout), report_progress=silent_once_heard)
defect(
    "lock-for-each-megabyte",
    "Lets other messages in between the megabytes of a large one.",
    "stdio:stdout",
    "stdio:framing",
)(write=lets_others_in)
defect(
    "pause-ends-line",
    "Takes two seconds without a byte for the end of a line.",
    "rpc:alive:chunks",
)(lines=impatient_lines)
defect(
    "notification-of-march",
    "Answers a notification in a session of 2025-03-26 with status 200.",
    "http:notification",
)(HttpPort, session=notes_revision, accept=as_a_batch)
defect(
    "session-renewed-by-answer",
    "Takes up a session again that was ended during a call, once the call is answered.",
    "http:session:ended",
)(HttpPort, answer=after(renews_session))
defect(
    "stream-outlives-client",
    "Goes on with a request whose connection has ended when it has told progress.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=unless_stream)
defect(
    "last-event-unknown",
    "Answers a GET that names the last event with status 400.",
    "http:get",
)(HttpPort, got=resumes_nothing)
