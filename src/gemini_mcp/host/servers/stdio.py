"""A server as a process in a group of its own: lines of JSON on its pipes, ended with its group. Effect.

Only what concerns the process and its pipes belongs here.
"""

import errno
import json
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.abc
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage

from gemini_mcp.host.rules import spawn
from gemini_mcp.host.rules.javascript import template
from gemini_mcp.host.servers import failure
from gemini_mcp.host.servers.channel import Channel, Incoming, Streams, channel
from gemini_mcp.host.servers.failure import Failure
from gemini_mcp.host.servers.traffic import SHOWN, Traffic
from gemini_mcp.host.servers.transport import Stdio
from gemini_mcp.spec.values import items

GRACE_SECONDS = 0.5
"""How long each step of its end may take. MCP has the input closed first; Gemini CLI 0.61.0 sends SIGTERM at once."""

SHELL = "/bin/sh"

LONGEST_LINE = 64 * 1024 * 1024
"""A server that never ends its line is left at this length, before it fills the memory."""

_CLOSED = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


class Flooded(Exception):
    """The server wrote more to stderr than the host has room for, and hangs there: how many bytes that is."""

    def __init__(self, limit: int) -> None:
        super().__init__("MCP error -32001: Request timed out")
        self.limit = limit


class NotStarted(Exception):
    """The process could not be started: the message is the one Node gives, `why` is the cause."""

    def __init__(self, message: str, why: Failure) -> None:
        super().__init__(message)
        self.why = why


@asynccontextmanager
async def streams(
    server: Stdio,
    environment: Mapping[str, str],
    on_stderr: Callable[[str], None],
    on_exit: Callable[[int], None],
    on_stray: Callable[[str], None],
    stderr_limit: int | None = None,
) -> AsyncGenerator[Streams]:
    """The two streams of a running server; leaving the context ends it and everything it started.

    `on_stderr` also hears of the first line on stdout that is no message. `on_exit` is told the code of a server that
    ended by itself, and `on_stray` each line that is no message or that nobody waits for, before what came with it.
    Raises Flooded when the server writes more to stderr than the limit.
    """
    async with channel() as own:
        process = await _start(server, environment)
        try:
            async with anyio.create_task_group() as tasks:
                known, silent = Traffic(), anyio.Event()
                over = partial(_note_end, process, silent, on_exit)
                tasks.start_soon(_read, process, own.incoming, known, on_stderr, on_stray, over)
                tasks.start_soon(_write, process, own, known)
                tasks.start_soon(_read_stderr, process, on_stderr, silent, stderr_limit)
                try:
                    yield own.session
                finally:
                    tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process, on_exit)


async def _start(server: Stdio, environment: Mapping[str, str]) -> anyio.abc.Process:
    said = spawn.refused(server.command, server.args, server.cwd, environment)
    if said is not None:
        raise NotStarted(said, failure.not_started(template(server.command), said))
    words = [server.command, *map(template, items(server.args))]
    try:
        return await _opened(words, server, environment)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOEXEC:
            # What has no `#!` is run by the shell, as the C library does it for Node.
            return await _opened([SHELL, *words], server, environment)
        number = error.errno if isinstance(error, OSError) else None
        raise NotStarted(spawn.failed(server.command, number), _cause(server, error)) from error


async def _opened(words: Sequence[str], server: Stdio, environment: Mapping[str, str]) -> anyio.abc.Process:
    process: anyio.abc.Process | None = None
    # Cancelled half-way, the event loop would end the process and leave its group.
    with anyio.CancelScope(shield=True):
        process = await anyio.open_process(words, env=environment, cwd=server.cwd or None, start_new_session=True)
    assert process is not None
    return process


def _cause(server: Stdio, error: OSError | ValueError) -> Failure:
    if server.cwd and not Path(server.cwd).is_dir():
        return failure.no_folder(server.cwd)
    if isinstance(error, FileNotFoundError):
        return failure.not_found(server.command)
    return failure.not_started(server.command, str(error))


