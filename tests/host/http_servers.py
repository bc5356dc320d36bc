"""MCP servers over HTTP, each odd in one thing: the path says in which. Gemini CLI keeps some and drops the others."""

import json
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

Message = Mapping[str, Any]

JSON, STREAM = "application/json", "text/event-stream"
NO_METHOD = {"code": -32601, "message": "Method not found"}
WAITS_SECONDS = 20.0


class Odd(BaseHTTPRequestHandler):
    """One server for each path. It offers a tool named like its path."""

    protocol_version = "HTTP/1.1"
    owed: ClassVar[dict[str, Message]]
    """The answers that a stream of the server's own shall bring."""
    is_owing: ClassVar[threading.Condition]

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not {"id", "method"} <= asked.keys():
            return self.end(202)
        return POSTS.get(self.name, plain)(self, asked)

    def do_GET(self) -> None:
        GETS.get(self.name, lambda odd: odd.end(405))(self)

    do_DELETE = do_GET

    @property
    def name(self) -> str:
        return self.path.strip("/")

    def answer(self, asked: Message) -> Message:
        capabilities: Message = {"tools": {}, **({"prompts": {}} if self.name.startswith("prompts") else {})}
        greeting: Message = {
            "protocolVersion": "2025-06-18",
            "capabilities": capabilities,
            "serverInfo": {"name": "s", "version": "1"},
        }
        tool = {"name": self.name, "inputSchema": {"type": "object"}}
        results: Message = {"initialize": greeting, "tools/list": {"tools": [tool]}, "prompts/list": {"prompts": []}}
        return {"jsonrpc": "2.0", "id": asked["id"], "result": results[asked["method"]]}

    def owe(self, message: Message) -> None:
        with self.is_owing:
            self.owed[self.name] = message
            self.is_owing.notify_all()

    def awaited(self) -> Message:
        with self.is_owing:
            assert self.is_owing.wait_for(lambda: self.name in self.owed, WAITS_SECONDS)
            return self.owed[self.name]

    def end(self, status: int, body: bytes = b"", kind: str = JSON) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        with suppress(ConnectionError):
            self.end_headers()
            self.wfile.write(body)

    def say(self, value: Any, kind: str = JSON, status: int = 200) -> None:
        self.end(status, json.dumps(value).encode(), kind)

    def stream(self, *events: str) -> None:
        self.end(200, "".join(f"{event}\n\n" for event in events).encode(), STREAM)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


Post = Callable[[Odd, Message], None]


def plain(odd: Odd, asked: Message) -> None:
    odd.say(odd.answer(asked))


def lists(post: Post) -> Post:
    """A server that is odd in its list of tools, or of prompts if it has some."""

    def listed(odd: Odd, asked: Message) -> None:
        method = "prompts/list" if odd.name.startswith("prompts") else "tools/list"
        (post if asked["method"] == method else plain)(odd, asked)

    return listed


def event(value: Any, *fields: str) -> str:
    return "\n".join((*fields, f"data: {json.dumps(value)}"))


def refuses(status: int) -> Post:
    return lambda odd, asked: odd.say({"jsonrpc": "2.0", "id": asked["id"], "error": NO_METHOD}, status=status)


def streams(*before: str, again: bool = False) -> Post:
    """The answer in a stream, behind other events, and perhaps twice."""

    def post(odd: Odd, asked: Message) -> None:
        odd.stream(*before, *(event(odd.answer(asked)) for _ in range(1 + again)))

    return post


def later(odd: Odd, asked: Message) -> None:
    odd.owe(odd.answer(asked))
    odd.end(202)


def resumed(*events: str) -> Post:
    """A stream that ends after these events; the answer comes when the client goes on behind the event 1."""

    def post(odd: Odd, asked: Message) -> None:
        odd.owe(odd.answer(asked))
        odd.stream(*events)

    return post


