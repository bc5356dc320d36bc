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
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial

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
    client = Client(spec, calls, sender)
    receiving = asyncio.create_task(_receive(receiver, sender, client))
    sender.on_broken = receiving.cancel
    # They stay until the loop closes: a second signal must not end the server before its calls have ended.
    for number in SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, receiving.cancel)
    with suppress(asyncio.CancelledError):
        await receiving
    calls.close()
    await client.end()
    sender.flush(LAST_WORDS)
    return sender.problem or receiver.problem


class Client:
    """The client on the other side: answers its requests, and runs its calls."""

    def __init__(self, spec: ServerSpec, calls: Calls, sender: Sender) -> None:
        self._spec = spec
        self._calls = calls
        self._sender = sender
        self._era: Era | None = None
        self._running: dict[asyncio.Task[None], Id] = {}
        self._unwanted: set[asyncio.Task[None]] = set()

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
            task = asyncio.create_task(self._carry_out(request.id, answer, era))
            # Noted before the task starts: the client may cancel in its next line.
            self._running[task] = request.id
            task.add_done_callback(self._forget)
        else:
            self._sender.send(result(request.id, answer))

    async def _carry_out(self, id: Id, call: ToolCall, era: Era) -> None:
        progress = Progress(None if call.progress_token is None else partial(self._report, call.progress_token))
        try:
            answer = await self._calls.call(call.name, call.arguments, progress)
            self._settle(result(id, era.complete(answer)))
        except ProtocolError as wrong:
            self._settle(_refusal(id, wrong))
        except asyncio.CancelledError:
            self._settle(error(id, Code.CLOSED, "The server ends."))
            raise

    def _settle(self, line: bytearray) -> None:
        """Send the answer of a call, unless the client has cancelled it: it may have ended all the same."""
        if asyncio.current_task() in self._running:
            self._sender.send(line)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        self._unwanted.discard(task)

    async def _report(self, token: Id | float, progress: float, total: float | None, message: str | None) -> None:
        params = {"progressToken": token, "progress": progress, "message": message}
        self._sender.send(write(Notification("notifications/progress", params)))

    def _cancel(self, params: Params) -> None:
        id = (params or {}).get("requestId")
        task = next((task for task, its in reversed(self._running.items()) if is_id(id) and its == id), None)
        # Once: a call that is cancelled again while it ends gemini gives it no time.
        if task is not None:
            del self._running[task]
            self._unwanted.add(task)
            task.cancel()

    async def end(self) -> None:
        """End the calls, and answer them."""
        for task in self._running:
            task.cancel()
        if tasks := {*self._running, *self._unwanted}:
            await asyncio.wait(tasks)


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
