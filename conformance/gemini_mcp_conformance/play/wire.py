"""Wire: starts a port as a process, writes bytes to it and reads lines from it. Effect.

Lines are passed on unread; the session interprets them. Another transport is another class with the same methods.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.play.stderr import Stderr

CHUNK = 1 << 18
OnLine = Callable[[bytes, bool], None]
"""Takes a line without its newline, and whether there was a newline."""


class Unreachable(Exception):
    """The port could not be started, or did not answer the handshake; the message says which."""


class Wire(Protocol):
    """What a session needs from a transport."""

    transport: str

    @property
    def pid(self) -> int | None: ...
    @property
    def ended(self) -> bool: ...
    @property
    def code(self) -> int | None: ...
    def is_over(self, id: Json) -> bool: ...
    async def open(self, on_line: OnLine, on_end: Callable[[], None]) -> None: ...
    async def write(self, data: bytes, seconds: float) -> bool: ...
    async def end(self, how: str) -> None: ...
    def listen(self, on: bool) -> None: ...
    def leave(self) -> None: ...
    def stderr(self) -> bytes: ...
    def kill(self) -> None: ...
    async def closed(self) -> None: ...


class StdioWire:
    """A port in a process group of its own."""

    transport = "stdio"

    def __init__(self, command: tuple[str, ...], env: Mapping[str, str], cwd: str) -> None:
        self._command, self._env, self._cwd = command, env, cwd
        self._stderr = Stderr()
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._over = False

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def ended(self) -> bool:
        """Whether the port has exited or has closed its stdout."""
        return self._over

    @property
    def code(self) -> int | None:
        return None if self._process is None else self._process.returncode

    def is_over(self, id: Json) -> bool:
        """Whether no answer to the request of that id can come any more."""
        return self.ended

    def another(self) -> StdioWire:
        """Another process of the same command, which is not started yet."""
        return StdioWire(self._command, self._env, self._cwd)

    async def open(self, on_line: OnLine, on_end: Callable[[], None]) -> None:
        stderr = self._stderr.open()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                env=dict(self._env),
                cwd=self._cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise Unreachable(f"{self._command[0]!r} could not be started: {reason}.") from None
        finally:
            os.close(stderr)
        self._reader = asyncio.create_task(self._read(on_line, on_end))

    async def write(self, data: bytes, seconds: float) -> bool:
        """Whether the port has read the bytes in time."""
        assert self._process is not None
        assert self._process.stdin is not None
        if self._process.stdin.is_closing():
            return False
        try:
            self._process.stdin.write(data)
            async with asyncio.timeout(seconds):
                await self._process.stdin.drain()
        except (OSError, RuntimeError, TimeoutError):
            return False
        return True

    async def end(self, how: str) -> None:
        """Close stdin, or send the signal of that name to the port alone."""
        assert self._process is not None
        assert self._process.stdin is not None
        if how == "stdin":
            self._process.stdin.close()
        else:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(getattr(signal, f"SIG{how}"))

    def listen(self, on: bool) -> None:
        """Stop reading, so that the port's pipe fills up, or go on."""
        if on:
            self._stdout.resume_reading()
        else:
            self._stdout.pause_reading()

    def leave(self) -> None:
        """Close the end of the pipe at which the port's stdout is read."""
        self._stdout.close()

    @property
    def _stdout(self) -> asyncio.ReadTransport:
        return cast(Any, self._process)._transport.get_pipe_transport(1)

    def stderr(self) -> bytes:
        """The last bytes that the port has written to stderr."""
        return self._stderr.tail()

    def kill(self) -> None:
        """End the port and its process group at once, and read what is left of its output."""
        if self._process is not None:
            self.listen(True)
            kill_group(self._process.pid)
        self._stderr.close()

    async def closed(self) -> None:
        """Wait after `kill` until the process is gone and its pipes are closed."""
        if self._process is None or self._reader is None or self._process.stdin is None:
            return
        try:
            self._process.stdin.close()
            _, late = await asyncio.wait((self._reader,), timeout=2)
            for reader in late:
                reader.cancel()
            with contextlib.suppress(TimeoutError):
                # To close the transport would take the exit code away from asyncio's watcher, which complains of that.
                await asyncio.wait_for(self._process.wait(), 2)
        finally:
            # A pipe that was not read to its end stays open, and asyncio complains of it when its loop is gone.
            cast(Any, self._process)._transport.close()

    async def _read(self, on_line: OnLine, on_end: Callable[[], None]) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        rest = bytearray()
        while chunk := await self._process.stdout.read(CHUNK):
            *lines, tail = chunk.split(b"\n")
            for line in lines:
                on_line(bytes(rest + line), True)
                rest.clear()
            rest += tail
        if rest:
            on_line(bytes(rest), False)
        with contextlib.suppress(TimeoutError):
            # A port usually exits just after its stdout has closed; then the exit code can be told.
            await asyncio.wait_for(self._process.wait(), 1)
        self._over = True
        on_end()


def kill_group(leader: int) -> None:
    """End every process of a group that the suite has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
