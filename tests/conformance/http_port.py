"""A port over HTTP for the tests: it lets every origin in, answers notifications, and calls nothing."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

RESULTS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "gemini-mcp-server", "version": "1.0.0"},
    },
    "ping": {},
    "tools/list": {"tools": []},
}


class Handler(BaseHTTPRequestHandler):
    """Answers each post with JSON."""

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        unknown = {"error": {"code": -32601, "message": "Method not found"}}
        found = RESULTS.get(message["method"])
        answer = unknown if found is None else {"result": found}
        self.reply(200, {"jsonrpc": "2.0", "id": message.get("id"), **answer})

    def do_GET(self) -> None:
        self.reply(405, None)

    def reply(self, status: int, message: Any) -> None:
        body = json.dumps(message).encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}/mcp", flush=True)
    server.serve_forever()
