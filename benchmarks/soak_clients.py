"""Clients of the soak, which make many calls at once on stdio or on HTTP. Effect.

They match answers to calls by id, and keep what no call has asked for. What an answer should be is not known here.
"""

import asyncio
import json
import os
import re
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Protocol

import httpx2

from gemini_mcp.spec.values import Json

PATIENCE = 60.0
"""Seconds that any answer may take. A call without one after that is lost."""

REVISION, STATELESS = "2025-11-25", "2026-07-28"
WHO: Json = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
TYPES = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
CHUNK = 1 << 16


class Gone(Exception):
    """The server has ended, so there will be no answer."""


class Client(Protocol):
    """One server, and calls of its tools."""

    process: asyncio.subprocess.Process
    unasked: list[Json]

    async def call(self, name: str, arguments: Mapping[str, Json]) -> Json: ...

    async def give_up(self, name: str, arguments: Mapping[str, Json], after: float) -> Json: ...

    async def pause(self, seconds: float) -> None: ...

    async def close(self) -> None: ...


class Stdio:
    """A server on stdio."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.unasked: list[Json] = []
        self._ids = count(1)
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._may_read = asyncio.Event()
        self._may_read.set()
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, command: Sequence[str], environ: Mapping[str, str]) -> "Stdio":
        pipe = asyncio.subprocess.PIPE
        quiet = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(
            *command, env=environ, stdin=pipe, stdout=pipe, stderr=quiet, start_new_session=True
        )
        client = cls(process)
        await client._request("initialize", WHO)
        client._send({"method": "notifications/initialized"})
        return client

    async def call(self, name: str, arguments: Mapping[str, Json]) -> Json:
        """The result of a call."""
        return _result_of(await self._request("tools/call", {"name": name, "arguments": arguments}))

    async def give_up(self, name: str, arguments: Mapping[str, Json], after: float) -> Json:
        """Cancel a call; gives an answer only if it came before that."""
        id, answer = self._ask("tools/call", {"name": name, "arguments": arguments})
        await asyncio.sleep(after)
        if answer.done():
            return _result_of(answer.result())
        self._send({"method": "notifications/cancelled", "params": {"requestId": id}})
        return None  # an answer that is on its way may still come

    async def pause(self, seconds: float) -> None:
        """Read nothing for a while."""
        self._may_read.clear()
        await asyncio.sleep(seconds)
        self._may_read.set()

    async def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        await asyncio.wait_for(self.process.wait(), PATIENCE)
        await self._reading

    async def _request(self, method: str, params: Json) -> Json:
        return await asyncio.wait_for(self._ask(method, params)[1], PATIENCE)

    def _ask(self, method: str, params: Json) -> tuple[int, asyncio.Future[Json]]:
        if self._reading.done():
            raise Gone
        id = next(self._ids)
        self._waiting[id] = asyncio.get_running_loop().create_future()
        self._send({"id": id, "method": method, "params": params})
        return id, self._waiting[id]

    def _send(self, message: Mapping[str, Json]) -> None:
        assert self.process.stdin is not None
        with suppress(ConnectionError):
            self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def _read(self) -> None:
        assert self.process.stdout is not None
        rest = b""
        while data := await self.process.stdout.read(CHUNK):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._take(json.loads(line))
            await self._may_read.wait()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(Gone())
                answer.exception()  # it is told to whoever waits, and to nobody else

    def _take(self, message: Json) -> None:
        answer = self._waiting.pop(message.get("id"), None)
        if answer is None:
            self.unasked.append(message)
        else:
            answer.set_result(message)


class Http:
    """A server on HTTP. Calls with an odd number are of the stateless revision, the others share a session."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.process = process
        self.unasked: list[Json] = []
        self._ids = count(1)
        self._session: dict[str, str] = {}
        self._log: asyncio.Task[bytes] | None = None
        self._url = f"http://127.0.0.1:{port}/mcp"
        self._http = httpx2.AsyncClient(timeout=PATIENCE, limits=httpx2.Limits(max_connections=100))

    @classmethod
    async def start(cls, command: Sequence[str], environ: Mapping[str, str]) -> "Http":
        on_http = (*command, "--transport", "http", "--port", "0")
        pipe, quiet = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(
            *on_http, env=environ, stdin=quiet, stdout=quiet, stderr=pipe, start_new_session=True
        )
        assert process.stderr is not None
        match = re.search(rb":(\d+)/", await process.stderr.readline())
        assert match, "The server does not listen."
        client = cls(process, int(match[1]))
        greeting = await client._http.post(client._url, json=_message(1, "initialize", WHO), headers=TYPES)
        session = {"Mcp-Session-Id": greeting.headers["mcp-session-id"], "Mcp-Protocol-Version": REVISION}
        client._session = session
        client._log = asyncio.create_task(process.stderr.read())  # or the pipe would fill
        notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await client._http.post(client._url, json=notice, headers={**TYPES, **session})
        return client

    async def call(self, name: str, arguments: Mapping[str, Json]) -> Json:
        """The result of a call."""
        id = next(self._ids)
        body, headers = self._request(id, name, arguments)
        try:
            response = await self._http.post(self._url, json=body, headers=headers)
        except httpx2.TransportError:
            raise Gone from None
        messages = _messages_in(response.text)
        self.unasked += [message for message in messages if message.get("id") != id]
        answers = [message for message in messages if message.get("id") == id]
        if not answers:
            raise Gone
        return _result_of(answers[0])

    async def give_up(self, name: str, arguments: Mapping[str, Json], after: float) -> Json:
        """Leave a call: close its connection, and in a session cancel it too."""
        id = next(self._ids)
        body, headers = self._request(id, name, arguments)
        with suppress(httpx2.TransportError):
            try:
                response = await self._http.post(self._url, json=body, headers=headers, timeout=after)
            except httpx2.TimeoutException:
                if id % 2 == 0:
                    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}
                    await self._http.post(self._url, json=cancel, headers={**TYPES, **self._session})
            else:
                return _result_of(_messages_in(response.text)[-1])
        return None

    async def pause(self, seconds: float) -> None:
        """Read nothing of a long answer for a while, on a connection of its own."""
        arguments = {"prompt": "big 0"}
        body, headers = self._request(next(self._ids), "chat", arguments)
        with suppress(httpx2.TransportError):
            async with self._http.stream("POST", self._url, json=body, headers=headers):
                await asyncio.sleep(seconds)

    async def close(self) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(self.process.wait(), PATIENCE)
        await self._http.aclose()

    def _request(self, id: int, name: str, arguments: Mapping[str, Json]) -> tuple[Json, dict[str, str]]:
        params: dict[str, Json] = {"name": name, "arguments": arguments}
        if id % 2 == 0:
            return _message(id, "tools/call", params), {**TYPES, **self._session}
        named = {"Mcp-Protocol-Version": STATELESS, "Mcp-Method": "tools/call", "Mcp-Name": name}
        return _message(id, "tools/call", {**params, "_meta": META}), {**TYPES, **named}


def _result_of(message: Json) -> Json:
    """The result in a response. An error is what a server gives that is ending."""
    if "result" not in message:
        raise Gone
    return message["result"]


def _message(id: int, method: str, params: Json) -> Json:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def _messages_in(text: str) -> list[Json]:
    """The messages of a response, plain or in an event stream; without the server's own notifications."""
    lines = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")] or [text]
    messages = [json.loads(line) for line in lines if line.strip()[:1] == "{"]
    return [message for message in messages if "method" not in message]


def kill(client: Client, number: signal.Signals) -> None:
    """Send the server a signal."""
    with suppress(ProcessLookupError):
        os.kill(client.process.pid, number)
