"""Reads and writes JSON-RPC messages, as lines or as bodies. Pure.

Only what is done to every message belongs here; what a method means is decided by the server.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from mcp_types import INVALID_REQUEST, PARSE_ERROR, JSONRPCMessage, JSONRPCNotification, jsonrpc_message_adapter
from pydantic import ValidationError

from gemini_mcp.spec.values import Json, is_object

ENCODER = json.JSONEncoder(ensure_ascii=False)

AS_SENT = "gemini_mcp.as_sent"
"""The key of an ASGI scope that holds the parameters of a request as the client sent them; see `post_bodies.py`."""

LONGEST_LINE = 64 << 20
"""Bytes of the longest message: enough for the longest prompt with each of its characters as an escape."""

PIECE = 1 << 16
"""Characters of a text that are encoded at once."""


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


def read(line: bytes) -> JSONRPCMessage | Malformed:
    """The message in a line or a body."""
    if len(line) > LONGEST_LINE:
        return malformed(INVALID_REQUEST, f"The message is longer than {LONGEST_LINE} bytes.", None)
    try:
        # Given bytes, `json.loads` would accept UTF-16 and UTF-32 too.
        value = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return malformed(PARSE_ERROR, "The message is not JSON.", None)
    if not is_object(value):
        return malformed(INVALID_REQUEST, "The message is not a JSON object; batches are not supported.", None)
    try:
        message = jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError:
        return malformed(INVALID_REQUEST, "The message is not a JSON-RPC 2.0 request.", _usable_id(value))
    # The SDK's models ignore unknown keys, so a request whose id has a wrong type passes as a notification.
    if "id" in value and isinstance(message, JSONRPCNotification):
        return malformed(INVALID_REQUEST, "The id of a request is a string or an integer.", None)
    return message


def write(message: JSONRPCMessage) -> bytearray:
    """The line that carries a message."""
    return _line(message.model_dump(by_alias=True, exclude_unset=True))


def malformed(code: int, message: str, id: Json) -> Malformed:
    """The JSON-RPC error that answers what is not a message."""
    return Malformed(_line({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}))


def _line(value: Json) -> bytearray:
    line = bytearray()
    for piece in _pieces(value):
        line += piece
    line += b"\n"
    return line


def _pieces(value: Json) -> Iterator[bytes]:
    """The JSON of a value. A long text comes in pieces: one emoji makes each copy of it take four bytes a character."""
    match value:
        case dict():
            yield b"{"
            for number, (name, item) in enumerate(cast("Mapping[str, Json]", value).items()):
                yield (b"," if number else b"") + _json(name) + b":"
                yield from _pieces(item)
            yield b"}"
        case list():
            yield b"["
            for number, item in enumerate(cast("Sequence[Json]", value)):
                yield b"," if number else b""
                yield from _pieces(item)
            yield b"]"
        case str():
            yield b'"'
            for start in range(0, len(value), PIECE):
                yield _json(value[start : start + PIECE])[1:-1]
            yield b'"'
        case _:
            yield _json(value)


def _json(value: Json) -> bytes:
    """The JSON of a small value. Where it has lone surrogates, which UTF-8 cannot encode, it is written in escapes."""
    try:
        return ENCODER.encode(value).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value).encode("ascii")


def _refuse_constant(name: str) -> None:
    # Python's decoder accepts NaN and Infinity.
    raise ValueError(f"{name} is not JSON")


def _usable_id(value: Mapping[str, Json]) -> Json:
    id = value.get("id")
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None
