"""Defects of a port over HTTP between its connections: several clients, streams side by side, clients that leave."""

import threading
from collections.abc import Mapping
from typing import Any

from defects.life.cancelling import only_asks, spares_group, stops_leader
from defects.record import defect
from http_port import HttpPort
from port import Port
from running import Call
from speaking import Message
from steps import before

POSTS = 8


def notes_post(port: Any, identity: Any, params: Any, stateless: bool) -> None:
    port.memory.setdefault("posts", {})[repr(identity)] = port.current.post


def to_latest_post(port: Any, real: Any, message: Message) -> None:
    """Keeps the posts that wait by the ids of their requests, as if there were one client."""
    own = port.current.post
    if "content" in message.get("result", {}):
        port.current.post = port.memory["posts"].get(repr(message["id"]), own)
    if port.current.post is own or not port.current.post.is_answered:
        real(message)


def notes_gone(port: Any, call: Call) -> None:
    port.memory.setdefault("gone", set[Call]()).add(call)


def is_gone(port: Any, call: Call) -> bool:
    return call in port.memory.get("gone", ())


def keeps_turn_of_gone(port: Any, real: Any, call: Call, turn: str | None) -> None:
    if not is_gone(port, call):
        real(call, turn)


def first_gone_only(port: Any, real: Any, call: Call) -> None:
    if port.memory.setdefault("first", call) is call:
        real(call)


def ends_calls_of_others(port: Any, post: Any, body: bytes) -> None:
    for call in list(port.calls):
        if not call.stateless and port.posts[call].session != post.session:
            Port.cancel(port, call)


def one_stream(port: Any, real: Any, call: Call) -> None:
    """Has one stream; a call that begins while it is open is answered without."""
    untold = port.memory.setdefault("untold", set[Call]())
    if call.progress == 0 and any(other is not call and other.token is not None for other in port.calls):
        untold.add(call)
    if call not in untold:
        real(call)


def eight_posts(port: Any, real: Any, post: Any, body: bytes) -> None:
    with port.memory.setdefault("places", threading.Semaphore(POSTS)):
        real(post, body)


def turn_of_client(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    turn = real(tool, texts)
    return turn and f"{port.current.post.session}: {turn}"


def repeated_from_memory(port: Any, real: Any, call: Call) -> Message:
    """Takes a call for one that is sent again when another client has made one like it under the same id."""
    known, session = port.memory.setdefault("known", {}), port.posts[call].session
    key = repr((call.id, call.tool, sorted(call.arguments.items(), key=str)))
    if session is not None and key in known and known[key][0] != session:
        return known[key][1]
    result = real(call)
    known[key] = (session, result)
    return result


def directory_of_client(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    cwd, session = real(tool, texts), port.current.post.session
    directories = port.memory.setdefault("directories", {})
    if cwd is not None:
        directories[session] = cwd
    return cwd or (directories.get(session) if session else None)


def model_of_other_client(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    """The clients share a model until they name another."""
    option, session = real(tool, texts), port.current.post.session
    owner, kept = port.memory.get("model", (session, ()))
    if option:
        port.memory["model"] = (session, option)
    return option or (kept if owner != session else ())


defect(
    "ids-of-clients-mixed",
    "Sends the answer of a call to the latest client whose call has the same id.",
    "result:session-id",
    "concurrency:crossed",
)(HttpPort, begin_call=before(notes_post), write=to_latest_post)
defect(
    "disconnection-keeps-turn",
    "Lets replies wait for ever behind one whose client has closed its connection.",
    "concurrency:after-failure",
)(HttpPort, disconnected=before(notes_gone), end_turn=keeps_turn_of_gone)
defect(
    "disconnection-spares-group",
    "Ends gemini but not what it has started when a client closes its connection.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=before(notes_gone), stop=stops_leader(is_gone), signal_group=spares_group)
defect(
    "disconnection-only-asks",
    "Sends SIGTERM when a client closes its connection, and leaves it at that.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=before(notes_gone), stop=only_asks(is_gone))
defect(
    "second-disconnection-unheard",
    "Notices the first client that closes its connection, and no other.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=first_gone_only)
defect(
    "delete-ends-calls-of-others",
    "Cancels the calls of all other sessions when one is ended.",
    "result:session-id",
    "concurrency:lost",
)(HttpPort, deleted=before(ends_calls_of_others))
defect(
    "second-stream-untold",
    "Tells no progress over HTTP to a call that begins while another is told of its own.",
    "progress:start",
)(HttpPort, report_progress=one_stream)
defect("eight-posts-at-once", "Takes no more than eight posts at once over HTTP.", "concurrency:ping")(
    HttpPort, posted=eight_posts
)
defect(
    "turns-kept-by-client",
    "Lets replies in the same session overlap when two clients send them over HTTP.",
    "concurrency:same-session",
)(HttpPort, turn=turn_of_client)
defect(
    "call-of-other-client-repeated",
    "Answers a call from memory when another client has made the same one under the same id.",
    "command:once",
)(HttpPort, execute=repeated_from_memory)
defect(
    "directory-stays-with-client",
    "Runs calls over HTTP in the directory that their client has named last.",
    "cwd:default",
)(HttpPort, cwd=directory_of_client)
defect(
    "model-crosses-clients",
    "Passes the model of another client to a call over HTTP without one.",
    "command:chat:no-model",
)(HttpPort, model_option=model_of_other_client)
