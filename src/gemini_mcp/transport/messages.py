"""Reads and writes JSON-RPC messages, as lines or as bodies. Pure.

Only what is done to every message belongs here; what a method means is decided by the server.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import TypeAlias, TypeGuard, cast

from gemini_mcp.call.encoded import written
from gemini_mcp.errors import Code
from gemini_mcp.spec.values import Json, is_object

Id: TypeAlias = str | int
Params: TypeAlias = Mapping[str, Json] | None

LONGEST_LINE = 64 << 20
"""Bytes of the longest message: enough for the longest prompt with each of its characters as an escape."""


@dataclass(frozen=True)
class Request:
    """A message that is to be answered."""

    id: Id
    method: str
    params: Params


@dataclass(frozen=True)
class Notification:
    """A message that is not to be answered."""

    method: str
    params: Params


@dataclass(frozen=True)
class Response:
    """An answer of the client. The server asks nothing, so nobody waits for it."""

    value: Mapping[str, Json]


Message: TypeAlias = Request | Notification | Response


@dataclass(frozen=True)
class Malformed:
    """The answer to a line or a body that is not a message."""

    answer: bytearray


@dataclass
class Lines:
    """Splits a stream of chunks into lines, without their line ends. One that is too long is cut, but stays so."""

    _pieces: list[bytes] = field(default_factory=list[bytes])
    _size: int = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes, without blank ones."""
        *complete, rest = chunk.split(b"\n")
        if complete:
            complete[0] = b"".join((*self._pieces, complete[0]))
            self._pieces.clear()
            self._size = 0
        if self._size <= LONGEST_LINE:
            self._pieces.append(rest)
            self._size += len(rest)
        return [line for line in complete if line.strip()]

    def end(self) -> list[bytes]:
        """The line that the end of the stream completes."""
        return self.feed(b"\n")


def read(line: bytes) -> Message | Malformed:
    """The message in a line or a body."""
    if len(line) > LONGEST_LINE:
        return malformed(Code.INVALID_REQUEST, f"The message is longer than {LONGEST_LINE} bytes.", None)
    try:
        # Given bytes, `json.loads` would accept UTF-16 and UTF-32 too. Clients on .NET begin their stream with a mark.
        value = json.loads(line.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return malformed(Code.PARSE_ERROR, "The message is not JSON.", None)
    if not is_object(value):
        return malformed(Code.INVALID_REQUEST, "The message is not a JSON object; batches are not supported.", None)
    return _message(value)


def write(message: Message) -> bytearray:
    """The line that carries a message."""
    match message:
        case Request(id, method, params):
            return _line({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}})
        case Notification(method, params):
            return _line({"jsonrpc": "2.0", "method": method, "params": params or {}})
        case Response(value):
            return _line(value)


def result(id: Id, value: Mapping[str, Json]) -> bytearray:
    """The line that answers a request."""
    return write(Response({"jsonrpc": "2.0", "id": id, "result": value}))


def error(id: Json, code: Code, sentence: str, data: Json = None) -> bytearray:
    """The line that refuses a request, or what is not a message."""
    details = {"code": code, "message": sentence} | ({} if data is None else {"data": data})
    return write(Response({"jsonrpc": "2.0", "id": id, "error": details}))


def malformed(code: Code, sentence: str, id: Json) -> Malformed:
    """What is not a message, with its answer."""
    return Malformed(error(id, code, sentence))


def is_id(value: Json) -> TypeGuard[Id]:
    """Whether the value can be the id of a request."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def _message(value: Mapping[str, Json]) -> Message | Malformed:
    id = value.get("id")
    match value:
        case {"jsonrpc": "2.0", "method": str(method)} if isinstance(params := value.get("params"), dict | NoneType):
            if is_id(id):
                return Request(id, method, cast("Params", params))
            if "id" not in value:
                return Notification(method, cast("Params", params))
            return malformed(Code.INVALID_REQUEST, "The id of a request is a string or an integer.", None)
        case {"jsonrpc": "2.0", "result": dict()} if is_id(id):
            return Response(value)
        case {"jsonrpc": "2.0", "id": None | str() | int(), "error": {"code": int(), "message": str()}}:
            return Response(value)
        case _:
            usable = id if is_id(id) else None
            return malformed(Code.INVALID_REQUEST, "The message is not a JSON-RPC 2.0 request.", usable)


def _line(value: Json) -> bytearray:
    line = written(value)
    line += b"\n"
    return line


def _refuse_constant(name: str) -> None:
    # Python's decoder accepts NaN and Infinity.
    raise ValueError(f"{name} is not JSON")
