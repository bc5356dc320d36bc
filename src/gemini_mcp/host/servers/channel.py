"""A channel between a server and the session that talks to it: two pairs of streams. Effect.

Every transport has one. How messages get to the server and back belongs to the transports.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
"""Where a transport puts what comes from the server."""

Outgoing = MemoryObjectReceiveStream[SessionMessage]
"""Where a transport finds what goes to the server."""

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
"""What the session reads from and writes to."""


@dataclass(frozen=True)
class Channel:
    """Both ends."""

    incoming: Incoming
    outgoing: Outgoing
    session: Streams


@asynccontextmanager
async def channel() -> AsyncGenerator[Channel]:
    """A channel, closed when the context ends."""
    incoming, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    async with incoming, from_server, to_server, outgoing:
        yield Channel(incoming, outgoing, (from_server, to_server))
