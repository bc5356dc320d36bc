"""Lines and bodies of the transports: bytes in, JSON-RPC messages out, and back. Pure.

Only what every message undergoes belongs here; what a method means is the server's affair.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from mcp_types import INVALID_REQUEST, PARSE_ERROR, JSONRPCMessage, JSONRPCNotification, jsonrpc_message_adapter
from pydantic import ValidationError

from gemini_mcp.spec.values import Json

ENCODER = json.JSONEncoder(ensure_ascii=False)

AS_SENT = "gemini_mcp.as_sent"
"""The key under which a transport that cannot hand on all that a client has sent keeps the parameters of a request."""

PIECE = 1 << 16
"""Characters of a text that are turned into bytes at once."""


@dataclass(frozen=True)
class Malformed:
    """The answer to a line or a body that is no message."""

    answer: bytearray


@dataclass
class Lines:
    """Cuts a stream of chunks into lines, without their ends."""

    _pieces: list[bytes] = field(default_factory=list[bytes])

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes; blank ones do not count."""
        *complete, rest = chunk.split(b"\n")
        if complete:
            complete[0] = b"".join((*self._pieces, complete[0]))
            self._pieces.clear()
        self._pieces.append(rest)
        return [line for line in complete if line.strip()]

    def end(self) -> list[bytes]:
        """The line that the end of the stream completes."""
        return self.feed(b"\n")


def read(line: bytes) -> JSONRPCMessage | Malformed:
    """The message that a line or a body holds."""
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return malformed(PARSE_ERROR, "The message is no JSON.", None)
    if not _is_object(value):
        return malformed(INVALID_REQUEST, "The message is no JSON object; batches are not supported.", None)
    try:
        message = jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError:
        return malformed(INVALID_REQUEST, "The message is no JSON-RPC 2.0 request.", _usable_id(value))
    if "id" in value and isinstance(message, JSONRPCNotification):
        return malformed(INVALID_REQUEST, "The id of a request is a string or an integer.", None)
    return message


def write(message: JSONRPCMessage) -> bytearray:
    """The line that carries a message."""
    return _line(message.model_dump(by_alias=True, exclude_unset=True))


def malformed(code: int, message: str, id: Json) -> Malformed:
    """The answer to what is no message."""
    return Malformed(_line({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}))


def _line(value: Json) -> bytearray:
    line = bytearray()
    for piece in _pieces(value):
        line += piece
    line += b"\n"
    return line


def _pieces(value: Json) -> Iterator[bytes]:
    """The JSON of a value; a long text piece by piece, since one emoji makes every copy of it four times as large."""
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
    """The JSON of a small value; half a character goes as an escape, since UTF-8 cannot carry it."""
    try:
        return ENCODER.encode(value).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value).encode("ascii")


def _is_object(value: Json) -> bool:
    return isinstance(value, dict)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _usable_id(value: Mapping[str, Json]) -> Json:
    id = value.get("id")
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None
