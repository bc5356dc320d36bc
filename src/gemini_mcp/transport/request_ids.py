"""Replaces the ids of requests by ones that the SDK keeps apart, and restores them in responses. Pure.

To the SDK the number 7 and the text "7" are the same id, so one request could be cancelled or answered for another.
"""

import json

from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from gemini_mcp.spec.values import Json

CANCELLED = "notifications/cancelled"


def sdk_id(id: Json) -> str:
    """The id as JSON text: different for 7 and "7", and without lone surrogates."""
    return json.dumps(id)


def with_sdk_id(message: JSONRPCMessage) -> JSONRPCMessage:
    """A message of the client, as the SDK gets it."""
    match message:
        case JSONRPCRequest():
            return message.model_copy(update={"id": sdk_id(message.id)})
        case JSONRPCNotification(method=method, params={"requestId": id, **more}) if method == CANCELLED:
            return message.model_copy(update={"params": {**more, "requestId": sdk_id(id)}})
        case _:
            return message


def with_original_id(message: JSONRPCMessage) -> JSONRPCMessage:
    """A message of the SDK, as the client gets it."""
    match message:
        case JSONRPCResponse(id=str(id)) | JSONRPCError(id=str(id)):
            return message.model_copy(update={"id": json.loads(id)})
        case _:
            return message
