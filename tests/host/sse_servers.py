"""MCP servers over the older transport of HTTP, each odd in one thing: the path says in which."""

import json
import queue
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, ClassVar

from http_servers import LOG, PING, PROGRESS, STREAM, Message, Odd, Server, event

ENDS = ""
"""In place of an event: the stream ends."""


class Older(Odd):
    """One server for each path. Its stream brings what the posts put into a queue."""

    queues: ClassVar[dict[str, "queue.Queue[str]"]]

    def do_GET(self) -> None:
        status, kind = REFUSING.get(self.name, (200, STREAM))
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        said = self.queues[self.name] = queue.Queue()
        for first in FIRST.get(self.name, endpoint)(self):
            said.put(first)
        with suppress(ConnectionError):
            while status == 200 and STREAM in kind.lower() and (each := said.get()) != ENDS:
                self.say_event(each)

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        is_asked = {"id", "method"} <= asked.keys()
        refusal = REFUSED.get(self.name, {}).get(asked.get("method"))
        for each in ANSWERS.get(self.name, once)(self, asked) if is_asked and refusal is None else ():
            self.queues[self.name].put(each)
        self.end(*POSTED.get(self.name, (202,) if refusal is None else (refusal, b"no")))

    @property
    def name(self) -> str:
        return self.path.strip("/").partition("/")[0]

    def say_event(self, text: str) -> None:
        self.wfile.write(f"{text}\n\n".encode())
        self.wfile.flush()


Events = Callable[[Older], tuple[str, ...]]
Answering = Callable[[Older, Any], tuple[str, ...]]


def endpoint(odd: Older) -> tuple[str, ...]:
    return (f"event: endpoint\ndata: /{odd.name}/post",)


def whole(odd: Older) -> tuple[str, ...]:
    return (f"event: endpoint\ndata: http://{odd.headers['host']}/{odd.name}/post",)


def elsewhere(odd: Older) -> tuple[str, ...]:
    return (f"event: endpoint\ndata: http://localhost:1/{odd.name}",)


def together(*events: str) -> tuple[str, ...]:
    """The events in one piece, where what a host makes of the second depends on when it comes."""
    return ("\n\n".join(events),)


def twice(odd: Older) -> tuple[str, ...]:
    return together("event: endpoint\ndata: /nowhere", *endpoint(odd))


def late(odd: Older) -> tuple[str, ...]:
    return (": hello", "event: hello\ndata: x", *endpoint(odd))


def once(odd: Older, asked: Message) -> tuple[str, ...]:
    return (event(odd.answer(asked)),)


def lists(*before: str, after: tuple[str, ...] = ()) -> Answering:
    """Other events around the list of tools."""
    return lambda odd, asked: (
        (*before, *once(odd, asked), *after) if asked["method"] == "tools/list" else once(odd, asked)
    )


def again(answered: str) -> Answering:
    """Answers this method twice."""
    return lambda odd, asked: together(*once(odd, asked) * (2 if asked["method"] == answered else 1))


REFUSING: Mapping[str, tuple[int, str]] = {
    "not-found": (404, "text/plain"),
    "empty": (204, STREAM),
    "a-page": (200, "text/html"),
    "kind-in-capitals": (200, "Text/Event-Stream"),
    "kind-with-charset": (200, f"{STREAM}; charset=utf-8"),
}
FIRST: Mapping[str, Events] = {
    "whole-address": whole,
    "elsewhere": elsewhere,
    "endpoint-twice": twice,
    "endpoint-behind-others": late,
    "ends-at-once": lambda odd: (ENDS,),
}
REFUSED: Mapping[str, Mapping[str, int]] = {
    "refuses-its-list": {"tools/list": 404},
    "refuses-the-notification": {"notifications/initialized": 400},
}
POSTED: Mapping[str, tuple[Any, ...]] = {
    "answers-200": (200, b"Accepted", "text/plain"),
    "answers-204": (204,),
    "answers-with-json": (200, b'{"jsonrpc": "2.0", "id": 7, "result": {}}'),
}
ANSWERS: Mapping[str, Answering] = {
    "named-events": lambda odd, asked: (f"event: message\n{once(odd, asked)[0]}",),
    "unknown-events": lists("event: ping\ndata: {"),
    "with-ids": lambda odd, asked: (f"id: 1\n{once(odd, asked)[0]}",),
    "garbage": lists("data: {"),
    "greeting-twice": again("initialize"),
    "answer-twice": again("tools/list"),
    "request": lists(event(PING)),
    "message": lists(event(LOG)),
    "progress": lists(event({**PROGRESS, "params": {"progressToken": "x", "progress": 1}})),
    "progress-without-a-number": lists(event(PROGRESS)),
    "list-of-one": lambda odd, asked: (event([odd.answer(asked)]),),
    "ends-behind-its-list": lists(after=(ENDS,)),
}

DROPPED = frozenset(
    {
        "a-page",
        "answer-twice",
        "elsewhere",
        "empty",
        "ends-at-once",
        "garbage",
        "kind-in-capitals",
        "list-of-one",
        "not-found",
        "progress-without-a-number",
        "refuses-its-list",
        "refuses-the-notification",
    }
)
"""Those of which Gemini CLI 0.61.0 registers nothing."""

UNANSWERING = "list-of-one"
"""The one that is waited for until the time is over."""

NAMES = sorted({*REFUSING, *FIRST, *REFUSED, *POSTED, *ANSWERS})


@contextmanager
def serving() -> Generator[str]:
    """The address before the paths."""

    class Fresh(Older):
        queues: ClassVar[dict[str, "queue.Queue[str]"]] = {}

    with Server(("127.0.0.1", 0), Fresh) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            for each in Fresh.queues.values():
                each.put(ENDS)
            server.shutdown()
