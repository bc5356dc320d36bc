"""Serves the client on stdin and stdout until it leaves or a signal comes. Effect.

It replaces the SDK's own transport, which leaves malformed lines unanswered, fails to write a lone surrogate, and does
not end on a signal while stdin is open. This module passes messages on and ends the server; `messages.py` reads them.
"""

import asyncio
import fcntl
import os
import signal
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCRequest, JSONRPCResponse

from gemini_mcp.call import descendants, temporary
from gemini_mcp.call.calls import Calls
from gemini_mcp.operator.options import Options
from gemini_mcp.spec import ServerSpec
from gemini_mcp.transport.descriptors import Receiver, Sender
from gemini_mcp.transport.messages import Lines, Malformed, read, write
from gemini_mcp.transport.request_ids import with_original_id, with_sdk_id
from gemini_mcp.transport.server import build

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]
ToServer = MemoryObjectSendStream[SessionMessage | Exception]

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
"""The signals that end the server."""

FIRST_FREE = 3
"""The first descriptor that is not stdin, stdout or stderr."""

LAST_WORDS = 0.5
"""Seconds that the last answers may take after the client has closed stdin, and seconds to send them after that."""


def serve(spec: ServerSpec, options: Options) -> None:
    """Serve the client on stdin and stdout until it leaves or a signal ends the server."""
    threading.Thread(target=sweep, args=(spec,), daemon=True).start()
    asyncio.run(_serve(spec, options))


def sweep(spec: ServerSpec) -> None:
    """Remove what killed servers of this user left behind."""
    temporary.sweep(spec.invocation.temporary)
    descendants.sweep()


async def _serve(spec: ServerSpec, options: Options) -> None:
    calls = Calls(spec, options, os.environ)
    server = build(spec, calls)
    async with _streams(calls.close) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


@asynccontextmanager
async def _streams(closing: Callable[[], None]) -> AsyncGenerator[tuple[Incoming, Outgoing]]:
    """The two streams for the SDK. `closing` is called as soon as the server is to end, for whatever reason."""
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](64)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    sender = Sender(_take(1, _stderr()))
    # The receiver outlives the tasks: a second signal must not end the server before its calls have ended.
    with anyio.open_signal_receiver(*SIGNALS) as signals:
        async with anyio.create_task_group() as tasks:

            def end() -> None:
                closing()
                tasks.cancel_scope.cancel()

            receiver = Receiver(_take(0, os.open(os.devnull, os.O_RDONLY)))
            sender.on_broken = end
            unanswered = Unanswered()
            tasks.start_soon(_end_on_signal, signals, end)
            tasks.start_soon(_receive, receiver, to_server, sender, unanswered, closing)
            tasks.start_soon(_send, from_server, sender, unanswered)
            yield incoming, outgoing
            tasks.cancel_scope.cancel()
        sender.flush(LAST_WORDS)


class Unanswered:
    """The requests that have no answer yet, without calls of tools: these may take long, and nobody waits for them."""

    def __init__(self) -> None:
        self.none = asyncio.Event()
        self._ids: set[str | int] = set()
        self.none.set()

    def note(self, message: JSONRPCMessage) -> None:
        """Note a message of either side."""
        if isinstance(message, JSONRPCRequest) and message.method != "tools/call":
            self._ids.add(message.id)
        elif isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._ids.discard(message.id)
        if self._ids:
            self.none.clear()
        else:
            self.none.set()


async def _end_on_signal(signals: AsyncIterator[signal.Signals], end: Callable[[], None]) -> None:
    async for _ in signals:
        end()


async def _receive(
    receiver: Receiver, to_server: ToServer, sender: Sender, unanswered: Unanswered, closing: Callable[[], None]
) -> None:
    lines = Lines()
    with suppress(anyio.BrokenResourceError):  # the SDK has stopped reading
        async with to_server:
            while chunk := await receiver.chunk():
                for line in lines.feed(chunk):
                    await _deliver(line, to_server, sender, unanswered)
            for line in lines.end():
                await _deliver(line, to_server, sender, unanswered)
            with anyio.move_on_after(LAST_WORDS):
                await unanswered.none.wait()
            closing()


async def _deliver(line: bytes, to_server: ToServer, sender: Sender, unanswered: Unanswered) -> None:
    message = read(line)
    if isinstance(message, Malformed):
        sender.send(message.answer)
        return
    unanswered.note(message)
    await to_server.send(SessionMessage(with_sdk_id(message)))


async def _send(from_server: MemoryObjectReceiveStream[SessionMessage], sender: Sender, unanswered: Unanswered) -> None:
    async with from_server:
        async for item in from_server:
            message = with_original_id(item.message)
            sender.send(write(message))
            unanswered.note(message)


def _take(descriptor: int, elsewhere: int) -> int:
    """Duplicate a descriptor for us alone, and redirect the original: a stray `print` must not reach the client."""
    private = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE)
    os.dup2(elsewhere, descriptor)
    os.close(elsewhere)
    return private


def _stderr() -> int:
    try:
        return os.dup(2)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)