def brings(odd: Odd) -> None:
    """A stream of the server's own, with the answer that it owes."""
    odd.stream(event(odd.awaited()))


def resumes(odd: Odd) -> None:
    brings(odd) if odd.headers["last-event-id"] == "1" else odd.end(405)


def late(odd: Odd) -> None:
    time.sleep(WAITS_SECONDS / 10)
    odd.end(500)


PING = {"jsonrpc": "2.0", "id": 99, "method": "ping"}
PROGRESS = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "x"}}
LOG = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}

POSTS: Mapping[str, Post] = {
    "kind-in-capitals": lambda odd, asked: odd.say(odd.answer(asked), "Application/JSON"),
    "kind-with-charset": lambda odd, asked: odd.say(odd.answer(asked), "application/json; charset=utf-8"),
    "list-of-one": lambda odd, asked: odd.say([odd.answer(asked)]),
    "list-with-a-message": lambda odd, asked: odd.say([LOG, odd.answer(asked)]),
    "list-with-nothing-known": lists(lambda odd, asked: odd.say([odd.answer(asked), {"jsonrpc": "2.0"}])),
    "greeting-twice": lambda odd, asked: streams(again=asked["method"] == "initialize")(odd, asked),
    "answer-twice": lists(streams(again=True)),
    "stream": streams(),
    "stream-with-garbage": lists(streams("data: {")),
    "stream-with-a-comment": streams(": hello"),
    "stream-with-another-event": streams("event: ping\ndata: {"),
    "stream-with-a-request": streams(event(PING)),
    "stream-with-a-message": streams(event(LOG)),
    "stream-with-progress": lists(streams(event({**PROGRESS, "params": {"progressToken": "x", "progress": 1}}))),
    "stream-with-progress-without-a-number": lists(streams(event(PROGRESS))),
    "accepted-and-brought": lists(later),
    "resumed": lists(resumed(event(LOG, "id: 1", "retry: 10"))),
    "resumed-behind-nothing": lists(resumed("id: 1\nretry: 10\ndata:")),
    "without-its-list": lists(refuses(404)),
    "list-refused-with-400": lists(refuses(400)),
    "prompts-refused-with-200": lists(refuses(200)),
    "prompts-refused-with-400": lists(refuses(400)),
    "prompts-not-found": lists(lambda odd, asked: odd.end(404)),
}

GETS: Mapping[str, Callable[[Odd], None]] = {
    "own-stream-refused-with-500": lambda odd: odd.end(500),
    "own-stream-refused-with-404": lambda odd: odd.end(404),
    "own-stream-refused-late": late,
    "own-stream-that-ends": lambda odd: odd.stream(),
    "own-stream-of-text": lambda odd: odd.end(200, b"<html>", "text/html"),
    "accepted-and-brought": brings,
    "resumed": resumes,
    "resumed-behind-nothing": resumes,
}

DROPPED = frozenset(
    {
        "answer-twice",
        "kind-in-capitals",
        "list-refused-with-400",
        "list-with-nothing-known",
        "own-stream-refused-with-404",
        "own-stream-refused-with-500",
        "prompts-not-found",
        "prompts-refused-with-400",
        "resumed-behind-nothing",
        "stream-with-garbage",
        "stream-with-progress-without-a-number",
        "without-its-list",
    }
)
"""Those of which Gemini CLI 0.61.0 registers nothing."""

RACING = frozenset({"own-stream-refused-with-404", "own-stream-refused-with-500"})
"""Those that Gemini CLI drops where the refusal comes before the list of tools."""

NAMES = sorted({*POSTS, *GETS})


class Server(ThreadingHTTPServer):
    request_queue_size = 128


@contextmanager
def serving() -> Generator[str]:
    """The address before the paths."""

    class Fresh(Odd):
        owed: ClassVar[dict[str, Message]] = {}
        is_owing = threading.Condition()

    with Server(("127.0.0.1", 0), Fresh) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
