"""A Gemini API on loopback: what it shall answer in, what it was asked out. Effect: a thread that serves HTTP.

It knows what a conversation needs and no more; a new way to answer is a new field of `Api`.
"""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from gemini_mcp.spec.values import Json

ANSWER = "Paris. \N{PARROT}\n"

CONTEXT = ("<session_context>", "This is the Gemini CLI. We are setting up the context")
"""What the CLI says to the model before the user says anything, in its versions."""


class Api:
    """The requests for text so far, and how the next is answered."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.status = 200
        self.refusal = ("The quota is used up.", "NO")
        self.finish = "STOP"
        self.answer = ANSWER
        self.tool: Json = None
        self.says = ""
        self.requests: list[Json] = []
        self.paths: list[str] = []
        self.asked = threading.Event()
        self.may_answer = threading.Event()
        self.may_answer.set()

    def reset(self) -> None:
        """Forget what was asked, and answer again."""
        self.status = 200
        self.finish = "STOP"
        self.answer = ANSWER
        self.tool = None
        self.requests.clear()
        self.paths.clear()
        self.asked.clear()
        self.may_answer.set()

    def refuses(self, status: int, message: str, word: str) -> None:
        """Answer requests with an error."""
        self.status, self.refusal = status, (message, word)

    def uses(self, tool: str, arguments: Json, says: str = "") -> None:
        """Answer the next request with the call of a tool, and with a text before it."""
        self.tool = {"name": tool, "args": arguments}
        self.says = says

    @property
    def texts(self) -> list[str]:
        """What the user said in the last conversation."""
        return texts_in(self.requests[-1])

    @property
    def asked_last(self) -> list[str]:
        """The last thing that the user said in each request."""
        return [texts_in(request)[-1] for request in self.requests]

    @property
    def instruction(self) -> str:
        """The system instruction of the last request."""
        return "".join(part["text"] for part in self.requests[-1]["systemInstruction"]["parts"])

    @property
    def models(self) -> list[str]:
        """The model that was asked in each request."""
        return [path.partition("/models/")[2].partition(":")[0] for path in self.paths]

    @property
    def results(self) -> list[Json]:
        """What tools returned, as the last request tells it to the model."""
        parts = [part for content in self.requests[-1]["contents"] for part in content["parts"]]
        return [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]

    def take(self, path: str, body: Json) -> tuple[int, Json]:
        """What one request is answered."""
        if "countTokens" in path:
            return 200, {"totalTokens": 5}
        if body.get("generationConfig", {}).get("responseJsonSchema"):
            return 200, _says('{"complexity_reasoning": "none", "complexity_score": 10}')
        self.paths.append(path)
        self.requests.append(body)
        self.asked.set()
        self.may_answer.wait()
        if self.status != 200:
            message, word = self.refusal
            return self.status, {"error": {"code": self.status, "message": message, "status": word}}
        tool, self.tool = self.tool, None
        if tool is None:
            return 200, _says(self.answer, self.finish)
        return 200, _answers(*([{"text": self.says}] if self.says else []), {"functionCall": tool})


@contextmanager
def serving() -> Generator[Api]:
    """An API for as long as the body runs."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        api = Api(f"http://127.0.0.1:{server.server_port}")
        _Handler.api = api
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield api
        finally:
            api.may_answer.set()
            server.shutdown()


class _Handler(BaseHTTPRequestHandler):
    api: Api
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status, answer = self.api.take(self.path, body)
        data, kind = json.dumps(answer).encode("ascii"), "application/json"
        if status == 200 and "streamGenerateContent" in self.path:
            data, kind = b"data: " + data + b"\r\n\r\n", "text/event-stream"
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data)
        except ConnectionError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Be silent."""


def texts_in(request: Json) -> list[str]:
    """What the user said in a conversation, without the context that the CLI adds."""
    contents = [content for content in request["contents"] if content["role"] == "user"]
    texts = [part["text"] for content in contents for part in content["parts"] if "text" in part]
    return [text for text in texts if not text.startswith(CONTEXT)]


def _says(text: str, finish: str = "STOP") -> Json:
    return _answers({"text": text}, finish=finish)


def _answers(*parts: Json, finish: str = "STOP") -> Json:
    content = {"role": "model", "parts": list(parts)}
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 5, "totalTokenCount": 10}
    return {"candidates": [{"content": content, "finishReason": finish, "index": 0}], "usageMetadata": usage}