async def _read(
    process: anyio.abc.Process,
    out: Incoming,
    known: Traffic,
    on_stderr: Callable[[str], None],
    on_stray: Callable[[str], None],
    over: Callable[[], Awaitable[None]],
) -> None:
    assert process.stdout
    buffer, has_strayed = bytearray(), False
    async with out:
        with suppress(*_CLOSED):
            while len(buffer) < LONGEST_LINE:
                *ends, rest = (await process.stdout.receive()).split(b"\n")
                came: list[JSONRPCMessage | Exception] = []
                for end in ends:
                    text = (bytes(buffer) + end).decode("utf-8", "replace").strip()
                    buffer.clear()
                    came.append(known.received(text, on_stray))
                    if isinstance(came[-1], Exception) and not has_strayed:
                        has_strayed = True
                        on_stderr(f"{text[:SHOWN]!r} on stdout, which is no message of MCP")
                buffer += rest
                for one in came:
                    await out.send(one if isinstance(one, Exception) else SessionMessage(one))
        # Who waits for an answer hears that none will come when it is known why.
        await over()


async def _write(process: anyio.abc.Process, own: Channel, known: Traffic) -> None:
    assert process.stdin
    try:
        async with own.outgoing:
            async for message in own.outgoing:
                sent = message.message.model_dump(by_alias=True, exclude_unset=True, mode="python")
                known.sent(sent)
                # In ASCII, because UTF-8 has no bytes for a lone surrogate, which arguments may hold.
                line = json.dumps(sent)
                await process.stdin.send(line.encode("ascii") + b"\n")
    except _CLOSED:
        await own.incoming.aclose()


async def _note_end(process: anyio.abc.Process, silent: anyio.Event, on_exit: Callable[[int], None]) -> None:
    """After the end of stdout: the exit code, if the process ends soon, and the last of its stderr."""
    with anyio.move_on_after(GRACE_SECONDS):
        on_exit(await _returncode(process))
        await silent.wait()


async def _returncode(process: anyio.abc.Process) -> int:
    # `process.wait` would also wait for a child that holds the pipes.
    while process.returncode is None:  # noqa: ASYNC110
        await anyio.sleep(0.01)
    return process.returncode


async def _read_stderr(
    process: anyio.abc.Process, on_stderr: Callable[[str], None], silent: anyio.Event, limit: int | None
) -> None:
    assert process.stderr
    rest, count = b"", 0
    with suppress(*_CLOSED):
        while True:
            came = await process.stderr.receive()
            count += len(came)
            if limit is not None and count > limit:
                raise Flooded(limit)
            *lines, rest = (rest + came).split(b"\n")
            for line in lines:
                on_stderr(line.decode("utf-8", "replace").rstrip())
    if rest:
        on_stderr(rest.decode("utf-8", "replace").rstrip())
    silent.set()


async def _end(process: anyio.abc.Process, on_exit: Callable[[int], None]) -> None:
    """Close its input, wait, ask it to end, then kill what is left of its group."""
    await _close(process.stdin)
    for sent in (None, signal.SIGTERM, signal.SIGKILL):
        if sent is not None:
            _signal_group(process.pid, sent)
        with anyio.move_on_after(GRACE_SECONDS):
            code = await _returncode(process)
            if sent is None:
                on_exit(code)
            break
    _signal_group(process.pid, signal.SIGKILL)
    await _close(process.stdout)
    await _close(process.stderr)
    # anyio leaves a pipe open that was not read to its end, and asyncio complains of it when its loop is gone.
    cast(Any, process)._process._transport.close()


async def _close(stream: anyio.abc.AsyncResource | None) -> None:
    if stream is not None:
        with suppress(*_CLOSED):
            await stream.aclose()


def _signal_group(pid: int, sent: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, sent)
