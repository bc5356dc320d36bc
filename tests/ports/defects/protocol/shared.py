"""What several modules of this room use: posts and their bodies, clients that read slowly, results of one era."""

import select
from collections.abc import Callable
from typing import Any

from posting import Post
from running import Call
from speaking import Message, as_object
from steps import Change, Step, before, for_tool, gives

INHERITED = ("__proto__", "constructor", "hasOwnProperty", "toString", "valueOf")
FULL = 1 << 16
PIPE = 1 << 16


def notes_gone(port: Any, call: Call) -> None:
    port.memory.setdefault("gone", set[Call]()).add(call)


def is_gone(port: Any, call: Call) -> bool:
    return call in port.memory.get("gone", ())


def notes_body(port: Any, post: Any, body: bytes) -> None:
    port.current.body = body


def turns_away(status: int, test: Callable[[Any, Any, bytes], object]) -> Step:
    """Answers with this status where `test` holds of the port, the post and its body."""

    def step(port: Any, real: Any, post: Any, body: bytes) -> None:
        if test(port, post, body):
            post.reply(status)
        else:
            real(post, body)

    return step


def receiving(handler: type[Post]) -> Any:
    def receive_with(port: Any) -> None:
        port.server.RequestHandlerClass = handler

    return before(receive_with)


def written(port: Any, message: Message) -> memoryview:
    return memoryview(port.encoded(message))


def waits_for_reader(seconds: float) -> bool:
    """Whether stdout takes something within this time."""
    return bool(select.select([], [1], [], seconds)[1])


def stateless(change: Change) -> Step:
    """Changes the results of this era."""
    return lambda port, real, first, stateless: change(real(first, stateless)) if stateless else real(first, stateless)


def chat(change: Change) -> Step:
    """Changes the properties of `chat`."""
    return for_tool("chat", gives(change))


def reply(change: Change) -> Step:
    """Changes the properties of `chat-reply`."""
    return for_tool("chat-reply", gives(change))


def is_request(message: Any) -> bool:
    return as_object(message) is not None and "method" in message
