"""A Gemini API on loopback that calls functions: the turns that it shall take in, what it was sent out. Effect.

It serves one program at a time.
"""

import json
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from gemini_mcp.spec.values import Json, JsonObject

Turn = Sequence[JsonObject]
"""The function calls that the model makes at once, each `{"name", "args"}`."""


class Model:
    """The turns that are left, and the requests for text so far."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.requests: list[Json] = []

    def answer(self, path: str, body: Json) -> Json:
        """What one request is answered."""
        if "countTokens" in path:
            return {"totalTokens": 5}
        if body.get("generationConfig", {}).get("responseJsonSchema"):
            return _content({"text": '{"complexity_reasoning": "none", "complexity_score": 10}'})
        self.requests.append(body)
        turn = self.turns.pop(0) if self.turns else ()
        return _content(*({"functionCall": call} for call in turn)) if turn else _content({"text": "Done."})


@contextmanager
def serving(model: Model) -> Generator[str]:
    """The model at an address, for as long as the body runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer = json.dumps(model.answer(self.path, body))
            is_stream = "streamGenerateContent" in self.path
            data = (f"data: {answer}\r\n\r\n" if is_stream else answer).encode()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream" if is_stream else "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with listening(Handler) as address:
        yield address


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Generator[str]:
    """The address of a loopback server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def _content(*parts: JsonObject) -> Json:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 5, "totalTokenCount": 10}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
