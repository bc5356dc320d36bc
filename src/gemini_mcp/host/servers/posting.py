"""What both transports over HTTP share: messages of a session are posted, and what comes is handed on. Effect.

What a transport makes of a response, and where else messages come from, is its own.
"""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio
import anyio.abc
import httpx2
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import ErrorData, JSONRPCError, JSONRPCMessage, RequestId

from gemini_mcp.host.servers import failure
from gemini_mcp.host.servers.channel import Incoming, Outgoing
from gemini_mcp.host.servers.failure import Failure
from gemini_mcp.host.servers.traffic import Traffic
from gemini_mcp.spec.values import JsonObject

JSON_TYPE, STREAM_TYPE = "application/json", "text/event-stream"

LONGEST_EVENT = 64 * 1024 * 1024
"""A stream whose event does not end is left at this length, before it fills the memory."""


class Unanswered(Exception):
    """A request that gets no answer: the reason as Gemini CLI words it, and why."""

    def __init__(self, reason: str, why: Failure) -> None:
        super().__init__(reason)
        self.why = why

    def instead(self, identity: RequestId) -> JSONRPCError:
        """What the session is told in place of the answer; its data is the Failure."""
        told = ErrorData(code=0, message=str(self), data=self.why)
        return JSONRPCError(jsonrpc="2.0", id=identity, error=told)


async def outgoing(messages: Outgoing, known: Traffic, headers: dict[str, str]) -> AsyncGenerator[JsonObject]:
    """Each message of the session, noted as sent; what it adds to the headers is among them."""
    async for message in messages:
        if isinstance(message.metadata, ClientMessageMetadata):
            headers.update(message.metadata.headers or {})
        sent = message.message.model_dump(by_alias=True, exclude_unset=True, mode="python")
        known.sent(sent)
        yield sent


@dataclass
class Remote:
    """A server at an address while it is talked to: what waits for an answer, and where its messages go."""

    url: str
    http: httpx2.AsyncClient
    hang_up: Callable[[Failure], None]
    out: Incoming
    tasks: anyio.abc.TaskGroup
    known: Traffic = field(default_factory=Traffic)
    headers: dict[str, str] = field(default_factory=dict[str, str])

    async def take(self, text: str) -> None:
        """Hand on the message of an event. Gemini CLI hangs up on what is none, and on what nobody waits for."""
        message = self.known.received(text, self.stray)
        if not isinstance(message, Exception):
            await self.send(message)

    def stray(self, text: str) -> None:
        """Tell of what nobody waits for."""
        self.hang_up(failure.stray_response(text))

    async def send(self, message: JSONRPCMessage) -> None:
        """Hand on a message."""
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self.out.send(SessionMessage(message))


@asynccontextmanager
async def posted(
    http: httpx2.AsyncClient, url: str, headers: Mapping[str, str], message: JsonObject
) -> AsyncGenerator[httpx2.Response]:
    """The response to a message; raises Unanswered where the connection fails."""
    # In ASCII, because UTF-8 has no bytes for a lone surrogate, which arguments may hold.
    body = json.dumps(message)
    try:
        async with http.stream("POST", url, headers={**headers, "content-type": JSON_TYPE}, content=body) as response:
            yield response
    except httpx2.HTTPError as error:
        raise Unanswered("fetch failed", failure.broken(told(error))) from error


async def refused(response: httpx2.Response) -> Unanswered:
    """What a status of HTTP says that is no success."""
    await response.aread()
    reason = f"Error POSTing to endpoint (HTTP {response.status_code}): {response.text}"
    return Unanswered(reason, failure.http_status(response.status_code, response.text))


def told(error: httpx2.HTTPError) -> str:
    """The error in words."""
    return str(error) or type(error).__name__
