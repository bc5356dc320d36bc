"""A scripted MCP server: answers as its script says, and journals every message. Effect; standard library only.

usage: scripted.py SCRIPT JOURNAL         over standard input and output
       `serve(script, journal)`           over HTTP on loopback, streamable at /mcp and SSE at /sse

It runs as a program of its own, so it imports nothing from the suite.
"""

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Json = Any

PAGES = {"tools": "pages", "prompts": "promptPages", "resources": "resourcePages"}
HANG_SECONDS = 3600


class Server:
    """Answers as one script says."""

    def __init__(self, script: Json, journal: Path) -> None:
        self._script = script
        self._journal = journal
        self._lock = threading.Lock()

    def notices(self, message: Json) -> list[Json]:
        """What it says before it answers a call that changes its lists."""
        if message.get("method") != "tools/call":
            return []
        play: Json = self._script.get("calls", {}).get(message["params"]["name"], {})
        changed: Json = play.get("changes", {})
        self._script = {**self._script, **changed}
        return [{"jsonrpc": "2.0", "method": f"notifications/{kind}/list_changed"} for kind in changed]

    def answer(self, message: Json) -> Json | None:
        """The reply to a message, if it gets one."""
        if "method" not in message:
            return None
        with self._lock, self._journal.open("a", encoding="utf-8") as journal:
            journal.write(json.dumps({"method": message["method"], "params": message.get("params")}) + "\n")
        if "id" not in message:
            return None
        time.sleep(self._script.get("delay", 0) / 1000)
        reply = self._reply(message["method"], message.get("params") or {})
        return {"jsonrpc": "2.0", "id": message["id"], **reply}

    def _reply(self, method: str, params: Json) -> Json:
        if method in self._script.get("hangs", []):
            time.sleep(HANG_SECONDS)
        if method == "initialize":
            return {"result": self._initialized(params)}
        if method == "ping":
            return {"result": {}}
        kind, _, action = method.partition("/")
        if action == "list" and kind in PAGES:
            return self._list(kind, params)
        if method == "tools/call":
            return self._call(params)
        if method == "prompts/get":
            return self._stored("answers", params["name"], params)
        if method == "resources/read":
            return self._stored("reads", params["uri"], params)
        return _error(-32601, "Method not found")

    def _initialized(self, params: Json) -> Json:
        given: Json = self._script.get("capabilities")
        if given is None:
            given = {
                kind: dict[str, Json]()
                for kind, pages in PAGES.items()
                if kind in self._script or pages in self._script
            }
        info = {"name": "scripted", "version": "1"}
        usual = {"protocolVersion": params["protocolVersion"], "capabilities": given, "serverInfo": info}
        return {**usual, **self._script.get("initialize", {})}

    def _list(self, kind: str, params: Json) -> Json:
        if f"{kind}Error" in self._script:
            return _error(*self._script[f"{kind}Error"])
        pages = self._script.get(PAGES[kind])
        if pages is not None:
            index = int(params.get("cursor", 0))
            more = {"nextCursor": str(index + 1)} if index + 1 < len(pages) else {}
            return {"result": {kind: pages[index], **more}}
        if kind not in self._script:
            return _error(-32601, "Method not found")
        return {"result": {kind: self._script[kind]}}

    def _call(self, params: Json) -> Json:
        play = self._script.get("calls", {}).get(params["name"], {"echo": True})
        if "error" in play:
            return _error(*play["error"])
        if "hang" in play:
            time.sleep(HANG_SECONDS)
        if "result" in play:
            return {"result": play["result"]}
        return {"result": {"content": [{"type": "text", "text": _text(play, params)}]}}

    def _stored(self, key: str, name: str, params: Json) -> Json:
        known = self._script.get(key, {})
        if name not in known:
            return _error(-32002, "Resource not found" if key == "reads" else "Prompt not found")
        filled = json.dumps(known[name])
        arguments: Json = params.get("arguments") or {}
        for argument, value in arguments.items():
            filled = filled.replace("{" + argument + "}", json.dumps(value)[1:-1])
        return {"result": json.loads(filled)}


def _text(play: Json, params: Json) -> str:
    if "where" in play:
        return Path.cwd().name
    if "environment" in play:
        return json.dumps({name: os.environ.get(name) for name in play["environment"]})
    return json.dumps(params.get("arguments"), sort_keys=True)


def _error(code: int, message: str) -> Json:
    return {"error": {"code": code, "message": message}}


def run(script: Json, journal: Path) -> None:
    """Serve over standard input and output; calls and hanging messages run in threads."""
    for line in script.get("stderr", []):
        print(line, file=sys.stderr, flush=True)
    sys.stderr.write("x" * script.get("flood", 0))
    sys.stderr.flush()
    if "exit" in script:
        raise SystemExit(script["exit"])
    server = Server(script, journal)
    lock = threading.Lock()

    def reply(message: Json) -> None:
        answer = server.answer(message)
        if answer is not None:
            with lock:
                said = [json.dumps(one) for one in (*server.notices(message), answer)]
                unasked = script.get("unasked", {}).get(message["method"], [])
                sys.stdout.writelines(f"{line}\n" for line in (*unasked, *said))
                sys.stdout.flush()

    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "tools/call" or script.get("hangs"):
            threading.Thread(target=reply, args=(message,), daemon=True).start()
        else:
            reply(message)
    os._exit(0)


class _OverHttp:
    """A server over HTTP: the headers that it wants, and what it sends on its streams until it ends."""

    def __init__(self, server: Server, wanted: Mapping[str, str]) -> None:
        self.server, self.wanted = server, wanted
        self.streams: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.ended = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    """Answers over streamable HTTP, or over SSE where a client asks for it."""

    protocol_version = "HTTP/1.1"

    def __init__(self, played: _OverHttp, *request: Any) -> None:
        self._played = played
        super().__init__(*request)

    def log_message(self, format: str, *args: object) -> None:
        return

    def do_GET(self) -> None:
        if self.path.split("?")[0] != "/sse":
            self._end(405)
        elif self._is_allowed():
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            # The transport SSE begins by telling the client where to post its messages.
            self._event("endpoint", "/message")
            while not self._played.ended.is_set():
                try:
                    self._event("message", self._played.streams.get(timeout=0.1))
                except queue.Empty:
                    continue
                except OSError:
                    return

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._is_allowed():
            return
        answer = self._played.server.answer(message)
        if self.path.split("?")[0] == "/message":
            if answer is not None:
                self._played.streams.put(json.dumps(answer))
            self._end(202)
        elif answer is None:
            self._end(202)
        else:
            self._end(200, json.dumps(answer))

    def do_DELETE(self) -> None:
        self._end(200)

    def _is_allowed(self) -> bool:
        if any(self.headers.get(name) != value for name, value in self._played.wanted.items()):
            self._end(403)
            return False
        return True

    def _event(self, name: str, data: str) -> None:
        self.wfile.write(f"event: {name}\ndata: {data}\n\n".encode())
        self.wfile.flush()

    def _end(self, status: int, body: str = "") -> None:
        data = body.encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serve(script: Json, journal: Path) -> Generator[str]:
    """Serve over HTTP; the value is the address without a path."""
    played = _OverHttp(Server(script, journal), script.get("headers", {}))
    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, played))
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_address[1]}"
    finally:
        played.ended.set()
        http.shutdown()
        http.server_close()
        thread.join(5)


if __name__ == "__main__":
    run(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2]))
