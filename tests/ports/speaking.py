"""Messages: reads and writes JSON-RPC in lines. It knows what a message is; port.py knows what a method does.

Every step is a method of its own, so that a defective port can replace just that one.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

JSON = Any
Message = dict[str, JSON]

PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602


def as_object(value: JSON) -> Message | None:
    return value if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType]


class RpcError(Exception):
    """A request that is answered with an error."""

    def __init__(self, code: int, message: str, data: JSON = None) -> None:
        super().__init__(message)
        self.error: Message = {"code": code, "message": message, **({} if data is None else {"data": data})}


class Speaks:
    """Both ends of the line."""

    def __init__(self) -> None:
        super().__init__()
        self.output = threading.Lock()

    def lines(self) -> Iterable[bytes]:
        return sys.stdin.buffer

    def requested(self, request: Message) -> None:
        raise NotImplementedError

    def notified(self, method: str, params: JSON) -> None:
        raise NotImplementedError

    def receive(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = self.parse(line)
        except (ValueError, RecursionError):
            self.send_error(None, PARSE_ERROR, "The line is no JSON.")
            return
        self.dispatch(message)

    def parse(self, line: bytes) -> JSON:
        # `json` would take NaN and Infinity, which are no JSON.
        return json.loads(line.decode("utf-8", "surrogatepass"), parse_constant=self.refuse_constant)

    def refuse_constant(self, name: str) -> JSON:
        raise ValueError(f"{name} is no JSON.")

    def dispatch(self, message: JSON) -> None:
        if not self.is_valid(message):
            identity = (as_object(message) or {}).get("id")
            self.send_error(identity if self.is_id(identity) else None, INVALID_REQUEST, "This is no valid request.")
        elif "method" not in message:
            return
        elif "id" in message:
            self.requested(message)
        else:
            self.notified(message["method"], message.get("params"))

    def is_valid(self, value: JSON) -> bool:
        message = as_object(value)
        if message is None or message.get("jsonrpc") != "2.0":
            return False
        if "method" not in message:
            return "id" in message and ("result" in message or "error" in message)
        return isinstance(message["method"], str) and ("id" not in message or self.is_id(message["id"]))

    def is_id(self, value: JSON) -> bool:
        # In Python a boolean is an int.
        return isinstance(value, str | int | float) and not isinstance(value, bool)

    def params(self, request: Message) -> Mapping[str, JSON]:
        params = as_object(request.get("params", {}))
        if params is None:
            raise RpcError(INVALID_PARAMS, "`params` should be an object.")
        return params

    def send_result(self, identity: JSON, result: Message) -> None:
        self.send({"jsonrpc": "2.0", "id": identity, "result": result})

    def send_error(self, identity: JSON, code: int, message: str) -> None:
        self.send({"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}})

    def send(self, message: Message) -> None:
        with self.output:
            self.write(message)

    def write(self, message: Message) -> None:
        rest = self.encoded(message)
        with suppress(BrokenPipeError):
            # An unbuffered stdout, as PYTHONUNBUFFERED makes it, may take a part of it.
            while rest:
                rest = rest[sys.stdout.buffer.write(rest) :]
            sys.stdout.buffer.flush()

    def encoded(self, message: Message) -> bytes:
        """ASCII: in its escapes JSON can write even a lone surrogate that a client sent as an id."""
        return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"
