"""Accepts as many connections as are allowed, and closes those whose clients keep the server waiting. Effect.

What a request means is decided elsewhere; here a connection is only bytes that come and go in time or not.
"""

import asyncio
import errno
import os
import socket
from typing import Any
from weakref import WeakSet

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from gemini_mcp.errors import OperatorError

BACKLOG = 128
"""Connections that the system keeps for us while we accept none."""


class Listener(socket.socket):
    """A listening socket that accepts nothing while `most` of its connections are open; the others wait."""

    def __init__(self, listening: socket.socket, most: int) -> None:
        super().__init__(listening.family, listening.type, listening.proto, listening.detach())
        self._most = most
        self._accepted: WeakSet[socket.socket] = WeakSet()

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection. When there are too many, the error of a full table of files makes asyncio try later."""
        if sum(connection.fileno() >= 0 for connection in self._accepted) >= self._most:
            raise TooManyConnections(errno.EMFILE, "As many connections as are allowed are open")
        connection, address = super().accept()
        self._accepted.add(connection)
        return connection, address


class TooManyConnections(OSError):
    """No connection is accepted until another one ends."""


def listen(host: str, port: int, most: int) -> Listener:
    """Listen for `most` connections at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = Listener(socket.create_server((host, port), family=family, backlog=BACKLOG), most)
    except (OSError, TypeError) as error:
        raise OperatorError(f"--host {host} --port {port} cannot be listened on: {_reason(error)}.") from None
    # Connections inherit this. Otherwise the second packet of a response waits 40 ms for the client's acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _reason(error: OSError | TypeError) -> str:
    if isinstance(error, TypeError):  # what a name that is too long for a host raises
        return "Name or service not known"
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return str(error.strerror).partition(" (while ")[0]  # the socket's own error repeats the address


def protocol(patience: float) -> type[H11Protocol]:
    """uvicorn's protocol, with a time-out for what clients send and read."""

    class Connection(_Connection):
        _patience = patience

    return Connection


class _Connection(H11Protocol):
    """A connection whose requests have to be complete in time, and whose responses have to be read."""

    _patience: float

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._incomplete: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_request()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._incomplete = _cancelled(self._incomplete)
        self._unread = _cancelled(self._unread)

    def pause_writing(self) -> None:
        """The response waits for the client to read."""
        super().pause_writing()
        self._expect_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unread = _cancelled(self._unread)

    def _expect_request(self) -> None:
        """Start to wait when a request begins, and stop when it is complete."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._incomplete = _cancelled(self._incomplete)
        elif self._incomplete is None:
            self._incomplete = self.loop.call_later(self._patience, self.transport.close)

    def _expect_reading(self) -> None:
        unread = self.transport.get_write_buffer_size()
        self._unread = self.loop.call_later(self._patience, self._check_reading, unread)

    def _check_reading(self, unread: int) -> None:
        if self.transport.get_write_buffer_size() < unread:
            self._expect_reading()
        else:
            self.transport.abort()


def _cancelled(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
