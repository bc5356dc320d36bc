"""Serves the client on stdin and stdout until it leaves or a signal comes. Effect.

It does not use the SDK, which takes twice as long to import as all the rest together, leaves malformed lines
unanswered, fails to write a lone surrogate, and does not end on a signal while stdin is open. `messages.py` reads lines
and `eras.py` decides what they ask for; this module carries it out and ends the server.
"""

import asyncio
import fcntl
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial

import anyio
from anyio.abc import TaskGroup

from gemini_mcp.call import descendants, temporary
from gemini_mcp.call.calls import Calls
from gemini_mcp.call.progress import Progress
from gemini_mcp.errors import Code, OperatorError, ProtocolError
from gemini_mcp.operator.options import Options
from gemini_mcp.spec import ServerSpec
from gemini_mcp.transport.descriptors import Receiver, Sender
from gemini_mcp.transport.eras import CANCELLED, Era, ToolCall, opened
from gemini_mcp.transport.messages import (
    Id,
    Lines,
    Malformed,
    Notification,
    Params,
    Request,
    error,
    is_id,
    read,
    result,
    write,
)

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
"""The signals that end the server."""

FIRST_FREE = 3
"""The first descriptor that is not stdin, stdout or stderr."""

TOGETHER = 64
"""Lines that are taken in one turn of the event loop."""

PAUSE = 0.05
"""Seconds between two looks whether the client has read its answers."""

LAST_WORDS = 0.5
"""Seconds to send the last answers."""

LAST_SWEEP = 2.0
"""Seconds that a server which ends at once goes on sweeping."""


def serve(spec: ServerSpec, options: Options) -> None:
    """Serve the client on stdin and stdout until it leaves or a signal ends the server."""
    sweeping = threading.Thread(target=sweep, args=(spec,), daemon=True)
    sweeping.start()
    problem = asyncio.run(_serve(spec, options))
    sweeping.join(LAST_SWEEP)
    if problem:
        raise OperatorError(problem)


def sweep(spec: ServerSpec) -> None:
    """Remove what killed servers of this user left behind."""
    temporary.sweep(spec.invocation.temporary)
    descendants.sweep()


async def _serve(spec: ServerSpec, options: Options) -> str | None:
    """Serve to the end; say which stream failed, if one did."""
    calls = Calls(spec, options, os.environ)
    sender = Sender(_take(1, _stderr()))
    receiver = Receiver(_take(0, os.open(os.devnull, os.O_RDONLY)))
    # The receiver outlives the tasks: a second signal must not end the server before its calls have ended.
    with anyio.open_signal_receiver(*SIGNALS) as signals:
        async with anyio.create_task_group() as tasks:

            def end() -> None:
                calls.close()
                tasks.cancel_scope.cancel()

            sender.on_broken = end
            tasks.start_soon(_end_on_signal, signals, end)
            await _receive(receiver, sender, Client(spec, calls, sender, tasks))
            end()
        sender.flush(LAST_WORDS)
    return sender.problem or receiver.problem


class Client:
    """The client on the other side: answers its requests, and runs its calls in `tasks`."""

    def __init__(self, spec: ServerSpec, calls: Calls, sender: Sender, tasks: TaskGroup) -> None:
        self._spec = spec
        self._calls = calls
        self._sender = sender
        self._tasks = tasks
        self._era: Era | None = None
        self._running: dict[Id, anyio.CancelScope] = {}

    def take(self, line: bytes) -> None:
        """Do what a line asks for."""
        match read(line):
            case Malformed(answer):
                self._sender.send(answer)
            case Request() as request:
                self._answer(request)
            case Notification(method, params) if method == CANCELLED:
                self._cancel(params)
            case _:
                pass

    def _answer(self, request: Request) -> None:
        self._era = era = self._era or opened(request, self._spec)
        try:
            answer = era.answer(request)
        except ProtocolError as wrong:
            self._sender.send(_refusal(request.id, wrong))
            return
        if isinstance(answer, ToolCall):
            # Noted before the task starts: the client may cancel in its next line.
            scope = self._running[request.id] = anyio.CancelScope()
            self._tasks.start_soon(self._carry_out, request.id, answer, era, scope)
        else:
            self._sender.send(result(request.id, answer))

    async def _carry_out(self, id: Id, call: ToolCall, era: Era, scope: anyio.CancelScope) -> None:
        progress = Progress(None if call.progress_token is None else partial(self._report, call.progress_token))
        try:
            with scope:
                answer = await self._calls.call(call.name, call.arguments, progress)
                self._settle(scope, result(id, era.complete(answer)))
        except ProtocolError as wrong:
            self._settle(scope, _refusal(id, wrong))
        except anyio.get_cancelled_exc_class():
            self._settle(scope, error(id, Code.CLOSED, "The server ends."))
            raise
        finally:
            if self._running.get(id) is scope:
                del self._running[id]

    def _settle(self, scope: anyio.CancelScope, line: bytearray) -> None:
        """Send the answer of a call, unless the client has cancelled it: it may have ended all the same."""
        if not scope.cancel_called:
            self._sender.send(line)

    async def _report(self, token: Id | float, progress: float, total: float | None, message: str | None) -> None:
        params = {"progressToken": token, "progress": progress, "message": message}
        self._sender.send(write(Notification("notifications/progress", params)))

    def _cancel(self, params: Params) -> None:
        id = (params or {}).get("requestId")
        if is_id(id) and id in self._running:
            self._running[id].cancel()


async def _receive(receiver: Receiver, sender: Sender, client: Client) -> None:
    lines = Lines()
    chunk = b"."
    while chunk:
        chunk = await receiver.chunk()
        for some in _batched(lines.feed(chunk) if chunk else lines.end()):
            for line in some:
                client.take(line)
            await asyncio.sleep(0)  # what the lines have started begins before the client can end it
            while sender.is_full:
                if receiver.is_left:
                    return
                await asyncio.sleep(PAUSE)


def _batched(lines: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """The lines, a few at a time: with calls at work the loop needs long for a turn, so a line each takes too long."""
    return (lines[start : start + TOGETHER] for start in range(0, len(lines), TOGETHER))


async def _end_on_signal(signals: AsyncIterator[signal.Signals], end: Callable[[], None]) -> None:
    async for _ in signals:
        end()


def _refusal(id: Id, wrong: ProtocolError) -> bytearray:
    return error(id, wrong.code, str(wrong), wrong.data)


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
