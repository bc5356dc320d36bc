"""Ids of requests: a message with the client's id in, one whose id the SDK takes for no other out, and back. Pure.

For the SDK the number 7 and the text "7" are one id, so that a call could be cancelled, or answered, for another.
"""

import json

from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from gemini_mcp.spec.values import Json

CANCELLED = "notifications/cancelled"


def sealed(id: Json) -> str:
    """The id as a text of its own, without half characters."""
    return json.dumps(id)


def with_sealed_id(message: JSONRPCMessage) -> JSONRPCMessage:
    """The message as the SDK is given it."""
    match message:
        case JSONRPCRequest():
            return message.model_copy(update={"id": sealed(message.id)})
        case JSONRPCNotification(method=method, params={"requestId": id, **more}) if method == CANCELLED:
            return message.model_copy(update={"params": {**more, "requestId": sealed(id)}})
        case _:
            return message


def with_own_id(message: JSONRPCMessage) -> JSONRPCMessage:
    """The message as the client is given it."""
    match message:
        case JSONRPCResponse(id=str(id)) | JSONRPCError(id=str(id)):
            return message.model_copy(update={"id": json.loads(id)})
        case _:
            return message
