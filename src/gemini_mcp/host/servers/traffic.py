"""What counts as a message among what a server sends, as the SDK inside Gemini CLI reads it. Pure.

What a message means is not asked here, only whether it is one, and one that was waited for.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mcp_types import JSONRPCMessage, jsonrpc_message_adapter

from gemini_mcp.spec.values import Json, JsonObject, number_of, object_of, table

SHOWN = 200
"""Characters that are shown of what nobody can use."""

_PROGRESS = "notifications/progress"
_MEMBERS = (
    {"jsonrpc", "id", "method", "params"},
    {"jsonrpc", "id", "result"},
    {"jsonrpc", "id", "error"},
)
"""The members of a request or notification, of an answer and of an error; there are no others."""


@dataclass
class Traffic:
    """The requests that wait for an answer."""

    waiting: set[float] = field(default_factory=set[float])

    def received(self, text: str, on_stray: Callable[[str], None]) -> JSONRPCMessage | ValueError | RecursionError:
        """The message of a text, or why it is none; `on_stray` is told of what nobody can use."""
        try:
            message = read(text)
            whole = parsed(message)
        except (ValueError, RecursionError) as error:
            on_stray(text[:SHOWN])
            return error
        if self.is_stray(message):
            on_stray(text[:SHOWN])
        return whole

    def sent(self, message: JsonObject) -> None:
        """Note what was sent."""
        if "method" in message and isinstance(message.get("id"), int):
            self.waiting.add(message["id"])

    def is_stray(self, message: JsonObject) -> bool:
        """Whether nobody can use the message that came; an answer is waited for once."""
        if "method" in message:
            return message["method"] == _PROGRESS and not _tells_progress(table(message.get("params")))
        answered = _number(message.get("id"))
        is_unknown = answered not in self.waiting
        self.waiting.discard(answered)
        return is_unknown

    def is_waiting(self, identity: Json) -> bool:
        """Whether a request still waits for its answer."""
        return _number(identity) in self.waiting


def read(text: str) -> JsonObject:
    """The message of a line; raises ValueError when it is none."""
    return message_of(json.loads(text, parse_constant=_refuse))


def message_of(value: Json) -> JsonObject:
    """The message that a value is; raises ValueError when it is none."""
    message = object_of(value)
    if message is None or not any(set(message) <= members for members in _MEMBERS):
        raise ValueError("no message of JSON-RPC")
    identity = message.get("id")
    # JSON does not tell 1 from 1.0.
    if isinstance(identity, float) and identity.is_integer():
        message = {**message, "id": int(identity)}
    if "params" in message and object_of(message["params"]) is None:
        raise ValueError("`params` is no object")
    return message


def parsed(message: JsonObject) -> JSONRPCMessage:
    """The message as the session takes it; raises ValueError."""
    return jsonrpc_message_adapter.validate_python(message, by_name=False)


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is no JSON")


def _tells_progress(params: Mapping[str, Json]) -> bool:
    """Whether it has a token, whichever, and says how far something is."""
    token = params.get("progressToken")
    numbers = [params.get("progress"), params.get("total", 0)]
    return (isinstance(token, str) or number_of(token) is not None) and None not in map(number_of, numbers)


def _number(identity: Json) -> float:
    """`Number(id)`, and what waits for nothing where that is none."""
    try:
        return float(str(identity))
    except ValueError:
        return -1.0
